/**
 * Loads of an operand of a dot that a loop does for its next iteration, as kernels did that prefetched by themselves, are done
 * by the iteration that uses them:
 *
 *     a = load p, rk < K                          while … (p, k)
 *     while … (a, p, k)                             a = load p, rk < k
 *       sum += a @ b                       ─▶       sum += a @ b
 *       p, k = p + step, k - step                   p, k = p + step, k - step
 *       a = load p, rk < k
 *
 * Then the loop's operands are loads like others: passes for targets copy them ahead, as far as there is shared memory, and
 * find their views. The loads are the same, but for that of the last iteration, which nothing uses.
 */
import { loopOf } from "../ir/flow.ts";
import { type Func, newOp, type Op, type OpOf, type Region, type Value } from "../ir/func.ts";
import { madeBy, operandsOf, resultOf } from "../ir/op.ts";
import { rowOf } from "../ir/table.ts";
import { countUses, replaceUses, usersOf, walkOps } from "../ir/walk.ts";
import { JoinedValues } from "./joined_values.ts";
import type { PlainPass } from "./pass.ts";

export const lateLoads: PlainPass = {
  name: "late-loads",
  doc: "loops load operands of dots in the iteration that uses them, not in the one before",
  run,
};

function run(func: Func): boolean {
  let changed = false;
  const visit = (region: Region): void => {
    for (const op of [...region.ops]) {
      op.regions.forEach(visit);
      if (op.name === "while" && delay(func, region, op)) changed = true;
    }
  };
  visit(func.body);
  return changed;
}

/** A tile that a loop carries from one iteration to the next, and the loads that it comes from. */
interface LoadedAhead {
  readonly inBody: Value;
  readonly first: OpOf<"load">;
  readonly next: OpOf<"load">;
}

/** Delays the loads of one loop of a region. */
function delay(func: Func, region: Region, op: OpOf<"while">): boolean {
  const ahead = writes(op) ? [] : loadedAhead(func, region, op);
  if (ahead.length === 0) return false;
  const joined = new JoinedValues(func, op);
  const replacements = new Map<Value, Value>();
  const loads: Op[] = [];
  for (const { inBody, first, next } of ahead) {
    const [before, after] = [operandsOf(first), operandsOf(next)];
    const pointer = joined.join(before.pointer, after.pointer);
    const masks = pointer && joined.joinMasks(before.mask, after.mask, next.span);
    if (pointer === undefined || masks === undefined) continue;
    const operands = masks.mask === undefined ? [pointer] : [pointer, masks.mask];
    const load = newOp(func, "load", operands, [inBody.type], next.span, next.attrs);
    if (inBody.name !== undefined) resultOf(load).name = inBody.name;
    loads.push(load);
    replacements.set(inBody, resultOf(load));
  }
  if (loads.length === 0) return false;
  replaceUses(func, replacements);
  loopOf(op).body.ops.unshift(...loads);
  joined.insert();
  region.ops.splice(region.ops.indexOf(op), 0, ...joined.before);
  return true;
}

/** The tiles that are loaded before the loop, and in each iteration for the next one, for dots alone. */
function loadedAhead(func: Func, region: Region, op: OpOf<"while">): readonly LoadedAhead[] {
  const { test, body, initial, repeated, leaving } = loopOf(op);
  // Most loops load nothing for the next iteration, and need not know of all uses.
  if (!repeated.some((value) => madeBy(value, "load") !== undefined)) return [];
  const [uses, users] = [countUses(func), usersOf(func)];
  const isOfDots = (value: Value): boolean =>
    (users.get(value) ?? []).every((user) =>
      user.name === "dot" || (user.name === "permute" && isOfDots(resultOf(user)))
    );
  return body.params.flatMap((inBody, at) => {
    const entering = leaving[at];
    const index = entering === undefined ? -1 : test.params.indexOf(entering);
    const [first, next] = [madeBy(initial[index], "load"), madeBy(repeated[index], "load")];
    const result = op.results[at];
    if (first === undefined || next === undefined || result === undefined) return [];
    const isAhead = region.ops.includes(first) && body.ops.includes(next) &&
      isAlone(uses, resultOf(first)) && isAlone(uses, resultOf(next)) &&
      entering !== undefined && isAlone(uses, entering) && !uses.has(result) && uses.has(inBody) &&
      isOfDots(inBody);
    return isAhead && isPlain(first) && isPlain(next) && !writesBetween(region, first, op)
      ? [{ inBody, first, next }]
      : [];
  });
}

const isAlone = (uses: ReadonlyMap<Value, number>, value: Value): boolean => uses.get(value) === 1;

const isPlain = (load: OpOf<"load">): boolean =>
  load.attrs.modifiers.length === 0 && operandsOf(load).other === undefined;

/** Whether an operation, without those in it, may change memory, or wait for others that do. */
function writesItself(op: Op): boolean {
  const { effect } = rowOf(op);
  return effect === "write" || effect === "sync";
}

/** The same with those in it. */
function writes(op: Op): boolean {
  let found = writesItself(op);
  for (const region of op.regions) walkOps(region, (inner) => found ||= writesItself(inner));
  return found;
}

function writesBetween({ ops }: Region, from: Op, to: Op): boolean {
  return ops.slice(ops.indexOf(from), ops.indexOf(to)).some(writes);
}
