/**
 * Runs the straight-line PTX that lowering emits, thread block by thread block: the judge of the back end where
 * there is no GPU. Threads run one after the other from barrier to barrier; what they do to memory unordered is
 * an error, so any order is as good as another. Instructions become closures once per kernel.
 */
import type { Instruction, Operand, PtxKernel, Register } from "../../compiler/ptx/func.ts";
import { printInstruction } from "../../compiler/ptx/print.ts";
import { must } from "../../compiler/support/bug.ts";
import { type Accessor, Buffer, type GlobalMemory } from "./ptx_memory.ts";

export interface LaunchOptions {
  readonly grid: readonly [number, number, number];
  readonly threads: number;
  /** Bits of each argument; pointers and integers alike. */
  readonly args: readonly bigint[];
  /** Dynamic shared memory, bytes. */
  readonly sharedBytes?: number;
}

type Value = number | bigint;

/** Predicates are 0 and 1, up to 32 bits are unsigned numbers, 64 bits are unsigned bigints. */
interface Thread extends Accessor {
  readonly registers: Map<string, Value>;
  readonly special: Readonly<Record<string, number>>;
  readonly shared: Buffer;
  blockPhase: number;
  warpPhase: number;
  at: number;
}

type Step = (t: Thread) => void;
type Source = (t: Thread) => Value;
type Outcome = "bar.sync" | "bar.warp.sync" | "ret";

const BITS = /(?:pred|[busf](\d+))$/;

/** Bits of a type's spelling: 1 for predicates. */
const bitsOf = (type: string): number => Number(BITS.exec(type)?.[1] ?? 1);
const wrap = (value: bigint, bits: number): Value =>
  bits === 64 ? BigInt.asUintN(64, value) : Number(BigInt.asUintN(bits, value));
const signed = (value: Value, bits: number): bigint => BigInt.asIntN(bits, BigInt(value));

/** The number that bits of an integer type stand for. */
const numberOf = (type: string, value: Value): bigint =>
  type.startsWith("s") ? signed(value, bitsOf(type)) : BigInt(value);

/** Integer operations on the numbers their operands stand for. */
const INTEGER: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  min: (a, b) => a < b ? a : b,
  max: (a, b) => a > b ? a : b,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
};

const COMPARE: Readonly<Record<string, (a: bigint, b: bigint) => boolean>> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
};

const FLOAT = new DataView(new ArrayBuffer(8));
function floatOf(bits: Value): number {
  FLOAT.setUint32(0, Number(bits));
  return FLOAT.getFloat32(0);
}
function bitsOfFloat(value: number): number {
  FLOAT.setFloat32(0, value);
  return FLOAT.getUint32(0);
}

/** Bytes of two words by the digits of a selector (PTX ISA, prmt, default mode). */
export function permuteBytes(a: number, b: number, selector: number): number {
  const bytes = BigInt(a) | (BigInt(b) << 32n);
  let result = 0n;
  for (let i = 0; i < 4; i++) {
    const digit = (selector >> (4 * i)) & 15;
    const byte = (bytes >> BigInt(8 * (digit & 7))) & 0xffn;
    const filled = digit & 8 ? (byte >> 7n) * 0xffn : byte;
    result |= filled << BigInt(8 * i);
  }
  return Number(result);
}

/** Bits `start` … `start + length - 1` (PTX ISA, bfe). */
export function extractBits(
  word: number,
  start: number,
  length: number,
  isSigned: boolean,
): number {
  const field = (BigInt(word) >> BigInt(start)) & ((1n << BigInt(length)) - 1n);
  return Number(BigInt.asUintN(32, isSigned ? BigInt.asIntN(length, field) : field));
}

class Decoder {
  readonly #symbols = new Map<string, number>();
  readonly sharedBytes: number;

  constructor(
    readonly kernel: PtxKernel,
    readonly memory: GlobalMemory,
    readonly options: LaunchOptions,
  ) {
    let end = 0;
    for (const { name, count = 1, align = 1 } of kernel.variables) {
      end = Math.ceil(end / align) * align;
      this.#symbols.set(name, end);
      end += count;
    }
    this.sharedBytes = end + (options.sharedBytes ?? 0);
  }

  /** Reads an operand as bits. */
  source(operand: Operand, bits: number): Source {
    switch (operand.kind) {
      case "register":
        return (t) => must(t.registers.get(operand.name), `value of %${operand.name}`);
      case "integer": {
        const value = wrap(operand.value, bits);
        return () => value;
      }
      case "float": {
        const value = bits === 64 ? operand.bits : Number(operand.bits);
        return () => value;
      }
      case "special":
        return (t) => must(t.special[operand.name], `%${operand.name}`);
      case "symbol": {
        const value = must(this.#symbols.get(operand.name), operand.name);
        return () => value;
      }
      case "vector": {
        const size = bits / operand.elements.length;
        const parts = operand.elements.map((element) => this.source(element, size));
        return (t) =>
          wrap(
            parts.reduce((sum, part, i) => sum | (BigInt(part(t)) << BigInt(i * size)), 0n),
            bits,
          );
      }
      default:
        throw new RangeError(`the machine reads no ${operand.kind}`);
    }
  }

  decode(instruction: Instruction): Step {
    const { opcode, modifiers, operands } = instruction;
    const [target, ...rest] = operands;
    const type = must(modifiers.at(-1) ?? opcode, "type");
    const bits = bitsOf(type);
    if (opcode === "ld" || opcode === "st") return this.access(instruction);
    const [a, b, c] = rest.map((operand) => this.source(operand, opcode === "prmt" ? 32 : bits));
    const first = (t: Thread): Value => must(a, "first operand")(t);
    const second = (t: Thread): Value => must(b, "second operand")(t);
    const third = (t: Thread): Value => must(c, "third operand")(t);
    const set = (compute: Source): Step => {
      const { name } = registerOf(must(target, "target"));
      return (t) => t.registers.set(name, compute(t));
    };
    const integer = INTEGER[opcode];
    if (type === "f32" && opcode === "add") {
      return set((t) => bitsOfFloat(floatOf(first(t)) + floatOf(second(t))));
    }
    if (integer !== undefined && !type.startsWith("f")) {
      const result = opcode === "mul" && modifiers[0] === "wide" ? 2 * bits : bits;
      return set((t) => wrap(integer(numberOf(type, first(t)), numberOf(type, second(t))), result));
    }
    switch (opcode) {
      case "mov":
      case "cvta":
        return set(first);
      case "not":
        return set((t) => wrap(~BigInt(first(t)), bits));
      case "shl":
        return set((t) => wrap(BigInt(first(t)) << BigInt(Math.min(64, Number(second(t)))), bits));
      case "shr":
        return set((t) =>
          wrap(numberOf(type, first(t)) >> BigInt(Math.min(64, Number(second(t)))), bits)
        );
      case "cvt": {
        const from = must(modifiers.at(-1), "source type");
        const to = must(modifiers.at(-2), "target type");
        if (modifiers.length !== 2 || /^b?f/.test(from + to)) break;
        return set((t) =>
          wrap(numberOf(from, wrap(BigInt(first(t)), bitsOf(from))), Math.max(bitsOf(to), 16))
        );
      }
      case "bfe":
        return set((t) =>
          extractBits(Number(first(t)), Number(second(t)), Number(third(t)), type === "s32")
        );
      case "prmt":
        return set((t) => permuteBytes(Number(first(t)), Number(second(t)), Number(third(t))));
      case "selp":
        return set((t) => third(t) === 1 ? first(t) : second(t));
      case "setp": {
        const compare = must(COMPARE[modifiers[0] ?? ""], "comparison");
        return set((t) => compare(numberOf(type, first(t)), numberOf(type, second(t))) ? 1 : 0);
      }
    }
    throw new RangeError(`the machine does not know ${printInstruction(instruction)}`);
  }

  /** `ld.param`, and loads and stores of global and shared memory. */
  access({ opcode, modifiers, operands }: Instruction): Step {
    const isLoad = opcode === "ld";
    const place = must(isLoad ? operands[1] : operands[0], "address");
    const data = must(isLoad ? operands[0] : operands[1], "data");
    if (place.kind !== "address" || place.base === undefined) throw new RangeError("no address");
    const { base } = place;
    const type = must(modifiers.at(-1), "type");
    const size = bitsOf(type) / 8;
    const parts = data.kind === "vector" ? data.elements : [data];
    if (modifiers[0] === "param") {
      const index = this.kernel.params.findIndex(({ name }) =>
        base.kind === "symbol" && name === base.name
      );
      const value = wrap(must(this.options.args[index], "argument"), 8 * size);
      const { name } = registerOf(data);
      return (t) => t.registers.set(name, value);
    }
    const isShared = modifiers.includes("shared");
    const address = this.source(base, isShared ? 32 : 64);
    const values = isLoad ? [] : parts.map((part) => this.source(part, 8 * size));
    const names = isLoad ? parts.map((part) => registerOf(part).name) : [];
    return (t) => {
      const at = BigInt(address(t)) + place.offset;
      const { buffer, offset } = isShared
        ? { buffer: t.shared, offset: Number(at) }
        : this.memory.find(BigInt.asUintN(64, at));
      const by: Accessor = {
        block: t.block,
        warp: t.warp,
        thread: t.thread,
        blockPhase: t.blockPhase,
        warpPhase: t.warpPhase,
      };
      buffer.touch(Number(at & 0xffffffffn), offset, size, parts.length, !isLoad, by);
      names.forEach((name, i) => t.registers.set(name, buffer.read(offset + i * size, size)));
      values.forEach((value, i) => buffer.write(offset + i * size, size, value(t)));
    };
  }
}

function registerOf(operand: Operand): Register {
  if (operand.kind !== "register") throw new RangeError(`${operand.kind} where a register belongs`);
  return operand;
}

/** Runs a whole grid; throws where a thread does what it must not. */
export function runKernel(kernel: PtxKernel, memory: GlobalMemory, options: LaunchOptions): void {
  const decoder = new Decoder(kernel, memory, options);
  const program = kernel.body.flatMap((item): (Step | Outcome)[] => {
    if (item.kind === "comment" || item.kind === "loc") return [];
    if (item.kind !== "instruction") throw new RangeError(`the machine does not know ${item.kind}`);
    const name = [item.opcode, ...item.modifiers].join(".");
    if (name === "bar.sync" || name === "bar.warp.sync" || name === "ret") return [name];
    const step = decoder.decode(item);
    const { guard } = item;
    if (guard === undefined) return [step];
    const wanted = guard.negated ? 0 : 1;
    const { name: predicate } = guard.register;
    return [(t) => {
      if (must(t.registers.get(predicate), `value of %${predicate}`) === wanted) step(t);
    }];
  });
  const run = (t: Thread): Outcome => {
    for (;;) {
      const step = must(program[t.at++], "instruction after the end");
      if (typeof step === "string") return step;
      step(t);
    }
  };
  const [gx, gy, gz] = options.grid;
  for (let block = 0; block < gx * gy * gz; block++) {
    const shared = new Buffer(new Uint8Array(decoder.sharedBytes).fill(0xdb), "shared");
    const threads = Array.from({ length: options.threads }, (_, tid): Thread => ({
      block,
      warp: tid >> 5,
      thread: block * options.threads + tid,
      blockPhase: 0,
      warpPhase: 0,
      at: 0,
      shared,
      registers: new Map(),
      special: {
        "tid.x": tid,
        "ctaid.x": block % gx,
        "ctaid.y": Math.floor(block / gx) % gy,
        "ctaid.z": Math.floor(block / (gx * gy)),
        "nctaid.x": gx,
        "nctaid.y": gy,
        "nctaid.z": gz,
      },
    }));
    runBlock(threads, run);
  }
}

function runBlock(threads: readonly Thread[], run: (t: Thread) => Outcome): void {
  const warps = Array.from(
    { length: Math.ceil(threads.length / 32) },
    (_, warp) => threads.slice(32 * warp, 32 * warp + 32),
  );
  for (;;) {
    const outcomes = new Set(warps.map((warp) => runWarp(warp, run)));
    if (outcomes.size !== 1) throw new RangeError("some warps wait at a barrier that others miss");
    if (outcomes.has("ret")) return;
    for (const t of threads) t.blockPhase++;
  }
}

/** Runs a warp to its next barrier of the block. */
function runWarp(warp: readonly Thread[], run: (t: Thread) => Outcome): Outcome {
  for (;;) {
    const outcomes = new Set(warp.map(run));
    const [outcome] = outcomes;
    if (outcome === undefined || outcomes.size !== 1) {
      throw new RangeError("some lanes wait at a barrier that others miss");
    }
    if (outcome !== "bar.warp.sync") return outcome;
    for (const t of warp) t.warpPhase++;
  }
}
