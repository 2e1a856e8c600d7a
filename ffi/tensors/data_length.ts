/** How much data a tensor takes from the host. */
import { ArgumentError } from "../errors.ts";
import { overlapsItself } from "./self_overlap.ts";
import { listed, spanElements } from "./shape.ts";

/** Where the elements of a tensor lie in its memory. */
export interface Layout {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

/** Data of a tensor has its elements and, where strides are given, at least the gaps between them. */
export function checkLength(length: number, { shape, strides }: Layout, isStrided: boolean): void {
  const needed = spanElements(shape, strides);
  const mayBeLonger = isStrided && length > needed && !overlapsItself(shape, strides);
  if (length === needed || mayBeLonger) return;
  const isShared = isStrided && length > needed;
  const least = isStrided && !isShared ? "at least " : "";
  const layout = isStrided ? ` with strides ${listed(strides)}` : "";
  throw new ArgumentError(
    {
      argument: "data",
      expected: `${least}${needed} elements for shape ${listed(shape)}${layout}`,
      actual: `${length}`,
    },
    isShared
      ? { hint: "several elements of such a tensor share memory, and data is that memory" }
      : {},
  );
}
