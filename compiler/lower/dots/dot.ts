/**
 * `acc + a @ b` on registers: layout/dot.ts has chosen layouts in which each thread holds what it multiplies, so
 * all that is left is one matrix instruction per fragment, or one multiply-add per element.
 */
import type { Operand } from "../../ptx/func.ts";
import type { Func, OpOf, Region, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { bytesOf, type Element, isPointer } from "../../ir/types.ts";
import { walkOps } from "../../ir/walk.ts";
import { dotLayouts, type Repeats } from "../../layout/dot.ts";
import type { MmaRow } from "../../layout/mma.ts";
import { bug } from "../../support/bug.ts";
import { type ScalarName, SCALARS } from "../../support/scalar.ts";
import type { Target } from "../../targets.ts";
import { constantOperand } from "../arithmetic.ts";
import type { LowerContext } from "../context.ts";
import { emitDeferred, lowered, memo, ofRegister, setElements } from "../values.ts";
import { registersBeside } from "./warp_group_dot.ts";
import { layoutOf, registerCount } from "../../layout/tiles.ts";
import { convertScalar } from "../convert/convert.ts";
import { bankOf, packAccess, type Ref, whole } from "../element.ts";
import type { Emitter } from "../emitter.ts";
import { zip } from "../../support/zip.ts";
import { times } from "../../support/times.ts";

/** How PTX spells the types of operands. */
const MMA_TYPES: Partial<Record<ScalarName, string>> = {
  float16: "f16",
  bfloat16: "bf16",
  float32: "tf32",
  float64: "f64",
  int8: "s8",
  uint8: "u8",
  float8e4: "e4m3",
  float8e5: "e5m2",
};

export function lowerDot(cx: LowerContext, op: OpOf<"dot">): void {
  const { mma, repeats } = dotLayouts(op, cx.numWarps, cx.emitter.target);
  const sums = initialSums(cx, op);
  if (mma === undefined) multiplyElements(cx, op, repeats, sums);
  else multiplyFragments(cx, op, mma, repeats, sums);
  setElements(cx, resultOf(op), sums);
}

/** The most that one load from shared memory loads. */
const LOAD_BYTES = 16;

/**
 * What a thread holds at once, 32-bit registers: all accumulators of a region's dots, operands from outside of it, and
 * of the others those of the steps along k that are loaded together.
 */
export function productRegisters(func: Func, numWarps: number, target: Target): number {
  const words = (value: Value): number => registerCount(value) * bytesOf(value.type.element) / 4;
  const ofRegion = ({ ops }: Region): number => {
    const dots = ops.filter((op) => op.name === "dot");
    const groups = ops.filter((op) =>
      op.name === "warp_group_dot" || op.name === "register_group_dot"
    );
    const here = new Set(ops);
    const sums = [...dots, ...groups].map((op) => operandsOf(op).sum).filter(({ def }) =>
      def?.name !== "dot" || !here.has(def)
    );
    const kept = new Set<Value>();
    const passing = dots.map((op) => {
      const { a, b } = operandsOf(op);
      const { repeats, mma } = dotLayouts(op, numWarps, target);
      const together = LOAD_BYTES / bytesOf(a.type.element) / (mma?.k ?? 1);
      const steps = 2 ** repeats.batch * Math.max(1, 2 ** repeats.k / Math.max(1, together));
      return [a, b].reduce((sum, value) => {
        // Iterations carry one step's part. Without asynchronous copies the next iteration's operand is in registers,
        // whole.
        const ahead = target.asyncCopies ? 0 : words(value);
        if (value.def === undefined || here.has(value.def)) {
          return sum + words(value) / steps + ahead;
        }
        kept.add(value);
        return sum;
      }, 0);
    });
    const beside = groups.map((op) => registersBeside(op));
    return [...sums, ...kept].reduce(
      (sum, value) => sum + words(value),
      Math.max(0, ...passing, ...beside),
    );
  };
  let most = ofRegion(func.body);
  walkOps(func.body, (op) => {
    for (const region of op.regions) most = Math.max(most, ofRegion(region));
  });
  return Math.ceil(most);
}

/** The accumulator's registers; replaced one by one as MMAs add to them. */
function initialSums(cx: LowerContext, op: OpOf<"dot">): Operand[] {
  const { sum } = operandsOf(op);
  const { element } = sum.type;
  return times(registerCount(sum), (register) =>
    cx.emitter.inRegister(
      whole(cx.emitter, lowered(cx, sum)(register), element),
      bankOf(element),
    ));
}

function scalarOf(value: Value): ScalarName {
  const { element } = value.type;
  return isPointer(element) ? bug("a dot of pointers") : element;
}

/** Indices of one repeat of an MMA among those of its operands and result. */
interface At {
  readonly a: number;
  readonly b: number;
  readonly result: number;
}

/** All repeats of one batch and one step along k. */
function stepAt({ m, n, k }: Repeats, batch: number, depth: number): At[] {
  return times(1 << m, (row) =>
    times(1 << n, (column): At => ({
      a: depth | (row << k) | (batch << (k + m)),
      b: column | (depth << n) | (batch << (n + k)),
      result: column | (row << n) | (batch << (n + m)),
    }))).flat();
}

/** All steps: MMAs of one accumulator are far apart. */
function stepsOf(repeats: Repeats): At[][] {
  return times(
    1 << repeats.batch,
    (batch) => times(1 << repeats.k, (depth) => stepAt(repeats, batch, depth)),
  ).flat();
}

/** Registers of the fragments of an operand, packed as the instruction wants them. */
function fragments(
  cx: LowerContext,
  value: Value,
  elements: number,
  row: MmaRow,
): (index: number) => readonly Operand[] {
  const e = cx.emitter;
  const { element } = value.type;
  const known = new Map<number, readonly Operand[]>();
  return (index) => {
    let registers = known.get(index);
    if (registers === undefined) {
      const refs = times(elements, (i) => lowered(cx, value)(index * elements + i));
      registers = row.mode === "tf32"
        ? refs.map((ref) => toTf32(e, whole(e, ref, element)))
        : packAccess(e, refs, element).map((register) => e.inRegister(register, wordBank(element)));
      known.set(index, registers);
    }
    return registers;
  };
}

const wordBank = (element: Element): "b32" | "b64" => element === "float64" ? "b64" : "b32";

/** To nearest: tensor cores would cut the low bits off, and with them the sum would drift towards zero. */
export function toTf32(e: Emitter, value: Operand): Operand {
  return e.pure("cvt.rna.tf32.f32", "b32", [e.inRegister(value, "b32")]);
}

function multiplyFragments(
  cx: LowerContext,
  op: OpOf<"dot">,
  row: MmaRow,
  repeats: Repeats,
  sums: Operand[],
): void {
  const e = cx.emitter;
  const { a, b } = operandsOf(op);
  const count = (fragment: { readonly register: readonly unknown[] }): number =>
    1 << fragment.register.length;
  const left = fragments(cx, a, count(row.a), row);
  const right = fragments(cx, b, count(row.b), row);
  const types = [row.sum, MMA_TYPES[scalarOf(a)], MMA_TYPES[scalarOf(b)], row.sum].join(".");
  const spelling = `mma.sync.aligned.${row.name.replace(/.*\./, "")}.row.col.${types}`;
  const sumBank = row.sum === "f64" ? "b64" : "b32";
  const width = count(row.c);
  const vector = (elements: readonly Operand[]): Operand => ({ kind: "vector", elements });
  // The 8-bit floats' products are added with few bits; the program may ask for sums outside of the instruction.
  const isApart = op.attrs.mode === "f32acc" && row.sum === "f32";
  const zeros = isApart
    ? times(width, () => e.inRegister(constantOperand(0, "float32"), "b32"))
    : [];
  const multiply = (at: At): void => {
    const first = at.result * width;
    const before = sums.slice(first, first + width);
    const after = before.map(() => e.register(sumBank));
    e.emit(spelling, [
      vector(after),
      vector(left(at.a)),
      vector(right(at.b)),
      vector(isApart ? zeros : before),
    ]);
    zip(before, after).forEach(([sum, register], i) => {
      sums[first + i] = isApart ? e.pure("add.rn.f32", "b32", [sum, register]) : register;
    });
  };
  const steps = stepsOf(repeats);
  const share = Math.ceil(cx.deferred.length / steps.flat().length);
  // Operands of the next step come from shared memory between the MMAs of this one.
  steps.forEach((step, i) => {
    step.forEach((at, j) => {
      multiply(at);
      emitDeferred(cx, share);
      const next = steps[i + 1]?.[j];
      if (next === undefined) return;
      left(next.a);
      right(next.b);
    });
  });
}

/** How elements are multiplied without tensor cores: in which type, and by which instruction. */
function scalarProduct(
  cx: LowerContext,
  op: OpOf<"dot">,
): (a: Operand, b: Operand, sum: Operand) => Operand {
  const e = cx.emitter;
  const result = resultOf(op).type.element;
  if (result === "int32") return (a, b, sum) => e.pure("mad.lo.s32", "b32", [a, b, sum]);
  if (result === "float64") return (a, b, sum) => e.pure("fma.rn.f64", "b64", [a, b, sum]);
  return (a, b, sum) => e.pure("fma.rn.f32", "b32", [a, b, sum]);
}

function multiplyElements(
  cx: LowerContext,
  op: OpOf<"dot">,
  repeats: Repeats,
  sums: Operand[],
): void {
  const e = cx.emitter;
  const { a, b } = operandsOf(op);
  const result = layoutOf(resultOf(op));
  const bits = (value: Value): number => log2Registers(value);
  // Registers of a thread's rectangle: columns below rows.
  const rows = bits(a) - repeats.k - repeats.m - repeats.batch;
  const columns = bits(b) - repeats.k - repeats.n - repeats.batch;
  if (result.register.length !== rows + columns + repeats.m + repeats.n + repeats.batch) {
    bug("layouts of a dot that do not fit together");
  }
  const isPacked = resultOf(op).type.element === "int32" && repeats.k >= 2;
  const left = isPacked ? packed(cx, a, rows, 0) : converted(cx, op, a);
  const right = isPacked ? packed(cx, b, columns, repeats.n) : converted(cx, op, b);
  const sign = (value: Value): string => SCALARS[scalarOf(value)].signed ? "s32" : "u32";
  const dp4a = `dp4a.${sign(a)}.${sign(b)}`;
  const multiply = isPacked
    ? (x: Operand, y: Operand, sum: Operand) => e.pure(dp4a, "b32", [x, y, sum])
    : scalarProduct(cx, op);
  for (const at of stepsOf(isPacked ? { ...repeats, k: repeats.k - 2 } : repeats).flat()) {
    for (let row = 0; row < 1 << rows; row++) {
      for (let i = 0; i < 1 << columns; i++) {
        // Alternating direction: the last column of a row is multiplied twice in sequence, and stays in the operand cache.
        const column = (row & 1) === 0 ? i : (1 << columns) - 1 - i;
        const index = column | (row << columns) | (at.result << (rows + columns));
        sums[index] = multiply(
          left(row | (at.a << rows)),
          right(column | (at.b << columns)),
          ofRegister(sums, index),
        );
      }
    }
  }
}

const log2Registers = (value: Value): number => Math.log2(registerCount(value));

/** Elements in the type that they are multiplied in. */
function converted(cx: LowerContext, op: OpOf<"dot">, value: Value): (register: number) => Operand {
  const e = cx.emitter;
  const from = scalarOf(value);
  const to = scalarOf(resultOf(op));
  const known = memo(cx, (register) => {
    const source = whole(e, lowered(cx, value)(register), from);
    return e.inRegister(convertScalar(e, source, from, to), bankOf(to));
  });
  return (register) => alone(known(register));
}

const alone = (ref: Ref): Operand => ref.kind === "piece" ? bug("a part of a word") : ref;

/** Words of four elements along k, whose two lowest bits lie `above` bits over those of the thread's rectangle. */
function packed(
  cx: LowerContext,
  value: Value,
  core: number,
  above: number,
): (register: number) => Operand {
  const low = core + above;
  const known = memo(cx, (register) => {
    const first = (register & ((1 << low) - 1)) | ((register >> low) << (low + 2));
    const refs = [0, 1, 2, 3].map((i) => lowered(cx, value)(first | (i << low)));
    return cx.emitter.inRegister(
      ofRegister(packAccess(cx.emitter, refs, value.type.element), 0),
      "b32",
    );
  });
  return (register) => alone(known(register));
}
