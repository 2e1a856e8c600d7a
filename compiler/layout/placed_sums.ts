/**
 * Results of reductions over warps are read from shared memory in the layout that their users take.
 *
 *     s = reduce x               each warp writes its part; all threads read the parts of 8 results each
 *     t = convert_layout s       threads write one of these, and read it where it is wanted
 *     store p, t           ─▶    store p, reduce x     threads read the parts of what they store
 *
 * The parts are in shared memory anyway, where any thread can read them, and all read them in one order.
 */
import { type Func, newOp, type Op, type OpOf, type Region, type Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { hasTrait } from "../ir/table.ts";
import { replaceUses, usersOf } from "../ir/walk.ts";
import { freeMask, type LinearLayout, product } from "../linear/linear.ts";
import type { Pass, TargetContext } from "../tile/pass.ts";
import { conversionOf, crossesBlocks, partsOfReduction } from "./exchanges.ts";
import { layoutOf, registerCount } from "./tiles.ts";

export const placeSums: Pass<TargetContext> = {
  name: "place-sums",
  doc: "results of reductions over warps are read in the layout that their users take",
  run: (func, { numCtas }) => {
    if (numCtas > 1) return false;
    const users = usersOf(func);
    const replaced = new Map<Value, Value>();
    const visit = (region: Region): void => {
      region.ops.forEach((op) => op.regions.forEach(visit));
      const conversions = region.ops.filter((op) => op.name === "convert_layout");
      for (const conversion of conversions) {
        const { value } = operandsOf(conversion);
        const chain = chainOf(conversion, value, users);
        if (chain?.every((op) => region.ops.includes(op)) !== true) continue;
        place(func, region, chain, layoutOf(resultOf(conversion)));
        replaced.set(resultOf(conversion), value);
        region.ops = region.ops.filter((op) => op !== conversion);
      }
    };
    visit(func.body);
    replaceUses(func, replaced);
    return replaced.size > 0;
  },
};

/** More parts of an element would take a thread longer to read than the conversion. */
const MOST_PARTS = 16;

/** The operations whose results get another layout where a conversion is left out; undefined: it stays. */
function chainOf(
  conversion: OpOf<"convert_layout">,
  value: Value,
  users: ReadonlyMap<Value, readonly Op[]>,
): readonly Op[] | undefined {
  const to = layoutOf(resultOf(conversion));
  if (conversionOf(conversion).kind !== "shared" || freeMask(to.register) !== 0) return undefined;
  const chain: Op[] = [];
  let hasSums = false;
  /** Whether a value that only `user` takes can have the layout. */
  const canHave = (value: Value, user: Op): boolean => {
    const { def } = value;
    if (def === undefined) return false;
    if (isSame(def)) return true;
    if (users.get(value)?.some((one) => one !== user) !== false) return false;
    chain.push(def);
    if (def.name === "reduce") {
      hasSums = true;
      return isInParts(def) && registerCount(value) >= 2 ** to.register.length;
    }
    return hasTrait(def, "elementwise") && def.regions.length === 0 && def.results.length === 1 &&
      def.operands.every((operand) => canHave(operand, def));
  };
  return canHave(value, conversion) && hasSums ? chain : undefined;
}

/** The same in every element. */
const isSame = (op: Op): boolean => op.name === "constant" || op.name === "splat";

/** Whether threads read parts of the results of a reduction. */
function isInParts(op: OpOf<"reduce">): boolean {
  const { parts } = partsOfReduction(op);
  return parts > 1 && parts <= MOST_PARTS && !crossesBlocks(op) &&
    product(resultOf(op).type.shape) > 1;
}

/** Gives the results of operations a layout, and copies of what they take that is the same in every element. */
function place(func: Func, region: Region, chain: readonly Op[], layout: LinearLayout): void {
  for (const op of new Set(chain)) {
    const result = resultOf(op);
    result.type = { ...result.type, layout };
    if (op.name === "reduce") continue;
    op.operands.forEach((operand, i) => {
      const { def, type } = operand;
      if (def === undefined || !isSame(def)) return;
      const copy = newOp(func, def.name, def.operands, [{ ...type, layout }], def.span, def.attrs);
      region.ops.splice(region.ops.indexOf(op), 0, copy);
      op.operands[i] = resultOf(copy);
    });
  }
}
