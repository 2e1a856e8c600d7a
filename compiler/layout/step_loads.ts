/**
 * Loads of what addresses grow by from one iteration to the next, as tables of differences of offsets say:
 *
 *     pa += (*pd)[newaxis, :];  pd += TK
 *
 * Each thread loads what its own addresses need, spread over them, as copies for later iterations are started without a
 * barrier, and so exchange nothing.
 */
import { loopOf } from "../ir/flow.ts";
import type { Func, Op, OpOf, Value } from "../ir/func.ts";
import { resultOf } from "../ir/op.ts";
import { sourcesFirst } from "../ir/order.ts";
import { hasTrait } from "../ir/table.ts";
import { isPointer } from "../ir/types.ts";
import { lonelyDots } from "./function_dots.ts";

/** Those in loops with one dot. */
export function stepLoads(
  func: Func,
  flows: ReadonlyMap<Value, unknown>,
  users: ReadonlyMap<Value, readonly Op[]>,
): ReadonlySet<Op> {
  const found = new Set<Op>();
  for (const inLoop of lonelyDots(func).values()) {
    for (const op of inLoop) {
      if (op.name !== "load") continue;
      const { shape, element } = resultOf(op).type;
      const isTable = shape.length === 1 && (element === "int32" || element === "int64");
      if (isTable && isAddedOnly(resultOf(op), flows, users)) found.add(op);
    }
  }
  return found;
}

/** Whether the addresses of a load in a loop grow by what the loop loads. */
export function growsByTable(
  loop: OpOf<"while">,
  { operands: [pointer] }: OpOf<"load"> | OpOf<"tensor_load">,
): boolean {
  const { test, body, leaving, repeated } = loopOf(loop);
  const entered = leaving[pointer === undefined ? -1 : body.params.indexOf(pointer)];
  const next = repeated[entered === undefined ? -1 : test.params.indexOf(entered)];
  if (next === undefined) return false;
  const inBody = new Set(body.ops);
  const isOutside = ({ def }: Value): boolean => def === undefined || !inBody.has(def);
  return [...sourcesFirst(next, isOutside)].some(({ def }) => def?.name === "load");
}

/** Whether all that is made of a value flows into addresses that loops carry. */
function isAddedOnly(
  value: Value,
  flows: ReadonlyMap<Value, unknown>,
  users: ReadonlyMap<Value, readonly Op[]>,
): boolean {
  const uses = users.get(value) ?? [];
  return uses.length > 0 && uses.every((op) => {
    if (isPointer(value.type.element) && flows.has(value)) return op.name === "yield";
    return (hasTrait(op, "elementwise") || hasTrait(op, "reshapes")) &&
      op.results.every((result) => isAddedOnly(result, flows, users));
  });
}
