/** Smaller cases than one that fails. */
import type { Case } from "./draw.ts";

/** Each differs in one thing: a size nearer to its least, a simpler layout, simpler elements. Smallest first. */
export function* smallerCases(
  one: Case,
  sizes: Readonly<Record<string, readonly [least: number, most: number]>>,
): Generator<Case> {
  for (const [name, [least]] of Object.entries(sizes)) {
    const size = one.sizes[name] ?? least;
    const middle = least + Math.floor((size - least) / 2);
    const smaller = new Set([least, middle, size - Math.ceil((size - middle) / 4), size - 1]);
    for (const next of [...smaller].filter((value) => value >= least && value < size)) {
      yield { ...one, sizes: { ...one.sizes, [name]: next } };
    }
  }
  for (const [name, layout] of Object.entries(one.layouts)) {
    if (layout !== "contiguous") {
      yield { ...one, layouts: { ...one.layouts, [name]: "contiguous" } };
    }
  }
  for (const [name, values] of Object.entries(one.values)) {
    if (values !== "integers") yield { ...one, values: { ...one.values, [name]: "integers" } };
  }
}
