/** Primitives that handle one lane after the other: for what vectors cannot do. */
import type { Code } from "./code.ts";
import { type Expr, i32, local, op, opWith, Scratch } from "./expr.ts";
import { argumentsOf, type Primitive, type Row } from "./primitive.ts";

/** What a lane primitive sees of a row: its element, loaded as this. */
export interface LaneRow extends Row {
  readonly as: "i32" | "i64" | "f32" | "f64";
}

export interface LaneSpec {
  readonly name: string;
  readonly results: readonly LaneRow[];
  readonly sources: readonly LaneRow[];
  readonly evaluate: (scratch: Scratch, ...sources: readonly Expr[]) => readonly Expr[];
}

const LOADS = { i32: "i32.load", i64: "i64.load", f32: "f32.load", f64: "f64.load" } as const;
const STORES = { i32: "i32.store", i64: "i64.store", f32: "f32.store", f64: "f64.store" } as const;

/** Writes a loop over the lanes of a mask, with the number of the lane in a local. */
export function eachLane(code: Code, mask: number, body: (lane: number) => void): void {
  const rest = code.local("i32");
  const lane = code.local("i32");
  code.op("local.get", mask).op("local.set", rest);
  code.op("block").op("loop");
  code.op("local.get", rest).op("i32.eqz").op("br_if", 1);
  code.op("local.get", rest).op("i32.ctz").op("local.set", lane);
  op("i32.and", local(rest), op("i32.sub", local(rest), i32(1)))(code);
  code.op("local.set", rest);
  body(lane);
  code.op("br", 0).op("end").op("end");
}

/** Where the element of a lane is. */
export function elementAddress(parameter: number, lane: number, bits: number): Expr {
  return op("i32.add", local(parameter), op("i32.shl", local(lane), i32(bits > 32 ? 3 : 2)));
}

/** A primitive that handles one lane after the other: for what vectors cannot do. */
export function lanePrimitive(spec: LaneSpec): Primitive {
  const emit = (code: Code): void => {
    const scratch = new Scratch(code);
    eachLane(code, code.params.length - 1, (lane) => {
      scratch.reset();
      const sources = spec.sources.map(({ bits, as }, i) =>
        scratch.bind(
          as,
          opWith(LOADS[as], [0], elementAddress(spec.results.length + i, lane, bits)),
        )
      );
      const values = spec.evaluate(scratch, ...sources);
      for (const [i, { bits, as }] of spec.results.entries()) {
        const value = values[i];
        if (value === undefined) continue;
        elementAddress(i, lane, bits)(code);
        value(code);
        code.op(STORES[as], 0);
      }
    });
  };
  return {
    name: spec.name,
    arguments: argumentsOf(spec.results, spec.sources),
    declines: false,
    emit,
  };
}
