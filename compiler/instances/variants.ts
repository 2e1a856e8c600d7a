/** The variants of a kernel (language.md 10.3): what callers choose between, and their names. */
import { scalarOfWords } from "../preprocess/type_spelling.ts";
import type { Define } from "../options.ts";
import { axesOfItem, type Bindings, product, replaced } from "./configurations.ts";
import type { CommandLineDefines } from "./command_line_defines.ts";
import type { SourcedItem } from "../pragma/pragma.ts";
import { MAX_INSTANCES } from "./plan_budget.ts";
import { deriveVariantName, makeUnique } from "./variant_name.ts";

/** One choice of the parameters that a caller sees. */
export interface Variant {
  /** As the pragma names it. */
  readonly name: string | undefined;
  readonly bindings: Bindings;
}

/** `variants` lines multiply, each `variant` adds one combination; one more than there may be at most. */
export function planVariants(
  items: readonly SourcedItem[],
  commandLine: CommandLineDefines,
): readonly Variant[] {
  const found = new Map<string, Variant>();
  for (const { name, bindings: written } of writtenVariants(items, commandLine)) {
    for (const bindings of replaced(written, commandLine)) {
      const key = JSON.stringify([name, ...bindings]);
      if (!found.has(key)) found.set(key, { name, bindings });
      if (found.size > MAX_INSTANCES) return [...found.values()];
    }
  }
  return [...found.values()];
}

/** As the text lists them; one without parameters where it lists none. */
function* writtenVariants(
  items: readonly SourcedItem[],
  commandLine: CommandLineDefines,
): Generator<Variant> {
  const axes = distinctAxes(items, commandLine);
  const single = items.flatMap(({ item }): Variant[] =>
    item.kind !== "variant" ? [] : [{
      name: item.name?.name,
      bindings: new Map(item.bindings.map(({ name, value }) => [name, value])),
    }]
  );
  if (axes.length > 0 || single.length === 0) {
    for (const bindings of product(axes)) yield { name: undefined, bindings };
  }
  yield* single;
}

/**
 * The parameters of `variants` lines with their values, each once: combinations that come to the same would multiply all
 * the same. Of a parameter that has two lists (an error, reported by instances.ts) the last one counts, and what the command
 * line replaces has one value.
 */
function distinctAxes(
  items: readonly SourcedItem[],
  { single, lists }: CommandLineDefines,
): [string, readonly string[]][] {
  const axes = new Map(
    items.flatMap(({ item }) => item.kind === "variants" ? axesOfItem(item) : []),
  );
  const distinct: [string, readonly string[]][] = [];
  let combinations = 1;
  for (const [name, all] of axes) {
    const values = single.has(name) || lists.has(name) ? all.slice(0, 1) : [...new Set(all)];
    distinct.push([name, values]);
    combinations *= values.length;
    // The plan is refused, whatever follows: each combination of thousands of parameters would only take time.
    if (combinations > MAX_INSTANCES) break;
  }
  return distinct;
}

/** What a file is preprocessed with for a variant, in its first configuration. */
export function variantDefines(
  items: readonly SourcedItem[],
  commandLine: CommandLineDefines,
  bindings: Bindings,
): readonly Define[] {
  const bound = new Map<string, string>();
  for (const { item } of items) {
    if (item.kind !== "config" && item.kind !== "configs") continue;
    for (const [name, [value = ""]] of axesOfItem(item)) {
      if (!bound.has(name)) bound.set(name, value);
    }
  }
  for (const [name, [value = ""]] of commandLine.lists) bound.set(name, value);
  for (const [name, value] of [...commandLine.single, ...bindings]) bound.set(name, value);
  return [...[...bound].map(([name, value]) => ({ name, value })), ...commandLine.undefined];
}

/**
 * The names of a kernel's variants. `all` are those of its definition, which other kernels share where a macro names
 * them: what only distinguishes kernels (the macro of the name) distinguishes no variants.
 */
export function variantNames(
  kernel: string,
  variants: readonly Variant[],
  all: readonly Variant[],
): readonly string[] {
  const counter = (among: readonly Variant[]): (name: string) => number => {
    const counts = new Map<string, number>();
    return (name) => {
      const count = counts.get(name) ??
        new Set(among.map(({ bindings }) => bindings.get(name))).size;
      counts.set(name, count);
      return count;
    };
  };
  const [valuesHere, valuesOfAll] = [counter(variants), counter(all)];
  return makeUnique(variants.map(({ name, bindings }) => {
    if (name !== undefined) return name;
    const telling = [...bindings].filter(([parameter, value]) =>
      value.trim() !== kernel &&
      (valuesHere(parameter) > 1 || valuesOfAll(parameter) === 1 || isElementType(value))
    );
    return deriveVariantName(Object.fromEntries(telling));
  }));
}

const isElementType = (value: string): boolean =>
  scalarOfWords(value.trim().split(/\s+/)) !== undefined;
