/**
 * Which instances of a kernel to compile (language.md 10.2, 10.3): its variants, and for each the
 * configurations that the build wants of those that the filter lets through: the first, unless they were timed.
 */
import type { PragmaItem } from "../pragma/pragma.ts";
import type { Configurations, Define } from "../options.ts";
import { OPTION_AXES } from "../pragma/pragma_options.ts";
import type { DiagnosticDetails, Reporter } from "../support/diagnostic.ts";
import type { Span } from "../support/source.ts";
import { chooseConfigs, type Coverage, wantedOf } from "./choose_configs.ts";
import {
  axesOfItem,
  configLabel,
  namesOf,
  optionsOf,
  passingConfigs,
  reportNoneLeft,
} from "./configurations.ts";
import { type CommandLineDefines, readDefines } from "./command_line_defines.ts";
import { strongestItems } from "./items.ts";
import type { SourcedItem } from "../pragma/pragma.ts";
import { type KernelOptions, readOptions } from "./kernel_options.ts";
import { PlanBudget } from "./plan_budget.ts";
import { plannedSpecializations } from "./specialize.ts";
import type { TargetName } from "../targets.ts";
import { planVariants, variantDefines, variantNames } from "./variants.ts";

/** A macro that the build defines, and where a pragma declares it. */
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
  /** Which of its specialisations are compiled from this plan: a filter may select some of them. */
  readonly covers: Coverage;
  /** Where any of them is compiled; never empty. */
  readonly targets: readonly TargetName[];
  /** Its text as a pragma, and what it adds to the names of entries. */
  readonly configuration: { readonly label: string; readonly suffix: string };
}

export interface KernelPlan {
  readonly kernel: string;
  readonly instances: readonly InstancePlan[];
  /** The items that hold for the kernel. */
  readonly items: readonly SourcedItem[];
  readonly parameters: readonly Parameter[];
}

/**
 * Plans one kernel from its items and the `-D`s of the build. `isOwn` says which variants give its definition this name,
 * where a macro names it.
 */
export function planInstances(
  kernel: string,
  assigned: readonly SourcedItem[],
  defines: readonly Define[],
  targets: readonly TargetName[],
  reporter: Reporter,
  configurations?: Configurations,
  isOwn?: (defines: readonly Define[]) => boolean,
  budget = new PlanBudget(),
): KernelPlan {
  const commandLine = readDefines(defines);
  const written = strongestItems(assigned, reporter);
  const items = written.map((one) => withValues(one, commandLine));
  const errors = reporter.errorCount;
  const parameters = declaredParameters(items, reporter);
  checkVariantNames(items, reporter);
  checkSpecialize(items, reporter);
  warnReplaced(written, commandLine, reporter);
  const all = planVariants(items, commandLine);
  const variants = isOwn === undefined
    ? all
    : all.filter(({ bindings }) => isOwn(variantDefines(items, commandLine, bindings)));
  const specializations = plannedSpecializations(items);
  const alike = new Map(specializations.map((one) => [one.name, one.alike]));
  const count = variants.length * specializations.length;
  if (!budget.allowsInstances(count, items[0]?.item.span, reporter)) {
    return { kernel, instances: [], items, parameters };
  }
  const names = variantNames(kernel, variants, all);
  const isForOne = typeof configurations === "object" && "only" in configurations;
  const instances = variants.flatMap((variant, index): InstancePlan[] => {
    const base = new Map([...commandLine.single, ...variant.bindings]);
    const name = names[index] ?? "";
    const left = new Map(
      specializations.map(({ name, bindings, options }, number) => {
        const scope = { base, specialization: number, bindings, options, targets };
        return [name, passingConfigs(items, commandLine, scope, reporter, budget)];
      }),
    );
    const wanted = wantedOf(configurations, kernel, name);
    const { chosen, bare } = chooseConfigs(left, wanted, targets, alike);
    // What a faulty filter leaves is not said, and of several variants one shows the mistake.
    if (bare.length > 0 && !isForOne && reporter.errorCount === errors) {
      reportNoneLeft(items, name, bare, targets, reporter);
    }
    return chosen.map(({ config, covers, suffix }) => {
      const bound = new Map([...base, ...config.bindings]);
      return {
        kernel,
        variant: { name, bindings: Object.fromEntries(variant.bindings) },
        config: Object.fromEntries(config.bindings),
        options: readOptions(config.settings),
        defines: [
          ...[...bound].map(([name, value]) => ({ name, value })),
          ...commandLine.undefined,
        ],
        covers,
        targets: targets.filter((target) =>
          [...covers.values()].some((cover) => cover.targets.includes(target))
        ),
        configuration: { label: configLabel(config), suffix },
      };
    });
  });
  return { kernel, instances, items, parameters };
}

/** A provisional value for each parameter of a file, to find its kernels before any instance is planned. */
export function firstBindings(
  groups: readonly (readonly PragmaItem[])[],
  defines: readonly Define[],
): readonly Define[] {
  const commandLine = readDefines(defines);
  const first = new Map<string, string>();
  for (const items of groups) {
    const variants = new Set<string>();
    for (const item of items) {
      if (item.kind === "variant") {
        // A second variant of the same parameters; what it defines beside them, the first one leaves undefined.
        if (item.bindings.some(({ name }) => variants.has(name))) continue;
        for (const { name } of item.bindings) variants.add(name);
      }
      for (const [name, values] of axesOfItem(item)) {
        if (!first.has(name)) first.set(name, values[0] ?? "");
      }
    }
  }
  for (const [name, values] of commandLine.lists) first.set(name, values[0] ?? "");
  for (const [name, value] of commandLine.single) first.set(name, value);
  return [...[...first].map(([name, value]) => ({ name, value })), ...commandLine.undefined];
}

/** An item with the values that the command line gives the parameter that it is repeated for. */
function withValues(one: SourcedItem, { lists, single }: CommandLineDefines): SourcedItem {
  const { item } = one;
  if (item.kind !== "specialize" || item.over === undefined) return one;
  const { over } = item;
  const value = single.get(over.name);
  const values = lists.get(over.name) ?? (value === undefined ? over.values : [value]);
  return { ...one, item: { ...item, over: { ...over, values } } };
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
    checkOptions(item, reporter);
    const kind = item.kind === "variant" || item.kind === "variants" ? "variant" : "config";
    const seen = item.kind === "variants" ? axes : new Map<string, Span>();
    for (const { name, span } of namesOf(item)) {
      reportTwice(seen, name, span, `\`${name}\` has two values`, reporter);
      const before = found.get(name);
      if (before === undefined) found.set(name, { name, kind, span });
      else if (before.kind !== kind) {
        reporter.error(
          "E9010",
          span,
          `\`${name}\` is a parameter of both the variants and the configurations`,
          {
            notes: [{ message: "also declared here", span: before.span }],
            hint:
              "the caller selects variants, the tuner selects configurations; declare it as one of the two",
          },
        );
      }
    }
  }
  return [...found.values()];
}

/** A line has one value for each of its options: nothing says which of two is meant. */
function checkOptions(item: PragmaItem, reporter: Reporter): void {
  const seen = new Map<string, Span>();
  for (const { name, span } of optionsOf(item)) {
    const more = item.kind !== "specialize" && isAxis(name)
      ? `; in \`configs\`, \`${name} in { … }\` lists several`
      : "";
    const hint = `remove one of them${more}`;
    reportTwice(seen, name, span, `\`${name}\` has two values`, reporter, { hint });
  }
}

const isAxis = (name: string): boolean => OPTION_AXES.some((option) => option === name);

/** A parameter that a line of `specialize` is repeated for has its values from there alone. */
function checkSpecialize(items: readonly SourcedItem[], reporter: Reporter): void {
  const lines = items.flatMap(({ item }) => item.kind === "specialize" ? [item] : []);
  const configured = items.flatMap(({ item }) =>
    item.kind === "config" || item.kind === "configs" ? [...namesOf(item)] : []
  );
  for (const { over } of lines) {
    const same = configured.find(({ name }) => name === over?.name);
    if (over === undefined || same === undefined) continue;
    reporter.error("E9010", same.span, `\`${over.name}\` has its values from \`specialize\``, {
      notes: [{ message: "there", span: over.span }],
      hint: "leave it out of the configurations",
    });
  }
}

/** Two variants of one name would have one name in the wrapper. */
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
  details: DiagnosticDetails = {},
): void {
  const before = seen.get(name);
  if (before === undefined) seen.set(name, span);
  else {
    const notes = [{ message: "the first one", span: before }];
    reporter.error("E9010", span, message, { ...details, notes });
  }
}

/** A `-D` of a parameter that a pragma gives other values. */
function warnReplaced(
  items: readonly SourcedItem[],
  commandLine: CommandLineDefines,
  reporter: Reporter,
): void {
  for (const { item } of items) {
    for (const entry of namesOf(item)) {
      const values = "value" in entry ? [entry.value] : entry.values;
      const single = commandLine.single.get(entry.name);
      const instead = commandLine.lists.get(entry.name) ??
        (single === undefined ? undefined : [single]);
      if (instead === undefined || instead.join() === values.join()) continue;
      reporter.warn(
        "W9001",
        entry.span,
        `the values of \`${entry.name}\` here are overridden by \`-D${entry.name}=${
          single ?? `[${instead.join(", ")}]`
        }\``,
      );
    }
  }
}
