/** Where random statements store: each program has its own part of each output. */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { qualified } from "./memory.ts";
import { columnMajor, type ProgramContext, rowMajor } from "./scope.ts";
import { countOf } from "../compiler/tile_index.ts";
import type { BufferSpec, Node, Shape } from "./tree.ts";

/** A type and a shape; large tiles of wide types are rare. */
export function anyDestination(
  cx: ProgramContext,
): { readonly type: ScalarName; readonly shape: Shape } {
  return {
    type: cx.choices.pick(cx.types),
    shape: cx.choices.oneIn(6) ? [] : cx.choices.pick(cx.shapes),
  };
}

/** The first element of the program's part. */
export function ownPart({ programIndex, part }: ProgramContext): string {
  return `${programIndex} * ${part}`;
}

/** An output; `whole` for one that has all of every part. */
export function outputOf(
  cx: ProgramContext,
  type: ScalarName,
  whole = false,
): BufferSpec | undefined {
  const { choices, buffers } = cx;
  const known = buffers.filter((one) =>
    one.type === type && one.name.startsWith("Y") &&
    (!whole || one.length >= cx.part * cx.programs)
  );
  if (known.length > 0 && choices.oneIn(2)) return choices.pick(known);
  if (buffers.length > 11) return known[0];
  const spec: BufferSpec = {
    name: cx.name("Y"),
    type,
    length: cx.part * cx.programs - (whole || choices.oneIn(2) ? 0 : choices.between(1, 200)),
    written: true,
    attributes: choices.pick(["", "", " __noalias", " __aligned(32)", " __writeonly"]),
    ...qualified(cx),
  };
  buffers.push(spec);
  return spec;
}

/** Numberings of a tile's elements that give each its own index. */
export function ownIndices(cx: ProgramContext, shape: Shape): readonly (string | Node)[] {
  const { choices } = cx;
  const count = countOf(shape);
  const room = cx.part / count;
  const strides = choices.pick([rowMajor, rowMajor, columnMajor])(shape);
  const index = cx.indexTile(shape, strides);
  switch (choices.between(0, 5)) {
    case 0:
      return ["(", index, ` ^ ${choices.between(0, count - 1)})`];
    case 1:
      return [`(${count - 1} - `, index, ")"];
    case 2:
      return room > 1 ? ["(", index, ` * ${choices.pick([2, room])})`] : [index];
    case 3:
      return room > 1 ? ["(", index, ` + ${choices.between(0, cx.part - count)})`] : [index];
    default:
      return [index];
  }
}
