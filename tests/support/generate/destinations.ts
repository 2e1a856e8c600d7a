/** Where random statements store: each program has its own part of each output. */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { qualified } from "./memory.ts";
import { columnMajor, rowMajor, type Workshop } from "./scope.ts";
import { countOf } from "../tile_index.ts";
import type { BufferSpec, Node, Shape } from "./tree.ts";

/** A type and a shape; large tiles of wide types are rare. */
export function anyDestination(
  shop: Workshop,
): { readonly type: ScalarName; readonly shape: Shape } {
  return {
    type: shop.dice.pick(shop.types),
    shape: shop.dice.oneIn(6) ? [] : shop.dice.pick(shop.shapes),
  };
}

/** The first element of the program's part. */
export function ownPart({ programIndex, part }: Workshop): string {
  return `${programIndex} * ${part}`;
}

/** An output; `whole` for one that has all of every part. */
export function outputOf(
  shop: Workshop,
  type: ScalarName,
  whole = false,
): BufferSpec | undefined {
  const { dice, buffers } = shop;
  const known = buffers.filter((one) =>
    one.type === type && one.name.startsWith("Y") &&
    (!whole || one.length >= shop.part * shop.programs)
  );
  if (known.length > 0 && dice.oneIn(2)) return dice.pick(known);
  if (buffers.length > 11) return known[0];
  const spec: BufferSpec = {
    name: shop.name("Y"),
    type,
    length: shop.part * shop.programs - (whole || dice.oneIn(2) ? 0 : dice.between(1, 200)),
    written: true,
    attributes: dice.pick(["", "", " __noalias", " __aligned(32)", " __writeonly"]),
    ...qualified(shop),
  };
  buffers.push(spec);
  return spec;
}

/** Numberings of a tile's elements that give each its own index. */
export function ownIndices(shop: Workshop, shape: Shape): readonly (string | Node)[] {
  const { dice } = shop;
  const count = countOf(shape);
  const room = shop.part / count;
  const strides = dice.pick([rowMajor, rowMajor, columnMajor])(shape);
  const index = shop.indexTile(shape, strides);
  switch (dice.between(0, 5)) {
    case 0:
      return ["(", index, ` ^ ${dice.between(0, count - 1)})`];
    case 1:
      return [`(${count - 1} - `, index, ")"];
    case 2:
      return room > 1 ? ["(", index, ` * ${dice.pick([2, room])})`] : [index];
    case 3:
      return room > 1 ? ["(", index, ` + ${dice.between(0, shop.part - count)})`] : [index];
    default:
      return [index];
  }
}
