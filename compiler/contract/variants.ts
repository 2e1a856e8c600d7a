/** The variants of a kernel (language.md 10.3): what callers choose between, and their names. */
import { scalarOfWords } from "../front/type_spelling.ts";
import type { Define } from "../options.ts";
import { axesOfItem, type Bindings, product, replaced } from "./configurations.ts";
import type { Given } from "./given.ts";
import type { SourcedItem } from "./items.ts";
import { deriveVariantName, makeUnique } from "./variant_name.ts";

/** One choice of the parameters that a caller sees. */
export interface Variant {
  /** As the pragma names it. */
  readonly name: string | undefined;
  readonly bindings: Bindings;
}

/** `variants` lines multiply, each `variant` adds one combination. */
export function planVariants(items: readonly SourcedItem[], given: Given): readonly Variant[] {
  const axes: (readonly [string, readonly string[]])[] = [];
  const single: Variant[] = [];
  for (const { item } of items) {
    if (item.kind === "variants") axes.push(...axesOfItem(item));
    if (item.kind === "variant") {
      single.push({
        name: item.name?.name,
        bindings: new Map(item.bindings.map(({ name, value }) => [name, value])),
      });
    }
  }
  const products = axes.length === 0
    ? []
    : product(axes).map((bindings) => ({ name: undefined, bindings }));
  const all: readonly Variant[] = [...products, ...single];
  return distinct(
    (all.length === 0 ? [{ name: undefined, bindings: new Map() }] : all).flatMap((variant) =>
      replaced(variant.bindings, given).map((bindings) => ({ ...variant, bindings }))
    ),
  );
}

function distinct<
  Entry extends { readonly bindings: Bindings; readonly name?: string | undefined },
>(
  entries: readonly Entry[],
): readonly Entry[] {
  return [
    ...new Map(entries.map((entry) => [JSON.stringify([entry.name, ...entry.bindings]), entry]))
      .values(),
  ];
}

/** What a file is preprocessed with for a variant, in its first configuration. */
export function variantDefines(
  items: readonly SourcedItem[],
  given: Given,
  bindings: Bindings,
): readonly Define[] {
  const bound = new Map<string, string>();
  for (const { item } of items) {
    if (item.kind !== "config" && item.kind !== "configs") continue;
    for (const [name, [value = ""]] of axesOfItem(item)) {
      if (!bound.has(name)) bound.set(name, value);
    }
  }
  for (const [name, [value = ""]] of given.lists) bound.set(name, value);
  for (const [name, value] of [...given.single, ...bindings]) bound.set(name, value);
  return [...[...bound].map(([name, value]) => ({ name, value })), ...given.undefined];
}

/**
 * The names of a kernel's variants. `all` are those of its definition, which other kernels share where a macro names
 * them: what only tells the kernels apart (the macro of the name) tells no variants apart.
 */
export function variantNames(
  kernel: string,
  variants: readonly Variant[],
  all: readonly Variant[],
): readonly string[] {
  const valuesOf = (among: readonly Variant[], name: string): number =>
    new Set(among.map(({ bindings }) => bindings.get(name))).size;
  return makeUnique(variants.map(({ name, bindings }) => {
    if (name !== undefined) return name;
    const telling = [...bindings].filter(([parameter, value]) =>
      value.trim() !== kernel &&
      (valuesOf(variants, parameter) > 1 || valuesOf(all, parameter) === 1 || isElementType(value))
    );
    return deriveVariantName(Object.fromEntries(telling));
  }));
}

const isElementType = (value: string): boolean =>
  scalarOfWords(value.trim().split(/\s+/)) !== undefined;
