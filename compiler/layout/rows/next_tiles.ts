/**
 * Whether the programs before and after one along an axis of the grid read what lies beside its tile, along an axis of the
 * tile: so that it is there, and a program may read of it what it does not need (word_rows.ts).
 *
 * They do if every program has a load, whose tiles follow each other: the index along the axis starts at the number of the
 * program times the tile's extent, and nothing else of addresses and mask depends on that number, or on memory.
 */
import type { Func, OpOf } from "../../ir/func.ts";
import { constantOf, madeBy, operandsOf } from "../../ir/op.ts";
import { TILE_OPS } from "../../ir/ops.ts";
import type { RowIndex } from "./row_bounds.ts";

/** The axis of the grid along which tiles follow each other; undefined if they do not. */
export function nextTiles(
  func: Func,
  load: OpOf<"load">,
  index: RowIndex,
): { readonly gridAxis: number } | undefined {
  const isInAll = func.body.ops.includes(load) &&
    func.body.ops.every(({ name }) => name !== "leave");
  const program = isInAll && index.first === 0n ? tileNumber(index) : undefined;
  if (program === undefined) return undefined;
  const gridAxis = program.attrs.axis;
  const { pointer, mask } = operandsOf(load);
  const seen = new Set(mask === undefined ? [pointer] : [pointer, mask]);
  // A set is iterated over what is added meanwhile.
  for (const value of seen) {
    if (value === index.value) continue;
    const { def } = value;
    if (def === undefined) {
      if (!func.params.includes(value)) return undefined;
      continue;
    }
    const isOther = def.name !== "program_id" || def.attrs.axis !== gridAxis;
    if (!isOther || TILE_OPS[def.name].effect !== "pure") return undefined;
    for (const operand of def.operands) seen.add(operand);
  }
  return { gridAxis };
}

/** The number of the program, where an index starts at that times its extent. */
function tileNumber({ value, start }: RowIndex): OpOf<"program_id"> | undefined {
  const product = madeBy(start, "mul");
  if (product === undefined) return undefined;
  const { left, right } = operandsOf(product);
  const extent = BigInt(value.type.shape[0] ?? 0);
  for (const [number, factor] of [[left, right], [right, left]] as const) {
    if (constantOf(factor) === extent) return madeBy(number, "program_id");
  }
  return undefined;
}
