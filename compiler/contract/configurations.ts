/**
 * The configurations of a kernel (language.md 10.3): `config` adds one, `configs` a product, and a filter says which of them
 * a variant can have.
 */
import type { Axis, Binding, OptionSetting, PragmaItem, PragmaText } from "../front/pragma.ts";
import { textMacro } from "../front/macros.ts";
import { isNumberOption } from "../front/pragma_options.ts";
import type { MacroTable } from "../front/preprocess.ts";
import { Reporter } from "../support/diagnostic.ts";
import { ArithmeticError, evaluate } from "./expr.ts";
import type { Given } from "./given.ts";
import type { SourcedItem } from "./items.ts";
import { parseContractExpr } from "./parse_expr.ts";

/** Values of compile-time parameters, in order. */
export type Bindings = ReadonlyMap<string, string>;

/**
 * In the filter of `configs`, the number of the specialisation whose configuration is chosen: 0 is the general one, 1 the
 * automatic one or that of the first condition. Accesses of one element want other tiles than accesses of 16 bytes, and
 * short rows other tiles than long ones.
 */
export const SPECIALIZED_MACRO = "__TRI_SPECIALIZED__";

/** One choice of what the tuner decides. */
export interface Config {
  readonly bindings: Bindings;
  readonly options: readonly OptionSetting[];
  readonly condition?: PragmaText;
}

/** The configurations that their filters let through, in the order of the text and one by one. */
export function* passingConfigs(
  items: readonly SourcedItem[],
  given: Given,
  base: Bindings,
  specialization: number,
  reporter: Reporter,
): Generator<Config> {
  const known = new Map([...base, [SPECIALIZED_MACRO, `${specialization}`]]);
  for (const config of planConfigs(items, given, base)) {
    const { bindings, condition } = config;
    const all = new Map([...known, ...bindings]);
    if (condition === undefined || holds(condition, all, reporter)) yield config;
  }
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
export function settingsOf(
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

export function reportNoneLeft(
  items: readonly SourcedItem[],
  variant: string,
  reporter: Reporter,
): void {
  const filter = items.find(({ item }) => item.kind === "configs" && item.condition !== undefined)
    ?.item;
  if (filter === undefined || reporter.errorCount > 0) return;
  reporter.error("E9014", filter.span, `no configuration is left for variant \`${variant}\``, {
    hint: "the filter excludes all of them",
  });
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
export function replaced(bindings: Bindings, given: Given): readonly Bindings[] {
  return product(
    [...bindings].map((
      [name, value],
    ) => [name, given.lists.get(name) ?? [given.single.get(name) ?? value]]),
  );
}

/** All ways to choose one value per axis; the last axis varies fastest. */
export function product(
  axes: readonly (readonly [string, readonly string[]])[],
): readonly Bindings[] {
  let found: readonly Bindings[] = [new Map()];
  for (const [name, values] of axes) {
    found = found.flatMap((bindings) =>
      values.map((value) => new Map([...bindings, [name, value]]))
    );
  }
  return found;
}
