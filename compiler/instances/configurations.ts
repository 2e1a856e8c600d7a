/**
 * The configurations of a kernel (language.md 10.3): `config` adds one, `configs` a product, and a filter says which of them
 * a variant can have.
 */
import type { Axis, Binding, OptionSetting, PragmaItem, PragmaText } from "../pragma/pragma.ts";
import { type Macro, textMacro } from "../preprocess/macros.ts";
import { computedOptions } from "./computed_options.ts";
import { readOptions } from "./kernel_options.ts";
import { isNumberOption } from "../pragma/pragma_options.ts";
import { Reporter } from "../support/diagnostic.ts";
import { ArithmeticError, evaluate } from "../contract/expr.ts";
import type { CommandLineDefines } from "./command_line_defines.ts";
import type { SourcedItem } from "../pragma/pragma.ts";
import { parseUnnamedExpr } from "../contract/parse_expr.ts";
import type { PlanBudget } from "./plan_budget.ts";
import { architectureMacros } from "../preprocess/predefined.ts";
import { ALL_TARGETS, type TargetName } from "../targets.ts";

/** Values of compile-time parameters, in order. */
export type Bindings = ReadonlyMap<string, string>;

/**
 * In the filter of `configs` and in numbers of configurations, the number of the specialisation whose configuration is
 * chosen: 0 is the general one, 1 the automatic one or that of the first condition. Accesses of one element want other
 * tiles and warps than accesses of 16 bytes, and short rows other tiles than long ones.
 */
const SPECIALIZED_MACRO = "__TRI_SPECIALIZED__";

/** One choice of what the tuner decides. */
export interface Config {
  readonly bindings: Bindings;
  readonly options: readonly OptionSetting[];
  readonly condition?: PragmaText;
}

/** A configuration whose parameters are bound, so that all of its options have values. */
export interface BoundConfig extends Config {
  /** The options of the file, its own, and those of overrides: later ones win. */
  readonly settings: readonly OptionSetting[];
}

/** A configuration that a filter lets through. */
export interface PassingConfig {
  readonly config: BoundConfig;
  /** As {@linkcode configLabel} spells it. */
  readonly label: string;
  /** Where; in the order of the build. */
  readonly targets: readonly TargetName[];
  /** Where the specialisation is left out, as its programs are clusters, which these targets do not have. */
  readonly leftOut: readonly TargetName[];
}

/** What filters are evaluated with. */
export interface FilterScope {
  /** Parameters of the variant and of the command line. */
  readonly base: Bindings;
  /** The number of the specialisation, the values of parameters and the options that it brings. */
  readonly specialization: number;
  readonly bindings: Bindings;
  readonly options: readonly OptionSetting[];
  readonly targets: readonly TargetName[];
}

/** The configurations that their filters let through, in the order of the text and one by one. */
export function* passingConfigs(
  items: readonly SourcedItem[],
  commandLine: CommandLineDefines,
  { base, specialization, bindings: brought, options: own, targets }: FilterScope,
  reporter: Reporter,
  budget: PlanBudget,
): Generator<PassingConfig> {
  const known = new Map([...base, [SPECIALIZED_MACRO, `${specialization}`]]);
  const macroOf = macroReader();
  // What is wrong with a filter is said once.
  const ofFilters = specialization === 0 ? reporter : new Reporter();
  const span = items[0]?.item.span;
  for (const written of planConfigs(items, commandLine, base)) {
    const { condition } = written;
    const bindings = new Map([...brought, ...written.bindings]);
    const macros = new Map([...known, ...bindings]);
    const options = computedOptions(withOwn(written.options, own), macros, reporter);
    if (options === undefined) continue;
    // Options of the file are no part of a label, so they do not differ between those with the same parameters.
    const parameters = new Map([...base, ...bindings]);
    const settings = computedOptions(settingsOf(items, options), parameters, reporter);
    if (settings === undefined) continue;
    const config = { ...written, bindings, options, settings };
    const isByTarget = condition !== undefined &&
      (namesArchitecture(condition.text) || [...macros.values()].some(namesArchitecture));
    const passed: TargetName[] = [];
    // A filter that does not name the architecture says the same for all targets.
    for (const target of isByTarget ? targets : targets.slice(0, 1)) {
      if (!budget.allowsConfiguration(condition?.span ?? span, reporter)) return;
      const all = isByTarget
        ? new Map([...macros, ...Object.entries(architectureMacros(ALL_TARGETS[target]))])
        : macros;
      if (condition === undefined || holds(condition, all, macroOf, ofFilters)) passed.push(target);
    }
    if (passed.length === 0) continue;
    const all = isByTarget ? passed : targets;
    const isCluster = specialization > 0 && readOptions(settings).numCtas > 1;
    const leftOut = isCluster ? all.filter((target) => !ALL_TARGETS[target].clusters) : [];
    const left = all.filter((target) => !leftOut.includes(target));
    yield { config, label: configLabel(config), targets: left, leftOut };
  }
}

/** Options of a configuration, of which some are stated otherwise; more follow them. */
function withOwn(
  options: readonly OptionSetting[],
  own: readonly OptionSetting[],
): readonly OptionSetting[] {
  const stated = new Map(own.map((one) => [one.name, one]));
  const names = new Set(options.map(({ name }) => name));
  return [
    ...options.map((one) => stated.get(one.name) ?? one),
    ...[...stated.values()].filter(({ name }) => !names.has(name)),
  ];
}

const ARCHITECTURE_MACROS = Object.keys(architectureMacros({ sm: 0, exact: false }));

function namesArchitecture(text: string): boolean {
  return text.includes("__TRI_ARCH") && ARCHITECTURE_MACROS.some((name) => text.includes(name));
}

/** The configuration as `#pragma tri config` would spell it: `TM=64, TN=64; num_warps=8`. */
export function configLabel({ bindings, options }: Config): string {
  const parameters = [...bindings].map(([name, value]) => `${name}=${tidy(value)}`);
  const settings = options.map(({ name, value }) =>
    value === undefined
      ? name
      : isNumberOption(name)
      ? `${name}=${tidy(value)}`
      : `${name}(${value})`
  );
  return [parameters, settings].map((list) => list.join(", ")).join("; ").replace(/; $/, "");
}

const tidy = (text: string): string => text.trim().replace(/\s+/g, " ");

/** `config` adds one, `configs` its product; lists from `-D` multiply all of them. */
function* planConfigs(
  items: readonly SourcedItem[],
  commandLine: CommandLineDefines,
  base: Bindings,
): Generator<Config> {
  // Parameters of the variant keep the values they have there.
  const extra = [...commandLine.lists].filter(([name]) => !base.has(name));
  for (const config of writtenConfigs(items)) {
    for (const more of product(extra.filter(([name]) => !config.bindings.has(name)))) {
      for (const bindings of replaced(config.bindings, commandLine)) {
        yield { ...config, bindings: new Map([...bindings, ...more]) };
      }
    }
  }
}

/** As the text lists them; one without parameters where it lists none. */
function* writtenConfigs(items: readonly SourcedItem[]): Generator<Config> {
  let isListed = false;
  for (const { item } of items) {
    if (item.kind === "config") {
      isListed = true;
      const bindings = new Map(item.bindings.map(({ name, value }) => [name, value]));
      yield { bindings, options: item.options };
    } else if (item.kind === "configs") {
      isListed = true;
      const condition = item.condition === undefined ? {} : { condition: item.condition };
      const axes = item.optionAxes.map(({ name, values, span }) =>
        values.map((value): OptionSetting => ({ name, value, span }))
      );
      for (const bindings of product(axesOfItem(item))) {
        for (const options of choices(axes)) yield { bindings, options, ...condition };
      }
    }
  }
  if (!isListed) yield { bindings: new Map(), options: [] };
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
function holds(
  condition: PragmaText,
  bindings: Bindings,
  macroOf: (name: string, value: string) => Macro,
  reporter: Reporter,
): boolean {
  const expr = parseUnnamedExpr(condition, {
    macros: new Map([...bindings].map(([name, value]) => [name, macroOf(name, value)])),
    params: new Set(),
    what: "parameters given by the build",
  }, reporter);
  if (expr === undefined) return false;
  try {
    return evaluate(expr) !== 0n;
  } catch (error) {
    if (!(error instanceof ArithmeticError)) throw error;
    reporter.error("E5171", condition.span, `this filter cannot be evaluated: ${error.message}`);
    return false;
  }
}

/** Values as macros, each read once: a filter is asked about thousands of combinations of few values. */
function macroReader(): (name: string, value: string) => Macro {
  const silent = new Reporter(); // bad text is reported where the file is preprocessed
  const known = new Map<string, Macro>();
  return (name, value) => {
    const key = `${name}=${value}`;
    const macro = known.get(key) ?? textMacro(name, value, "define", silent);
    known.set(key, macro);
    return macro;
  };
}

/** `bare`: those of the targets that are without a configuration. */
export function reportNoneLeft(
  items: readonly SourcedItem[],
  variant: string,
  bare: readonly TargetName[],
  targets: readonly TargetName[],
  reporter: Reporter,
): void {
  const filters = items.flatMap(({ item }) =>
    item.kind === "configs" && item.condition !== undefined
      ? [{ span: item.span, text: item.condition.text }]
      : []
  );
  const filter = filters.find(({ text }) => namesArchitecture(text)) ?? filters[0];
  if (filter === undefined) return;
  if (bare.length === targets.length) {
    reporter.error("E9014", filter.span, `no configuration is left for variant \`${variant}\``, {
      hint: "the filter excludes all of them",
    });
    return;
  }
  reporter.error(
    "E9015",
    filter.span,
    `no configuration is left for variant \`${variant}\` on ${bare.join(", ")}`,
    {
      hint:
        "add a configuration for these targets, or build for others with `--arch`: each variant has one on every target",
    },
  );
}

// ---- lists of values ------------------------------------------------------------------------------------

export function namesOf(item: PragmaItem): readonly (Binding | Axis)[] {
  switch (item.kind) {
    case "variant":
    case "config":
      return item.bindings;
    case "variants":
    case "configs":
      return item.axes;
    case "specialize":
      return item.over === undefined ? [] : [item.over];
    default:
      return [];
  }
}

/** The options that a line states for its instances. */
export function optionsOf(item: PragmaItem): readonly (OptionSetting | Axis)[] {
  switch (item.kind) {
    case "config":
    case "specialize":
      return item.options;
    case "configs":
      return item.optionAxes;
    default:
      return [];
  }
}

export function axesOfItem(item: PragmaItem): readonly (readonly [string, readonly string[]])[] {
  return namesOf(item).map((
    entry,
  ) => [entry.name, "value" in entry ? [entry.value] : entry.values]);
}

/** The bindings with the values that `-D` gives instead. */
export function replaced(bindings: Bindings, commandLine: CommandLineDefines): Iterable<Bindings> {
  return product(
    [...bindings].map((
      [name, value],
    ) => [name, commandLine.lists.get(name) ?? [commandLine.single.get(name) ?? value]]),
  );
}

/** All ways to choose one value per axis; the last axis varies fastest. */
export function* product(
  axes: readonly (readonly [string, readonly string[]])[],
): Generator<Bindings> {
  const pairs = axes.map(([name, values]) => values.map((value) => [name, value] as const));
  for (const chosen of choices(pairs)) yield new Map(chosen);
}

/** All ways to choose one entry of each list, one by one, as there may be more than memory holds. */
function* choices<T>(lists: readonly (readonly T[])[]): Generator<readonly T[]> {
  if (lists.some((list) => list.length === 0)) return;
  const at = lists.map(() => 0);
  for (;;) {
    yield lists.flatMap((list, i) => list.slice(at[i], (at[i] ?? 0) + 1));
    let last = lists.length - 1;
    for (; last >= 0; last--) {
      const next = (at[last] ?? 0) + 1;
      at[last] = next < (lists[last]?.length ?? 0) ? next : 0;
      if (at[last] !== 0) break;
    }
    if (last < 0) return;
  }
}
