/**
 * What masked lanes get instead of memory, the loads themselves give: registers hold it before a load that may not happen, in
 * place of zero, and no element is chosen afterwards.
 *
 *     x = load p, m                       x = load p, m, fill
 *     y = select m, x, fill     ─▶
 *
 * Last of all, since copies of rows and operands fill with zeros.
 */
import { type Func, type Op, type OpOf, type Region, takeNames, type Value } from "../ir/func.ts";
import { madeBy, operandsOf, resultOf } from "../ir/op.ts";
import { countUses, replaceUses } from "../ir/walk.ts";
import { layoutKey } from "../linear/linear.ts";
import { must } from "../support/bug.ts";
import type { Pass, TargetContext } from "../tile/pass.ts";

export const fillLoads: Pass<TargetContext> = {
  name: "fill-loads",
  doc: "loads give masked lanes what the text gives them afterwards",
  run,
};

function run(func: Func): boolean {
  const uses = countUses(func);
  const replacements = new Map<Value, Value>();
  const visit = (region: Region): void => {
    const here = new Set(region.ops);
    for (const op of [...region.ops]) {
      op.regions.forEach(visit);
      const load = op.name === "select" ? filled(op, here, uses) : undefined;
      if (load === undefined || op.name !== "select") continue;
      const fill = operandsOf(op).otherwise;
      const made = must(fill.def, "constant");
      if (here.has(made)) moveBefore(region, made, load);
      load.operands.push(fill);
      region.ops = region.ops.filter((one) => one !== op);
      takeNames(resultOf(load), resultOf(op));
      replacements.set(resultOf(op), resultOf(load));
    }
  };
  visit(func.body);
  if (replacements.size === 0) return false;
  replaceUses(func, replacements);
  return true;
}

/** The load of the same region that can give what this operation gives, which is a constant for masked lanes. */
function filled(
  op: OpOf<"select">,
  here: ReadonlySet<Op>,
  uses: ReadonlyMap<Value, number>,
): OpOf<"load"> | undefined {
  const { condition, then, otherwise } = operandsOf(op);
  const load = madeBy(then, "load");
  const isConstant = otherwise.def?.name === "constant";
  if (load === undefined || !isConstant || !here.has(load) || uses.get(then) !== 1) {
    return undefined;
  }
  const { mask, other, inside } = operandsOf(load);
  // These put together what they give of more than they load.
  const isPlain = load.attrs.in_vectors !== true && load.attrs.words === undefined;
  if (!isPlain || mask !== condition || other !== undefined || inside !== undefined) {
    return undefined;
  }
  const [from, to] = [then.type.layout, resultOf(op).type.layout];
  const isSame = from === undefined || to === undefined
    ? from === to
    : layoutKey(from) === layoutKey(to);
  return isSame ? load : undefined;
}

function moveBefore(region: Region, op: Op, other: Op): void {
  const [from, to] = [region.ops.indexOf(op), region.ops.indexOf(other)];
  if (from < to) return;
  region.ops.splice(from, 1);
  region.ops.splice(to, 0, op);
}
