/**
 * Dots of warp groups whose left operand threads compute in registers, element by element, from a box of a tensor:
 * `(half[M, K])w * s @ b`. Each thread reads from the slot of the box what its fragments need, so that nothing that is computed
 * goes through shared memory, and the operand of one instruction is computed while others are under way. A dot whose
 * right operand is computed so is turned first (turn_dots.ts).
 */
import { type Func, isOp, type Op, type OpOf, type Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { hasTrait } from "../../ir/table.ts";
import { bytesOf } from "../../ir/types.ts";
import { walkOps } from "../../ir/walk.ts";
import type { LinearLayout } from "../../linear/linear.ts";
import type { Target } from "../../targets.ts";
import { dividesGroups, groupType, isBox } from "../warp_group.ts";
import {
  type ComputedTile,
  computedTile,
  layoutBefore,
  layoutOfTile,
  renamesRegisters,
} from "./computed_tile.ts";

/** Columns of an instruction, at least. */
const LEAST_COLUMNS = 8;

/** Whether warp groups can do a dot with a computed so; `bAlongK`: b lies along k. */
export function suitsComputedLeft(
  dot: OpOf<"dot">,
  numWarps: number,
  target: Target,
  bAlongK: boolean,
): boolean {
  const { a, b } = operandsOf(dot);
  const [m = 0] = a.type.shape;
  return suits(dot, [m, b.type.shape[1] ?? 0], numWarps, target, bAlongK);
}

/** The same for the dot turned. */
export function suitsComputedRight(
  dot: OpOf<"dot">,
  numWarps: number,
  target: Target,
  aAlongK: boolean,
): boolean {
  const { a, b } = operandsOf(dot);
  const [m = 0] = a.type.shape;
  return suits(dot, [b.type.shape[1] ?? 0, m], numWarps, target, aAlongK);
}

function suits(
  dot: OpOf<"dot">,
  extents: readonly [number, number],
  numWarps: number,
  target: Target,
  isAlongK: boolean,
): boolean {
  const least = isAlongK ? LEAST_COLUMNS : undefined;
  return groupType(operandsOf(dot).a)?.isEitherOrder === true &&
    dividesGroups(dot, extents, numWarps, target, () => true, least);
}

/** Whether a dot's left operand is computed from a box, and the other one is a box. */
export function isComputedLeft(dot: OpOf<"dot">): boolean {
  const { a, b } = operandsOf(dot);
  return isBox(b) && computedTile(a)?.load.name === "tensor_load";
}

/** How a box lies that threads compute a left operand from: along k, or across it, with so many bytes of an element. */
export type ComputedLeft = "along k" | { readonly acrossBytes: number };

/** How the box of such a dot lies; undefined for other dots. */
export function computedLeftOf(
  dot: OpOf<"dot">,
  maps: Func["maps"],
): ComputedLeft | undefined {
  const found = isComputedLeft(dot) ? computedTile(operandsOf(dot).a) : undefined;
  if (!isOp(found?.load, "tensor_load")) return undefined;
  const inner = maps[found.load.attrs.map]?.axes[0]?.tile;
  return depthOfTile(found, 1) === inner
    ? "along k"
    : { acrossBytes: bytesOf(resultOf(found.load).type.element) };
}

/** The axis of a tile that an axis of the operand is. */
function depthOfTile({ permutations }: ComputedTile, axis: number): number {
  return permutations.reduce((at, { attrs: { order } }) => order[at] ?? at, axis);
}

/** The same of its right operand. */
export function isComputedRight(dot: OpOf<"dot">): boolean {
  const { a, b } = operandsOf(dot);
  return isBox(a) && computedTile(b)?.load.name === "tensor_load";
}

/** The layouts of boxes that left operands are computed from, and of tiles that are made of them: those of the operands. */
export function computedBoxes(
  { body }: Func,
  operandLayout: (dot: OpOf<"dot">) => LinearLayout,
): ReadonlyMap<Op, () => LinearLayout> {
  const found = new Map<Op, () => LinearLayout>();
  walkOps(body, (op) => {
    if (op.name !== "dot" || !isComputedLeft(op)) return;
    const tile = computedTile(operandsOf(op).a);
    if (tile === undefined) return;
    found.set(tile.load, () => layoutOfTile(tile, operandLayout(op)));
    for (const [shaped, shapings] of tile.shaped) {
      if (shaped.name === "expand_dims") continue;
      found.set(shaped, () => layoutBefore(tile.permutations, shapings, operandLayout(op)));
    }
  });
  return found;
}

/** Loads of vectors that are spread over left operands that are computed from boxes. */
export function vectorsOfLeft({ body }: Func): ReadonlySet<Op> {
  const found = new Set<Op>();
  walkOps(body, (op) => {
    if (op.name !== "dot" || !isComputedLeft(op)) return;
    for (const load of vectorsOf(operandsOf(op).a)) found.add(load);
  });
  return found;
}

/** Loads of what is spread over an operand that is computed from a tile. */
export function vectorsOf(operand: Value): readonly (OpOf<"load"> | OpOf<"tensor_load">)[] {
  const tile = computedTile(operand)?.load;
  const found: (OpOf<"load"> | OpOf<"tensor_load">)[] = [];
  const queue = [operand];
  const seen = new Set<Value>();
  for (let value = queue.pop(); value !== undefined; value = queue.pop()) {
    const { def } = value;
    if (def === undefined || def === tile || seen.has(value)) continue;
    seen.add(value);
    if (isOp(def, "load") || isOp(def, "tensor_load")) found.push(def);
    else if (isPassing(def)) queue.push(...def.operands);
  }
  return found;
}

/** Whether an operation of an operand's computation gives each element of its own what it takes of one. */
const isPassing = (op: Op): boolean =>
  hasTrait(op, "elementwise") || hasTrait(op, "reshapes") || renamesRegisters(op);

/** Whether all that is made of a value goes to an operand of a dot. */
export function leadsOnlyTo(
  dot: OpOf<"dot">,
  value: Value,
  users: ReadonlyMap<Value, readonly Op[]>,
): boolean {
  return (users.get(value) ?? []).every((op) =>
    op === dot ||
    (isPassing(op) && op.results.every((result) => leadsOnlyTo(dot, result, users)))
  );
}
