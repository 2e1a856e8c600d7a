/**
 * A loop that masks the results of its dots, as attention does where rows see no later ones, asks first whether the mask holds
 * for all elements. It does in most iterations, and the mask is then neither computed nor applied:
 *
 *     s = rows >= n + columns ? q @ k : -inf   ─▶   s = q @ k
 *                                                   if (!(first row >= n + last column))
 *                                                     s = rows >= n + columns ? s : -inf
 *
 * The question is about scalars (certainty.ts), so all threads go the same way.
 */
import { loopOf } from "../ir/flow.ts";
import { type Func, newOp, type Op, type OpOf, type Region, type Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { hasTrait, rowOf } from "../ir/table.ts";
import { sameShape } from "../ir/types.ts";
import { replaceUses, usersOf } from "../ir/walk.ts";
import { certainly } from "./certainty.ts";
import type { PlainPass } from "./pass.ts";
import { ScalarOps } from "./scalar_ops.ts";

export const wholeMasks: PlainPass = {
  name: "whole-masks",
  doc: "loops mask results of dots only where the mask may not hold for all elements",
  run,
};

function run(func: Func): boolean {
  let changed = false;
  const visit = (region: Region): void => {
    for (const op of region.ops) {
      op.regions.forEach(visit);
      if (op.name === "while" && askFirst(func, loopOf(op).body)) changed = true;
    }
  };
  visit(func.body);
  return changed;
}

function askFirst(func: Func, body: Region): boolean {
  const masks = maskedDots(body);
  if (masks.length === 0) return false;
  const users = usersOf(func);
  const replacements = new Map<Value, Value>();
  for (const { select, kept } of masks) {
    const { condition, then } = operandsOf(select);
    const scalars = new ScalarOps(func, select.span);
    const whole = certainly(condition, kept === then, scalars);
    if (whole === undefined) continue;
    const isMasked = scalars.emit("not", [whole], "bool");
    const masked = newOp(func, "select", select.operands, [kept.type], select.span);
    const branch = newOp(func, "if", [isMasked], [kept.type], select.span, {}, [
      {
        params: [],
        ops: [...sunk(users, body, condition, select), masked, end(func, masked, resultOf(masked))],
      },
      { params: [], ops: [end(func, masked, kept)] },
    ]);
    const [result, before] = [resultOf(branch), resultOf(select)];
    if (before.name !== undefined) result.name = before.name;
    replacements.set(before, result);
    body.ops.splice(body.ops.indexOf(select), 1, ...scalars.ops, branch);
  }
  if (replacements.size > 0) replaceUses(func, replacements);
  return replacements.size > 0;
}

const end = (func: Func, { span }: Op, value: Value): Op => newOp(func, "yield", [value], [], span);

/** Selects of a region that keep a result of its dots, or what is computed of one element by element, or put something else. */
function maskedDots(
  { ops }: Region,
): readonly { readonly select: OpOf<"select">; readonly kept: Value }[] {
  const ofDots = new Set<Value>();
  return ops.flatMap((op) => {
    if (op.name === "dot") ofDots.add(resultOf(op));
    if (!hasTrait(op, "elementwise")) return [];
    const result = resultOf(op);
    const from = op.operands.find((one) =>
      ofDots.has(one) && sameShape(one.type.shape, result.type.shape)
    );
    if (from === undefined) return [];
    ofDots.add(result);
    return op.name === "select" && from !== operandsOf(op).condition
      ? [{ select: op, kept: from }]
      : [];
  });
}

/** Takes what only the condition of a select needs out of the region; in order. */
function sunk(
  users: ReadonlyMap<Value, readonly Op[]>,
  body: Region,
  condition: Value,
  select: Op,
): readonly Op[] {
  const taken = new Set<Op>([select]);
  const wanted = new Set<Value>([condition]);
  for (const op of body.ops.slice(0, body.ops.indexOf(select)).reverse()) {
    const isTaken = op.results.some((value) => wanted.has(value)) && isCheap(op) &&
      op.results.every((value) => (users.get(value) ?? []).every((user) => taken.has(user)));
    if (!isTaken) continue;
    taken.add(op);
    op.operands.forEach((value) => wanted.add(value));
  }
  taken.delete(select);
  const ops = body.ops.filter((op) => taken.has(op));
  body.ops = body.ops.filter((op) => !taken.has(op));
  return ops;
}

/** Element by element, of tiles: scalars are also what the question is asked of. */
const isCheap = (op: Op): boolean =>
  resultOf(op).type.shape.length > 0 && rowOf(op).effect === "pure" &&
  (hasTrait(op, "elementwise") || hasTrait(op, "reshapes"));
