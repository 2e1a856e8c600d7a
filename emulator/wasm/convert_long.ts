/** cvt between integers of 64 bits and floats, which vectors have not. */
import type { Match } from "../../compiler/ptx/match.ts";
import type { TypeName } from "../../compiler/ptx/types.ts";
import { type Expr, f32, i64, op, type Scratch } from "./expr.ts";
import { lanePrimitive, type LaneRow } from "./lane.ts";
import { choose } from "./scalar.ts";
import { chose, has, shapeOf, typesOf } from "./shape.ts";
import type { Primitive } from "./primitive.ts";

type FloatWord = "f32" | "f64";

const INTEGRAL = { rni: "nearest", rzi: "trunc", rmi: "floor", rpi: "ceil" } as const;

const isFloat = (type: TypeName | undefined): type is FloatWord => type === "f32" || type === "f64";
const signOf = (type: TypeName | undefined): "s" | "u" | undefined =>
  type === "s64" ? "s" : type === "u64" ? "u" : undefined;

/** Subnormal numbers as zeros of their sign. */
function flushed(scratch: Scratch, value: Expr): Expr {
  const bound = scratch.bind("f32", value);
  const tiny = op("f32.lt", op("f32.abs", bound), f32(2 ** -126));
  return choose(tiny, op("f32.copysign", f32(0), bound), bound);
}

export function convertLongForm(match: Match): Primitive | undefined {
  const [to, from] = typesOf(match);
  const { name, results: [target], sources: [source] } = shapeOf(match);
  if (target?.kind !== "row" || source?.kind !== "row" || has(match, "sat")) return undefined;
  const rows = (result: LaneRow["as"], value: LaneRow["as"]): {
    readonly name: string;
    readonly results: readonly LaneRow[];
    readonly sources: readonly LaneRow[];
  } => ({ name, results: [{ ...target, as: result }], sources: [{ ...source, as: value }] });
  const rounding = match.bound.get("RNDI");
  const toSign = signOf(to);
  if (isFloat(from) && toSign !== undefined && rounding !== undefined) {
    const mode = Object.entries(INTEGRAL).find(([key]) => key === rounding)?.[1];
    if (mode === undefined) return undefined;
    return lanePrimitive({
      ...rows("i64", from),
      evaluate: (scratch, value) => {
        const kept = has(match, "ftz") ? flushed(scratch, value) : value;
        const integer = op(`i64.trunc_sat_${from}_${toSign}`, op(`${from}.${mode}`, kept));
        // NaN gives the top bit alone.
        return [choose(op(`${from}.eq`, value, value), integer, i64(-(1n << 63n)))];
      },
    });
  }
  const fromSign = signOf(from);
  if (isFloat(to) && fromSign !== undefined && chose(match, "rn")) {
    return lanePrimitive({
      ...rows(to, "i64"),
      evaluate: (_, value) => [op(`${to}.convert_i64_${fromSign}`, value)],
    });
  }
  return undefined;
}
