/**
 * Expressions that primitives are made of. An expression writes the code that leaves its value on the stack; used
 * twice, it is computed twice, unless it was bound to a local by {@linkcode Scratch}.
 */
import type { Code, Immediate, ValueType } from "./code.ts";
import type { OpName } from "./opcodes.ts";

export type Expr = (code: Code) => void;

export function op(name: OpName, ...args: readonly Expr[]): Expr {
  return (code) => {
    for (const arg of args) arg(code);
    code.op(name);
  };
}

/** An instruction with immediates, such as a lane or an offset. */
export function opWith(
  name: OpName,
  immediates: readonly Immediate[],
  ...args: readonly Expr[]
): Expr {
  return (code) => {
    for (const arg of args) arg(code);
    code.op(name, ...immediates);
  };
}

export const local = (index: number): Expr => (code) => code.op("local.get", index);
export const i32 = (value: number): Expr => (code) => code.op("i32.const", value);
export const i64 = (value: bigint): Expr => (code) => code.op("i64.const", value);
export const f32 = (value: number): Expr => (code) => code.op("f32.const", value);
export const f64 = (value: number): Expr => (code) => code.op("f64.const", value);

/** A vector of four words. */
export function words(a: number, b: number, c: number, d: number): Expr {
  const bytes = [...new Uint8Array(Int32Array.of(a, b, c, d).buffer)];
  return (code) => code.vector(bytes);
}

/** The same word four times. */
export const word = (value: number): Expr => words(value, value, value, value);

/** The same 64 bits twice. */
export function double(value: bigint): Expr {
  const lo = Number(BigInt.asIntN(32, value));
  const hi = Number(BigInt.asIntN(32, value >> 32n));
  return words(lo, hi, lo, hi);
}

/** Words of `a` (0 to 3) and `b` (4 to 7) by number. */
export function pickWords(a: Expr, b: Expr, picks: readonly number[]): Expr {
  const bytes = picks.flatMap((pick) => [4 * pick, 4 * pick + 1, 4 * pick + 2, 4 * pick + 3]);
  return opWith("i8x16.shuffle", [bytes], a, b);
}

/** `mask ? a : b`, bit by bit. */
export const select = (mask: Expr, a: Expr, b: Expr): Expr => op("v128.bitselect", a, b, mask);
/** `a & ~b`. */
export const without = (a: Expr, b: Expr): Expr => op("v128.andnot", a, b);

/** Locals for intermediate values; `reset` lets the next piece of code use the same ones again. */
export class Scratch {
  readonly #free = new Map<ValueType, { readonly locals: number[]; used: number }>();

  constructor(readonly code: Code) {}

  /** A local that is not given out again until the next reset. */
  take(type: ValueType): number {
    let pool = this.#free.get(type);
    if (pool === undefined) this.#free.set(type, pool = { locals: [], used: 0 });
    const at = pool.used++;
    return pool.locals[at] ??= this.code.local(type);
  }

  /** Computes an expression now. */
  bind(type: ValueType, value: Expr): Expr {
    value(this.code);
    const index = this.take(type);
    this.code.op("local.set", index);
    return local(index);
  }

  /** Computes a vector now. */
  let(value: Expr): Expr {
    return this.bind("v128", value);
  }

  reset(): void {
    for (const pool of this.#free.values()) pool.used = 0;
  }
}
