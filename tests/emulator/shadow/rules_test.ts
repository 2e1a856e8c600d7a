/**
 * Rules against their meaning: an instruction is run for many values of the undefined bits of its sources. A bit
 * of a result that comes out both ways must be undefined; of instructions that move bits or treat each bit alone, bits
 * that always come out the same must not be.
 */
import type { Register } from "../../../compiler/ptx/func.ts";
import { parsePtx } from "../../../compiler/ptx/parse.ts";
import { must } from "../../../compiler/support/bug.ts";
import { contextFor } from "../../../emulator/compile/context.ts";
import { livenessOf } from "../../../emulator/compile/dataflow.ts";
import { blocksOf } from "../../../emulator/compile/blocks.ts";
import { RegisterFileLayout } from "../../../emulator/compile/layout.ts";
import { linesOf } from "../../../emulator/compile/lines.ts";
import { HANDLER_TABLES } from "../../../emulator/compile/select.ts";
import { usesOf } from "../../../emulator/compile/uses.ts";
import { createEmulator } from "../../../emulator/launch.ts";
import { compileLanes, laneOperation } from "../../../emulator/lanes/mod.ts";
import type { HandlerContext, WarpFunction } from "../../../emulator/machine.ts";
import type { Views } from "../../../emulator/memory.ts";
import { lineShadow } from "../../../emulator/shadow/line.ts";
import {
  settleRow,
  type Shadow,
  SHADOW_BYTES,
  undefinedLanes,
} from "../../../emulator/shadow/shadow_row.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { kernelText } from "../../support/emulate.ts";
import { freshRandom, type Random } from "../../support/random.ts";

const LANES = 32;
/** Values of the undefined bits that are tried. */
const TRIES = 48;

/** Instructions whose result bits are those of sources, or functions of bits at the same position. */
const EXACT: readonly string[] = [
  "mov.b32 %r0, %r1;",
  "mov.b64 %d0, {%r1, %r2};",
  "mov.b64 {%r0, %r3}, %d1;",
  "mov.b32 %r0, {%h1, %h2};",
  "mov.b32 {%h0, %h3}, %r1;",
  "mov.pred %p0, %p1;",
  "cvt.u64.u32 %d0, %r1;",
  "cvt.s64.s32 %d0, %r1;",
  "cvt.u32.u64 %r0, %d1;",
  "cvt.u32.u16 %r0, %h1;",
  "cvt.s32.s8 %r0, %r1;",
  "cvt.u16.u32 %h0, %r1;",
  "and.b32 %r0, %r1, %r2;",
  "or.b32 %r0, %r1, %r2;",
  "and.b64 %d0, %d1, 255;",
  "not.b16 %h0, %h1;",
  "xor.b64 %d0, %d1, %d2;",
  "lop3.b32 %r0, %r1, %r2, %r3, 0xE8;",
  "lop3.b32 %r0, %r1, %r2, %r3, 0x1B;",
  "and.pred %p0, %p1, %p2;",
  "or.pred %p0, !%p1, %p2;",
  "xor.pred %p0, %p1, %p2;",
  "not.pred %p0, %p1;",
  "brev.b32 %r0, %r1;",
  "shl.b32 %r0, %r1, 5;",
  "shr.u32 %r0, %r1, 9;",
  "shr.s32 %r0, %r1, 9;",
  "shr.s64 %d0, %d1, 33;",
  "shf.l.wrap.b32 %r0, %r1, %r2, 7;",
  "bfe.u32 %r0, %r1, 4, 9;",
  "bfe.s32 %r0, %r1, 4, 9;",
  "bfi.b32 %r0, %r1, %r2, 6, 11;",
  "prmt.b32 %r0, %r1, %r2, 0x3715;",
  "prmt.b32 %r0, %r1, %r2, 0xB1C9;",
  "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;",
  "shfl.sync.idx.b32 %r0, %r1, 5, 31, -1;",
  "shfl.sync.bfly.b32 %r0|%p0, %r1, 4, 31, -1;",
  "vote.sync.ballot.b32 %r0, %p1, -1;",
];

/** Others: undefined bits must cover what may change, and may cover more. */
const COVERED: readonly string[] = [
  "selp.b32 %r0, %r1, %r2, %p1;",
  "selp.b64 %d0, %d1, %d2, !%p1;",
  "slct.b32.s32 %r0, %r1, %r2, %r3;",
  "add.u32 %r0, %r1, %r2;",
  "add.s64 %d0, %d1, %d2;",
  "sub.u16 %h0, %h1, %h2;",
  "mul.lo.u32 %r0, %r1, %r2;",
  "mul.hi.u32 %r0, %r1, %r2;",
  "mul.wide.s32 %d0, %r1, %r2;",
  "mul.lo.s64 %d0, %d1, %d2;",
  "mad.lo.s32 %r0, %r1, %r2, %r3;",
  "mad.wide.u32 %d0, %r1, %r2, %d1;",
  "add.sat.s32 %r0, %r1, %r2;",
  "min.s32 %r0, %r1, %r2;",
  "add.f32 %f0, %f1, %f2;",
  "fma.rn.f32 %f0, %f1, %f2, %f3;",
  "add.f16x2 %r0, %r1, %r2;",
  "fma.rn.f16x2 %r0, %r1, %r2, %r3;",
  "max.s16x2 %r0, %r1, %r2;",
  "add.cc.u32 %r0, %r1, %r2;",
  "cvt.sat.u8.s32 %r0, %r1;",
  "cvt.rn.f32.s32 %f0, %r1;",
  "cvt.rzi.s32.f32 %r0, %f1;",
  "cvt.rn.f16x2.f32 %r0, %f1, %f2;",
  "shl.b32 %r0, %r1, %r2;",
  "shr.s64 %d0, %d1, %r1;",
  "shf.r.clamp.b32 %r0, %r1, %r2, %r3;",
  "bfe.s64 %d0, %d1, %r1, %r2;",
  "bfi.b32 %r0, %r1, %r2, %r3, %r4;",
  "prmt.b32 %r0, %r1, %r2, %r3;",
  "popc.b32 %r0, %r1;",
  "clz.b64 %r0, %d1;",
  "dp4a.u32.u32 %r0, %r1, %r2, %r3;",
  "setp.eq.s32 %p0|%p3, %r1, %r2;",
  "setp.ne.b64 %p0, %d1, %d2;",
  "setp.lt.and.s32 %p0|%p3, %r1, %r2, %p1;",
  "setp.ge.or.u32 %p0|%p3, %r1, %r2, !%p1;",
  "setp.ne.xor.s32 %p0|%p3, %r1, %r2, %p1;",
  "setp.lt.f32 %p0, %f1, %f2;",
  "set.lt.u32.s32 %r0, %r1, %r2;",
  "shfl.sync.up.b32 %r0|%p0, %r1, %r2, 0, -1;",
  "shfl.sync.idx.b32 %r0|%p0, %r1, %r2, %r3, -1;",
  "vote.sync.any.pred %p0, %p1, -1;",
  "vote.sync.all.pred %p0, !%p1, -1;",
  "vote.sync.uni.pred %p0, %p1, -1;",
  "match.any.sync.b32 %r0, %r1, -1;",
  "redux.sync.add.s32 %r0, %r1, -1;",
  "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f4,%f5,%f6}, {%r1,%r2}, {%r3}, {%f1,%f2,%f3,%f7};",
  "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r0,%r8}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%r7,%r9};",
  "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%e0,%e3}, {%e1}, {%e2}, {%e4,%e5};",
  "@%p1 mov.b32 %r0, %r1;",
  "@!%p1 add.u32 %r0, %r1, %r2;",
];

const REGISTERS =
  ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<10>; .reg .b64 %d<8>; .reg .f32 %f<8>; .reg .f64 %e<8>;";

interface Trial {
  readonly views: Views;
  readonly w: number;
  readonly sources: readonly Shadow[];
  readonly results: readonly Shadow[];
  readonly rowOf: (register: Register) => number;
  readonly step: WarpFunction;
  readonly shadow: WarpFunction;
}

function stepOf(
  context: HandlerContext,
  line: ReturnType<typeof linesOf>["lines"][number],
): WarpFunction {
  const { match } = line;
  if (typeof match === "string") throw new Error(match);
  const handler = HANDLER_TABLES.find((table) => table[match.opcode] !== undefined)?.[match.opcode];
  if (handler !== undefined) return handler(match, context);
  return compileLanes(match, must(laneOperation(match), match.opcode), context);
}

/** A machine with a register file for one instruction, all of whose registers have shadows. */
function prepare(text: string): Trial {
  const module = parsePtx(kernelText(`${REGISTERS} ${text}`, { target: "sm_90", version: "8.6" }));
  const kernel = must(module.kernels[0], "kernel");
  const { lines, endLabels } = linesOf(kernel, module);
  const line = must(lines[0], "line");
  const { reads, writes } = usesOf(line);
  const registers = new Map([...reads, ...writes].map((each) => [each.name, each]));
  // Rows of their own, as if all of them lived throughout.
  const intervals = [...registers.values()].map((register) => ({ register, first: 0, last: 9 }));
  assert(livenessOf(blocksOf(kernel, lines, endLabels)).intervals.length === intervals.length);
  const layout = new RegisterFileLayout(intervals, registers, () => 0n);
  const { machine, heap } = createEmulator();
  const context = contextFor(machine, layout, new Map(), line.site, 90);
  machine.checks = true;
  const run = stepOf(context, line);
  const shadow = must(lineShadow(line, context), "shadow").run;
  const w = heap.allocate(2 * layout.bytes, 256, "register file", "system");
  const registerFile = machine.views.u8.subarray(w, w + layout.bytes);
  layout.writeConstants(registerFile);
  const shadowsOf = (list: readonly Register[]): Shadow[] =>
    [...new Set(list.map(({ name }) => name))].map((name) => must(layout.shadow(name), name));
  const { guard } = line.instruction;
  const step: WarpFunction = guard === undefined ? run : (at, mask) => {
    const { row, invert } = context.predicate(guard.register);
    const word = (machine.views.i32[(at + row) >>> 2] ?? 0) ^ (guard.negated ? -1 : invert);
    if ((word & mask) !== 0) run(at, word & mask);
  };
  return {
    views: machine.views,
    w,
    sources: shadowsOf(reads),
    results: shadowsOf(writes),
    rowOf: (register) => context.row(register, register.type),
    step,
    shadow,
  };
}

const wordsOf = ({ bits }: Shadow): number => bits === 1 ? 1 : LANES * Math.max(1, bits / 32);

/** Bits that a word of a register's row may have. */
const keepOf = ({ bits }: Shadow): number => bits === 1 || bits >= 32 ? -1 : (1 << bits) - 1;

/** Runs one trial; the words of results that are wrong. */
function attempt(trial: Trial, random: Random, isExact: boolean): string[] {
  const { views: { i32 }, views, w, sources, results, rowOf, step, shadow } = trial;
  const word = (): number => random.below(2 ** 32) | 0;
  const values = sources.map((source) =>
    Array.from({ length: wordsOf(source) }, () => word() & keepOf(source))
  );
  // Some registers are defined, some in part, some not at all; the same by lanes.
  const unknown = sources.map((source) => {
    const kind = random.below(4);
    return Array.from({ length: wordsOf(source) }, () => {
      const some = kind === 0
        ? 0
        : kind === 1
        ? word() & word() & word()
        : kind === 2
        ? word()
        : -1;
      return random.below(3) === 0 ? 0 : some & keepOf(source);
    });
  });
  for (const each of [...sources, ...results]) {
    i32.fill(0, (w + each.word) >>> 2, (w + each.word + SHADOW_BYTES) >>> 2);
    i32.fill(0, (w + each.row) >>> 2, ((w + each.row) >>> 2) + wordsOf(each));
  }
  const write = (fill: (known: number, open: number) => number): void => {
    for (const [i, source] of sources.entries()) {
      const at = (w + rowOf(source.register)) >>> 2;
      values[i]?.forEach((value, j) => i32[at + j] = fill(value, unknown[i]?.[j] ?? 0));
    }
    for (const result of results) {
      // What lanes keep that do not run the instruction.
      if (!sources.includes(result)) {
        i32.fill(
          0,
          (w + rowOf(result.register)) >>> 2,
          ((w + rowOf(result.register)) >>> 2) + wordsOf(result),
        );
      }
    }
  };
  for (const [i, source] of sources.entries()) {
    const at = (w + source.row) >>> 2;
    unknown[i]?.forEach((open, j) => i32[at + j] = open);
    settleRow(views, w, source, -1);
  }
  write((value) => value);
  shadow(w, -1);
  const marked = results.map((result) => {
    const lanes = undefinedLanes(views, w, result, -1);
    if (result.bits === 1) return [lanes];
    const words = Math.max(1, result.bits / 32);
    return Array.from(
      { length: wordsOf(result) },
      (_, j) => (lanes >>> Math.floor(j / words)) & 1 ? i32[((w + result.row) >>> 2) + j] ?? 0 : 0,
    );
  });
  const read = (): number[][] =>
    results.map((result) => {
      const at = (w + rowOf(result.register)) >>> 2;
      return Array.from({ length: wordsOf(result) }, (_, j) => i32[at + j] ?? 0);
    });
  step(w, -1);
  const first = read();
  const changed = first.map((row) => row.map(() => 0));
  for (let n = 0; n < TRIES; n++) {
    write((value, open) => (value & ~open) | (word() & open));
    step(w, -1);
    for (const [i, row] of read().entries()) {
      row.forEach((value, j) => {
        const list = must(changed[i], "row");
        list[j] = (list[j] ?? 0) | (value ^ (first[i]?.[j] ?? 0));
      });
    }
  }
  const problems: string[] = [];
  for (const [i, row] of changed.entries()) {
    row.forEach((bits, j) => {
      const have = marked[i]?.[j] ?? 0;
      const name = `%${results[i]?.register.name} word ${j}`;
      if ((bits & ~have) !== 0) problems.push(`${name}: ${(bits & ~have) >>> 0} may change`);
      if (isExact && (have & ~bits) !== 0) {
        problems.push(`${name}: ${(have & ~bits) >>> 0} never changes`);
      }
    });
  }
  return problems;
}

for (const [what, texts] of [["exact", EXACT], ["covering", COVERED]] as const) {
  Deno.test(`ruleOf() is ${what} for instructions that ${what === "exact" ? "move bits or treat each alone" : "compute"}`, () => {
    const random = freshRandom();
    for (const text of texts) {
      const trial = prepare(text);
      for (let n = 0; n < 4; n++) {
        assertEquals(attempt(trial, random, what === "exact"), [], `${text} (seed ${random.seed})`);
      }
    }
  });
}
