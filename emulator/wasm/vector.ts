/**
 * Primitives as vectors: 4 lanes at a time, or 2 where a row of 64-bit values takes part; words of 32 bits are then
 * in the lower half of the vector.
 */
import type { Operand } from "../../compiler/ptx/func.ts";
import { LANES } from "../register_file.ts";
import type { Code } from "./code.ts";
import { type Expr, i32, local, op, opWith, Scratch, select, words } from "./expr.ts";
import {
  argumentsOf,
  predicate,
  type PredicateOperand,
  type Primitive,
  type Row,
} from "./primitive.ts";

export interface VectorSpec {
  readonly name: string;
  readonly results: readonly (Row | PredicateOperand)[];
  /** Predicates are seen as masks as wide as the lanes. */
  readonly sources: readonly (Row | PredicateOperand)[];
  readonly evaluate: (scratch: Scratch, ...sources: readonly Expr[]) => readonly Expr[];
}

/** Copies of the loop's body while all lanes take part; more only cost code. */
const UNROLL = 2;

/** Code of one vector primitive; the fields are what its pieces share. */
class VectorWriter {
  readonly #code: Code;
  readonly #scratch: Scratch;
  /** Lanes of one step. */
  readonly #lanes: 2 | 4;
  readonly #mask: number;
  readonly #counter: number;
  /** For each source: the parameter of its row, or the local of its bits. */
  readonly #sources: number[];
  /** For each result: the local where the bits of a predicate are collected. */
  readonly #collected: number[];

  constructor(readonly spec: VectorSpec, code: Code) {
    this.#code = code;
    this.#scratch = new Scratch(code);
    const wide = [...spec.results, ...spec.sources].some((it) => it.kind === "row" && it.bits > 32);
    this.#lanes = wide ? 2 : 4;
    this.#mask = code.params.length - 1;
    this.#counter = code.local("i32");
    let parameter = spec.results.length;
    this.#sources = spec.sources.map((source) => {
      if (source.kind === "row") return parameter++;
      const bits = code.local("i32");
      op("i32.xor", opWith("i32.load", [0], local(parameter)), local(parameter + 1))(code);
      code.op("local.set", bits);
      parameter += 2;
      return bits;
    });
    this.#collected = spec.results.map((result) =>
      result.kind === "predicate" ? code.local("i32") : -1
    );
  }

  write(): void {
    const code = this.#code;
    code.op("local.get", this.#mask).op("i32.const", -1).op("i32.eq").op("if");
    this.#loop(UNROLL, false);
    code.op("else");
    if (this.spec.results.some(({ kind }) => kind === "row")) this.#loop(1, true);
    else this.#loop(UNROLL, false);
    code.op("end");
    for (const [i, result] of this.spec.results.entries()) {
      if (result.kind === "predicate") {
        storeBits(code, i, local(this.#collected[i] ?? 0), this.#mask);
      }
    }
  }

  #bytes(row: Row): number {
    return this.#lanes * (row.bits > 32 ? 8 : 4);
  }

  #loop(unroll: number, blended: boolean): void {
    const code = this.#code;
    const steps = LANES / this.#lanes;
    const rest = blended ? code.local("i32") : -1;
    if (blended) code.op("local.get", this.#mask).op("local.set", rest);
    code.op("i32.const", steps / unroll).op("local.set", this.#counter).op("loop");
    for (let step = 0; step < unroll; step++) {
      this.#scratch.reset();
      this.#step(step, rest);
    }
    const advance = (parameter: number, row: Row): void => {
      op("i32.add", local(parameter), i32(unroll * this.#bytes(row)))(code);
      code.op("local.set", parameter);
    };
    for (const [i, it] of this.spec.results.entries()) if (it.kind === "row") advance(i, it);
    for (const [i, it] of this.spec.sources.entries()) {
      if (it.kind === "row") advance(this.#sources[i] ?? 0, it);
    }
    op("i32.sub", local(this.#counter), i32(1))(code);
    code.op("local.tee", this.#counter).op("br_if", 0).op("end");
  }

  /** Lanes whose bit is among the lowest of a word, as a mask; takes these bits away. */
  #expand(bits: number, wide: boolean): Expr {
    const lane = wide ? words(1, 1, 2, 2) : words(1, 2, 4, 8);
    const mask = this.#scratch.let(
      op("i32x4.eq", op("v128.and", op("i32x4.splat", local(bits)), lane), lane),
    );
    op("i32.shr_u", local(bits), i32(this.#lanes))(this.#code);
    this.#code.op("local.set", bits);
    return mask;
  }

  /** One step, `step` steps after where the parameters point; `rest`: local of the mask's bits, if blended. */
  #step(step: number, rest: number): void {
    const code = this.#code;
    const pair = this.#lanes === 2;
    const sources = this.spec.sources.map((source, i) => {
      const at = this.#sources[i] ?? 0;
      if (source.kind === "predicate") return this.#expand(at, pair);
      const half = pair && source.bits <= 32;
      const offset = step * this.#bytes(source);
      return this.#scratch.let(
        opWith(half ? "v128.load64_zero" : "v128.load", [offset], local(at)),
      );
    });
    const values = this.spec.evaluate(this.#scratch, ...sources);
    const wide = this.spec.results.some((it) => it.kind === "row" && it.bits > 32);
    let masks: readonly Expr[] = [];
    if (rest >= 0) {
      const narrow = !pair ? this.#expand(rest, false) : undefined;
      masks = narrow !== undefined ? [narrow, narrow] : this.#pairMasks(rest, wide);
    }
    for (const [i, result] of this.spec.results.entries()) {
      const value = values[i];
      if (value === undefined) continue;
      if (result.kind === "predicate") {
        this.#collect(this.#collected[i] ?? 0, value);
        continue;
      }
      const half = pair && result.bits <= 32;
      const offset = step * this.#bytes(result);
      const mask = masks[half ? 0 : 1];
      local(i)(code);
      (mask === undefined ? value : select(
        mask,
        value,
        opWith(half ? "v128.load64_zero" : "v128.load", [offset], local(i)),
      ))(code);
      if (half) code.op("v128.store64_lane", offset, 0);
      else code.op("v128.store", offset);
    }
  }

  /** Masks of two lanes for rows of words and for rows of 64 bits. */
  #pairMasks(rest: number, wide: boolean): readonly Expr[] {
    const full = this.#expand(rest, true);
    const narrow = pickEven(full);
    return wide ? [narrow, full] : [narrow, narrow];
  }

  /** Shifts the bits of a mask into a word from above. */
  #collect(bits: number, mask: Expr): void {
    const lanes = this.#lanes;
    op(
      "i32.or",
      op("i32.shr_u", local(bits), i32(lanes)),
      op("i32.shl", op(lanes === 4 ? "i32x4.bitmask" : "i64x2.bitmask", mask), i32(LANES - lanes)),
    )(this.#code);
    this.#code.op("local.set", bits);
  }
}

/** The lower words of two 64-bit values, in the lower half. */
export function pickEven(value: Expr): Expr {
  return opWith(
    "i8x16.shuffle",
    [[0, 1, 2, 3, 8, 9, 10, 11, 0, 0, 0, 0, 0, 0, 0, 0]],
    value,
    value,
  );
}

/** Stores the bits of the lanes of a mask into the word of a predicate. */
function storeBits(code: Code, parameter: number, bits: Expr, mask: number): void {
  const old = opWith("i32.load", [0], local(parameter));
  // old ^ ((old ^ bits) & mask)
  local(parameter)(code);
  op("i32.xor", old, op("i32.and", op("i32.xor", old, bits), local(mask)))(code);
  code.op("i32.store", 0);
}

export function vectorPrimitive(spec: VectorSpec): Primitive {
  return {
    name: spec.name,
    arguments: argumentsOf(spec.results, spec.sources),
    declines: false,
    emit: (code) => code.hoisting(() => new VectorWriter(spec, code).write()),
  };
}

/** An operation on the words of predicates. */
export function predicatePrimitive(
  name: string,
  result: Operand,
  sources: readonly Operand[],
  evaluate: (...sources: readonly Expr[]) => Expr,
): Primitive {
  return {
    name,
    arguments: argumentsOf([predicate(result)], sources.map(predicate)),
    declines: false,
    emit: (code): void => {
      const words = sources.map((_, i) =>
        op("i32.xor", opWith("i32.load", [0], local(1 + 2 * i)), local(2 + 2 * i))
      );
      storeBits(code, 0, evaluate(...words), code.params.length - 1);
    },
  };
}
