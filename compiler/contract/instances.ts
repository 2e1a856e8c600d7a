/**
 * Which instances of a kernel to compile (language.md 10.2, 10.3): its variants, and for each the
 * configurations that the filter lets through. Until configurations are timed, the first one of each
 * variant is compiled and shipped; the others are only checked for being well-formed.
 */
import type { Axis, Binding, OptionSetting, PragmaItem, PragmaText } from "../front/pragma.ts";
import { textMacro } from "../front/macros.ts";
import type { MacroTable } from "../front/preprocess.ts";
import type { Define } from "../options.ts";
import { Reporter } from "../support/diagnostic.ts";
import type { Span } from "../support/source.ts";
import { ArithmeticError, evaluate } from "./expr.ts";
import { type Given, readDefines } from "./given.ts";
import { type SourcedItem, strongestItems } from "./items.ts";
import { type KernelOptions, readOptions } from "./kernel_options.ts";
import { parseContractExpr } from "./parse_expr.ts";
import { deriveVariantName, makeUnique } from "./variant_name.ts";

/** A macro given by the build and where a pragma declares it. */
export interface Parameter {
  readonly name: string;
  readonly kind: "variant" | "config";
  readonly span: Span;
}

/** One kernel with all its compile-time parameters bound. */
export interface InstancePlan {
  readonly kernel: string;
  readonly variant: { readonly name: string; readonly bindings: Readonly<Record<string, string>> };
  readonly config: Readonly<Record<string, string>>;
  readonly options: KernelOptions;
  /** Everything to define, in order. */
  readonly defines: readonly Define[];
  /** Which of its specialisations are compiled from this plan. */
  readonly covers: Coverage;
}

/** A filter may give the specialised instances another configuration than the general one. */
export type Coverage = "all" | "general" | "specialized";

/**
 * In the filter of `configs`, 1 when the configuration of the specialised instances is chosen and 0 when that of
 * the general one is: accesses of one element want other tiles than accesses of 16 bytes.
 */
export const SPECIALIZED_MACRO = "__TRI_SPECIALIZED__";

export interface KernelPlan {
  readonly kernel: string;
  readonly instances: readonly InstancePlan[];
  /** The items that hold for the kernel. */
  readonly items: readonly SourcedItem[];
  readonly parameters: readonly Parameter[];
}

type Bindings = ReadonlyMap<string, string>;

/** Plans one kernel from its items and the `-D`s of the build. */
export function planInstances(
  kernel: string,
  assigned: readonly SourcedItem[],
  defines: readonly Define[],
  reporter: Reporter,
): KernelPlan {
  const items = strongestItems(assigned, reporter);
  const given = readDefines(defines);
  const parameters = declaredParameters(items, reporter);
  checkVariantNames(items, reporter);
  warnReplaced(items, given, reporter);
  const variants = planVariants(items, given);
  const names = makeUnique(
    variants.map(({ name, bindings }) => name ?? deriveVariantName(Object.fromEntries(bindings))),
  );
  const instances = variants.flatMap((variant, index): InstancePlan[] => {
    const base = new Map([...given.single, ...variant.bindings]);
    const general = firstConfig(items, given, base, false, reporter);
    // What is wrong with a filter has been said by now.
    const specialized = firstConfig(items, given, base, true, new Reporter());
    if (general === undefined) {
      reportNoneLeft(items, names[index] ?? "", reporter);
      return [];
    }
    const planOf = (chosen: Config, covers: Coverage): InstancePlan => {
      const bound = new Map([...base, ...chosen.bindings]);
      return {
        kernel,
        variant: { name: names[index] ?? "", bindings: Object.fromEntries(variant.bindings) },
        config: Object.fromEntries(chosen.bindings),
        options: readOptions(settingsOf(items, chosen.options)),
        defines: [...[...bound].map(([name, value]) => ({ name, value })), ...given.undefined],
        covers,
      };
    };
    return specialized === undefined || configKey(specialized) === configKey(general)
      ? [planOf(general, "all")]
      : [planOf(general, "general"), planOf(specialized, "specialized")];
  });
  return { kernel, instances, items, parameters };
}

/** A stand-in for each parameter of a file, to find its kernels before any instance is planned. */
export function firstBindings(
  items: readonly PragmaItem[],
  defines: readonly Define[],
): readonly Define[] {
  const given = readDefines(defines);
  const first = new Map<string, string>();
  for (const item of items) {
    for (const [name, values] of axesOfItem(item)) {
      if (!first.has(name)) first.set(name, values[0] ?? "");
    }
  }
  for (const [name, values] of given.lists) first.set(name, values[0] ?? "");
  for (const [name, value] of given.single) first.set(name, value);
  return [...[...first].map(([name, value]) => ({ name, value })), ...given.undefined];
}

// ---- declarations ---------------------------------------------------------------------------------------

function declaredParameters(
  items: readonly SourcedItem[],
  reporter: Reporter,
): readonly Parameter[] {
  const found = new Map<string, Parameter>();
  /** All `variants` lines multiply, so they are one list; the other items are a list each. */
  const axes = new Map<string, Span>();
  for (const { item } of items) {
    const kind = item.kind === "variant" || item.kind === "variants" ? "variant" : "config";
    const seen = item.kind === "variants" ? axes : new Map<string, Span>();
    for (const { name, span } of namesOf(item)) {
      reportTwice(seen, name, span, `\`${name}\` gets a value twice`, reporter);
      const before = found.get(name);
      if (before === undefined) found.set(name, { name, kind, span });
      else if (before.kind !== kind) {
        reporter.error(
          "E9010",
          span,
          `\`${name}\` is a parameter of both the variants and the configurations`,
          {
            notes: [{ message: "also declared here", span: before.span }],
            hint: "variants are chosen by the caller, configurations by the tuner; decide for one",
          },
        );
      }
    }
  }
  return [...found.values()];
}

/** Two variants of one name could not be told apart in the wrapper. */
function checkVariantNames(items: readonly SourcedItem[], reporter: Reporter): void {
  const seen = new Map<string, Span>();
  for (const { item } of items) {
    if (item.kind !== "variant" || item.name === undefined) continue;
    const { name, span } = item.name;
    reportTwice(seen, name, span, `there are two variants \`${name}\``, reporter);
  }
}

function reportTwice(
  seen: Map<string, Span>,
  name: string,
  span: Span,
  message: string,
  reporter: Reporter,
): void {
  const before = seen.get(name);
  if (before === undefined) seen.set(name, span);
  else {
    reporter.error("E9010", span, message, { notes: [{ message: "the first one", span: before }] });
  }
}

function namesOf(item: PragmaItem): readonly (Binding | Axis)[] {
  switch (item.kind) {
    case "variant":
    case "config":
      return item.bindings;
    case "variants":
    case "configs":
      return item.axes;
    default:
      return [];
  }
}

function axesOfItem(item: PragmaItem): readonly (readonly [string, readonly string[]])[] {
  return namesOf(item).map((
    entry,
  ) => [entry.name, "value" in entry ? [entry.value] : entry.values]);
}

/** A `-D` of a parameter that a pragma gives other values. */
function warnReplaced(items: readonly SourcedItem[], given: Given, reporter: Reporter): void {
  for (const { item } of items) {
    for (const entry of namesOf(item)) {
      const values = "value" in entry ? [entry.value] : entry.values;
      const single = given.single.get(entry.name);
      const instead = given.lists.get(entry.name) ?? (single === undefined ? undefined : [single]);
      if (instead === undefined || instead.join() === values.join()) continue;
      reporter.warn(
        "W9001",
        entry.span,
        `the values of \`${entry.name}\` here are replaced by \`-D${entry.name}=${
          single ?? `[${instead.join(", ")}]`
        }\``,
      );
    }
  }
}

// ---- variants -------------------------------------------------------------------------------------------

interface Variant {
  readonly name: string | undefined;
  readonly bindings: Bindings;
}

/** `variants` lines multiply, each `variant` adds one combination. */
function planVariants(items: readonly SourcedItem[], given: Given): readonly Variant[] {
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

/** The bindings with the values that `-D` gives instead. */
function replaced(bindings: Bindings, given: Given): readonly Bindings[] {
  return product(
    [...bindings].map((
      [name, value],
    ) => [name, given.lists.get(name) ?? [given.single.get(name) ?? value]]),
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

/** All ways to choose one value per axis; the last axis varies fastest. */
function product(axes: readonly (readonly [string, readonly string[]])[]): readonly Bindings[] {
  let found: readonly Bindings[] = [new Map()];
  for (const [name, values] of axes) {
    found = found.flatMap((bindings) =>
      values.map((value) => new Map([...bindings, [name, value]]))
    );
  }
  return found;
}

// ---- configurations -------------------------------------------------------------------------------------

interface Config {
  readonly bindings: Bindings;
  readonly options: readonly OptionSetting[];
  readonly condition?: PragmaText;
}

/** The first configuration that its filter lets through. */
function firstConfig(
  items: readonly SourcedItem[],
  given: Given,
  base: Bindings,
  specialized: boolean,
  reporter: Reporter,
): Config | undefined {
  const known = new Map([...base, [SPECIALIZED_MACRO, specialized ? "1" : "0"]]);
  return planConfigs(items, given, base).find(({ bindings, condition }) =>
    condition === undefined || holds(condition, new Map([...known, ...bindings]), reporter)
  );
}

const configKey = ({ bindings, options }: Config): string =>
  JSON.stringify([[...bindings], options.map(({ name, value }) => [name, value])]);

/** `config` adds one, `configs` its product; lists given by `-D` multiply all of them. */
function planConfigs(
  items: readonly SourcedItem[],
  given: Given,
  base: Bindings,
): readonly Config[] {
  const found: Config[] = [];
  for (const { item } of items) {
    if (item.kind === "config") {
      found.push({
        bindings: new Map(item.bindings.map(({ name, value }) => [name, value])),
        options: item.options,
      });
    } else if (item.kind === "configs") {
      const condition = item.condition === undefined ? {} : { condition: item.condition };
      const settings = optionProduct(item.optionAxes);
      for (const bindings of product(axesOfItem(item))) {
        for (const options of settings) found.push({ bindings, options, ...condition });
      }
    }
  }
  if (found.length === 0) found.push({ bindings: new Map(), options: [] });
  // Parameters of the variant keep the values they have there.
  const extra = [...given.lists].filter(([name]) => !base.has(name));
  return found.flatMap((config) =>
    product(extra.filter(([name]) => !config.bindings.has(name))).flatMap((more) =>
      replaced(config.bindings, given).map((bindings) => ({
        ...config,
        bindings: new Map([...bindings, ...more]),
      }))
    )
  );
}

function optionProduct(axes: readonly Axis[]): readonly (readonly OptionSetting[])[] {
  let found: readonly (readonly OptionSetting[])[] = [[]];
  for (const { name, values, span } of axes) {
    found = found.flatMap((settings) =>
      values.map((value) => [...settings, { name, value, span }])
    );
  }
  return found;
}

/** The options of the file, then of the configuration, then of overrides: later ones win. */
function settingsOf(
  items: readonly SourcedItem[],
  ofConfig: readonly OptionSetting[],
): readonly OptionSetting[] {
  const options = (overridden: boolean): OptionSetting[] =>
    items.flatMap(({ item, origin }) =>
      item.kind === "option" && (origin !== undefined) === overridden ? [item.setting] : []
    );
  return [...options(false), ...ofConfig, ...options(true)];
}

/** A filter with all parameters bound. What cannot be computed lets nothing through, and is reported. */
function holds(condition: PragmaText, bindings: Bindings, reporter: Reporter): boolean {
  const expr = parseContractExpr(condition, {
    macros: macrosOf(bindings),
    params: new Set(),
    what: "parameters given by the build",
  }, reporter);
  if (expr === undefined) return false;
  try {
    return evaluate(expr) !== 0n;
  } catch (error) {
    if (!(error instanceof ArithmeticError)) throw error;
    reporter.error("E5171", condition.span, `this filter cannot be computed: ${error.message}`);
    return false;
  }
}

function macrosOf(bindings: Bindings): MacroTable {
  const silent = new Reporter(); // bad text is reported where the file is preprocessed
  return new Map(
    [...bindings].map(([name, value]) => [name, textMacro(name, value, "define", silent)]),
  );
}

function reportNoneLeft(items: readonly SourcedItem[], variant: string, reporter: Reporter): void {
  const filter = items.find(({ item }) => item.kind === "configs" && item.condition !== undefined)
    ?.item;
  if (filter === undefined || reporter.errorCount > 0) return;
  reporter.error("E9014", filter.span, `no configuration is left for variant \`${variant}\``, {
    hint: "the filter excludes all of them",
  });
}
