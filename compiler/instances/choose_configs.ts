/**
 * Which configurations of a variant become entries. Usually the first that the filter leaves for each specialisation and
 * target; a build of tuned kernels requests more.
 */
import type { ConfigurationChoice, Configurations } from "../options.ts";
import type { TargetName } from "../targets.ts";
import type { BoundConfig, PassingConfig } from "./configurations.ts";
import { AUTOMATIC_SUFFIX } from "../pragma/specialize_rows.ts";
import { makeUnique } from "./variant_name.ts";

/** Which specialisations are compiled from a plan, by name. */
export type Coverage = ReadonlyMap<string, Cover>;

/** A specialisation with a configuration. */
export interface Cover {
  /** Where it has this configuration. */
  readonly targets: readonly TargetName[];
  /** The configuration's place among those of the specialisation: a target's default is its first. */
  readonly rank: number;
}

/** A configuration that a variant gets entries of. */
export interface ChosenConfig {
  readonly config: BoundConfig;
  readonly covers: Coverage;
  /** What it adds to the names of its entries; empty for the first one. */
  readonly suffix: string;
}

/** What a variant gets. */
export interface Choices {
  readonly chosen: readonly ChosenConfig[];
  /** Targets for which the filter leaves nothing. */
  readonly bare: readonly TargetName[];
}

/** What the name of a specialisation is in choices: `a16` for `_a16`, `general` for none. */
export function specializationName(suffix: string): string {
  return suffix === "" ? GENERAL : suffix.slice(1);
}

const GENERAL = "general";

/** Of the specialisations that an automatic row gives, the one that the plan names. */
function rowOf(name: string): string {
  return name === GENERAL ? name : /^s\d+/.exec(name)?.[0] ?? specializationName(AUTOMATIC_SUFFIX);
}

/** Labels of the configurations of a specialisation by target, the default first. */
type Labels = ReadonlyMap<TargetName, readonly string[]>;

/**
 * Chooses for one variant. `left` is what the filter leaves for each specialisation, the general one first; one for
 * which it leaves nothing on a target has what the general one has there. First configurations come in the order of
 * specialisations, because launches take the first that their arguments allow. So a specialisation that demands what earlier
 * ones do (`alike`) is for targets where these are left out.
 */
export function chooseConfigs(
  left: ReadonlyMap<string, Iterable<PassingConfig>>,
  wanted: Wanted,
  targets: readonly TargetName[],
  alike: ReadonlyMap<string, readonly string[]>,
): Choices {
  const lists = new Map([...left].map(([name, one]) => [name, listOf(one, wanted, targets)]));
  const general = lists.get(GENERAL) ?? [];
  const bare = targets.filter((target) => labelsOn(general, target).length === 0);
  if (bare.length > 0 && !isOnly(wanted)) return { chosen: [], bare };
  const all = new Map([...lists.values()].flat().map(({ label, config }) => [label, config]));
  const suffixes = makeUnique([...all.keys()].map(suffixOf));
  const isReached = (name: string, target: TargetName): boolean =>
    isOnly(wanted) ||
    !alike.get(name)?.some((one) => labelsOn(lists.get(one) ?? [], target).length > 0);
  const named = [...lists].map(([name, list]) => {
    const on: Labels = new Map(targets.map((target) => {
      if (!isReached(name, target)) return [target, []];
      const own = labelsOn(list, target);
      const isReplaced = own.length === 0 && !isOnly(wanted) &&
        !list.some(({ leftOut }) => leftOut.includes(target));
      return [target, isReplaced ? labelsOn(general, target) : own];
    }));
    const order = [...new Set([...list, ...general].map(({ label }) => label))];
    const firsts = new Set([...on.values()].map(([first]) => first));
    return { name, on, order, first: order.find((label) => firsts.has(label)) };
  });
  const chosen = [...all].flatMap(([label, config], index): ChosenConfig[] => {
    const plans: { covers: Map<string, Cover>; suffix: string; last: number }[] = [];
    for (const [at, { name, on, order, first }] of named.entries()) {
      const taken = targets.filter((target) => isTaken(wanted, name, on.get(target) ?? [], label));
      if (taken.length === 0) continue;
      const suffix = label === first || isOnly(wanted) ? "" : suffixes[index] ?? "";
      const cover = { targets: taken, rank: order.indexOf(label) };
      // The kernel is built once for what has the same name, unless that would bring a later specialisation forward.
      const plan = plans.find((one) =>
        one.suffix === suffix && (suffix !== "" || one.last === at - 1)
      );
      if (plan === undefined) plans.push({ covers: new Map([[name, cover]]), suffix, last: at });
      else {
        plan.covers.set(name, cover);
        plan.last = at;
      }
    }
    return plans.map(({ covers, suffix }) => ({ config, covers, suffix }));
  });
  const names = [...lists.keys()];
  const rankOf = ({ covers }: ChosenConfig): number => names.findIndex((name) => covers.has(name));
  const firsts = chosen.filter(({ suffix }) => suffix === "")
    .toSorted((a, b) => rankOf(a) - rankOf(b));
  return { chosen: chosen.map((one) => one.suffix === "" ? firsts.shift() ?? one : one), bare };
}

/** Each label once. */
function labelsOn(list: readonly PassingConfig[], target: TargetName): readonly string[] {
  return [
    ...new Set(list.flatMap((one) => one.targets.includes(target) ? [one.label] : [])),
  ];
}

/** The part of {@linkcode Configurations} for one variant. */
export type Wanted =
  | "first"
  | "all"
  | { readonly only: string }
  | { readonly also: readonly Pick<ConfigurationChoice, "specialization" | "configs">[] };

/** The configurations of a variant that a build requests. */
export function wantedOf(
  configurations: Configurations | undefined,
  kernel: string,
  variant: string,
): Wanted {
  if (configurations === undefined) return "first";
  if (configurations === "all" || "only" in configurations) return configurations;
  const also = configurations.also.flatMap((choice) =>
    choice.kernel === kernel && choice.variant === variant
      ? [{ specialization: rowOf(choice.specialization), configs: choice.configs }]
      : []
  );
  return also.length === 0 ? "first" : { also };
}

const isOnly = (wanted: Wanted): boolean => typeof wanted === "object" && "only" in wanted;

/** Filters after the first that holds on every target are evaluated only where all are asked for. */
function listOf(
  configs: Iterable<PassingConfig>,
  wanted: Wanted,
  targets: readonly TargetName[],
): readonly PassingConfig[] {
  if (wanted === "first") {
    const found: PassingConfig[] = [];
    const missing = new Set(targets);
    for (const one of configs) {
      const settled = [...one.targets, ...one.leftOut];
      if (!settled.some((target) => missing.has(target))) continue;
      found.push(one);
      for (const target of settled) missing.delete(target);
      if (missing.size === 0) break;
    }
    return found;
  }
  const found = [...configs];
  return typeof wanted === "object" && "only" in wanted
    ? found.filter(({ label }) => label === wanted.only)
    : found;
}

/** Whether a specialisation is to have a configuration on a target where the filter leaves it `labels`. */
function isTaken(
  wanted: Wanted,
  name: string,
  labels: readonly string[],
  label: string,
): boolean {
  if (!labels.includes(label)) return false;
  if (label === labels[0]) return true;
  if (wanted === "first") return false;
  if (wanted === "all" || "only" in wanted) return true;
  return wanted.also.some(({ specialization, configs }) =>
    specialization === name && configs.find((config) => labels.includes(config)) === label
  );
}

/** `TM=64, TN=64; num_warps=8` is `_TM64_TN64_num_warps8`. */
function suffixOf(label: string): string {
  return `_${label.replaceAll("=", "").replace(/[^A-Za-z0-9_]+/g, "_").replace(/_+$/, "")}`;
}
