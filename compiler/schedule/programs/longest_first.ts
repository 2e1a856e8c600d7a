/**
 * The order of programs of unequal length. A GPU starts blocks in the order of their numbers, so what is started last
 * should be short. Where later programs along the first axis repeat a loop more often, as under a causal mask, they are
 * numbered from the end. Programs are unordered (docs/language.md 8.2), so that changes no result.
 */
import { loopOf } from "../../ir/flow.ts";
import { type Func, newOp, type Op, type OpOf, type Value } from "../../ir/func.ts";
import { constantOf, madeBy, operandsOf, resultOf } from "../../ir/op.ts";
import { bytesOf, scalarType } from "../../ir/types.ts";
import { walkOps } from "../../ir/walk.ts";

/** How a value changes from one program to the next: not, never down, never up, or else. */
type Trend = "level" | "up" | "down" | "unknown";

const OPPOSITE: Readonly<Record<Trend, Trend>> = {
  level: "level",
  up: "down",
  down: "up",
  unknown: "unknown",
};

/** The trend of what changes as both do. */
function together(a: Trend, b: Trend): Trend {
  if (a === "level" || a === b) return b;
  return b === "level" ? a : "unknown";
}

/** The trend of a scalar along the first axis of the grid; `known` has those that were asked for. */
export function trendOf(value: Value, known = new Map<Value, Trend>()): Trend {
  const found = known.get(value) ?? trendOfOp(value.def, (one) => trendOf(one, known));
  known.set(value, found);
  return found;
}

function trendOfOp(def: Op | undefined, of: (value: Value) => Trend): Trend {
  if (def === undefined) return "level";
  switch (def.name) {
    case "constant":
    case "num_programs":
      return "level";
    case "program_id":
      return def.attrs.axis === 0 ? "up" : "level";
    case "convert": {
      const { value } = operandsOf(def);
      const isWider = bytesOf(resultOf(def).type.element) >= bytesOf(value.type.element);
      return isWider ? of(value) : "unknown";
    }
    case "add":
    case "min":
    case "max":
      return together(of(operandsOf(def).left), of(operandsOf(def).right));
    case "sub":
      return together(of(operandsOf(def).left), OPPOSITE[of(operandsOf(def).right)]);
    case "mul": {
      const { left, right } = operandsOf(def);
      const trends = [of(left), of(right)] as const;
      if (trends[0] === "level" && trends[1] === "level") return "level";
      const factor = constantOf(right) ?? constantOf(left);
      const trend = constantOf(right) === undefined ? trends[1] : trends[0];
      if (typeof factor !== "bigint") return "unknown";
      return factor >= 0n ? trend : OPPOSITE[trend];
    }
    case "select": {
      const { condition, then, otherwise } = operandsOf(def);
      return of(condition) === "level" ? together(of(then), of(otherwise)) : "unknown";
    }
    default:
      return def.operands.every((operand) => of(operand) === "level") ? "level" : "unknown";
  }
}

/**
 * Whether later programs repeat a loop at least as often, as far as can be seen: it counts up to a limit that grows.
 * Where the number that it starts with grows too, as below a sliding window, what is between the two does not.
 */
export function growsWithProgram(loop: OpOf<"while">): boolean {
  const { test, initial, continues } = loopOf(loop);
  const compared = madeBy(continues, "lt");
  if (compared === undefined) return false;
  const { left, right } = operandsOf(compared);
  const start = initial[test.params.indexOf(left)];
  return start !== undefined && ["level", "up"].includes(trendOf(start)) && trendOf(right) === "up";
}

/** Numbers programs from the end. */
export function startLastFirst(func: Func): void {
  const ids: OpOf<"program_id">[] = [];
  walkOps(func.body, (op) => {
    if (op.name === "program_id" && op.attrs.axis === 0) ids.push(op);
  });
  const type = scalarType("int32");
  const reversed = new Map<Value, Value>();
  for (const id of ids) {
    const at = func.body.ops.indexOf(id);
    if (at < 0) return;
    const { span } = id;
    const count = newOp(func, "num_programs", [], [type], span, { axis: 0 });
    const one = newOp(func, "constant", [], [type], span, { value: 1n });
    const last = newOp(func, "sub", [resultOf(count), resultOf(one)], [type], span);
    const own = newOp(func, "program_id", [], [type], span, { axis: 0 });
    const left = newOp(func, "sub", [resultOf(last), resultOf(own)], [type], span);
    func.body.ops.splice(at, 1, count, one, last, own, left);
    reversed.set(resultOf(id), resultOf(left));
  }
  walkOps(func.body, (op) => {
    op.operands = op.operands.map((value) => reversed.get(value) ?? value);
  });
}
