/**
 * Which configurations of a variant become entries. Usually the first that the filter leaves for each specialisation; a
 * build of tuned kernels requests more.
 */
import type { ConfigurationChoice, Configurations } from "../options.ts";
import { type Config, configLabel } from "./configurations.ts";
import { makeUnique } from "./variant_name.ts";

/** Which specialisations are compiled from a plan, by name. */
export type Coverage = ReadonlySet<string>;

/** A configuration that a variant gets entries of. */
export interface ChosenConfig {
  readonly config: Config;
  readonly covers: Coverage;
  /** What it adds to the names of its entries; empty for the first one. */
  readonly suffix: string;
}

/** What the name of a specialisation is in choices: `a16` for `_a16`, `general` for none. */
export function specializationName(suffix: string): string {
  return suffix === "" ? GENERAL : suffix.slice(1);
}

const GENERAL = "general";

/**
 * Chooses for one variant. `left` is what the filter leaves for each specialisation, the general one first; one for
 * which it leaves nothing has what the general one has. First configurations come in the order of specialisations,
 * because launches take the first that their arguments allow.
 */
export function chooseConfigs(
  left: ReadonlyMap<string, Iterable<Config>>,
  wanted: Wanted,
): readonly ChosenConfig[] {
  const lists = new Map([...left].map(([name, configs]) => [name, listOf(configs, wanted)]));
  const general = lists.get(GENERAL) ?? [];
  if (general.length === 0 && !isOnly(wanted)) return [];
  const full = [...lists].map(([name, list]) =>
    [name, list.length === 0 && !isOnly(wanted) ? general : list] as const
  );
  const all = new Map(full.flatMap(([, list]) => list).map((one) => [configLabel(one), one]));
  const suffixes = makeUnique([...all.keys()].map(suffixOf));
  const named = full.map(([name, list]) => [name, list.map(configLabel)] as const);
  const chosen = [...all].flatMap(([label, config], index): ChosenConfig[] => {
    const plans: { covers: Set<string>; suffix: string; last: number }[] = [];
    for (const [at, [name, labels]] of named.entries()) {
      if (!labels.includes(label)) continue;
      const isFirst = label === labels[0];
      if (!isFirst && !isWanted(wanted, name, labels, label)) continue;
      const suffix = isFirst || isOnly(wanted) ? "" : suffixes[index] ?? "";
      // The kernel is built once for what has the same name, unless that would bring a later specialisation forward.
      const plan = plans.find((one) =>
        one.suffix === suffix && (suffix !== "" || one.last === at - 1)
      );
      if (plan === undefined) plans.push({ covers: new Set([name]), suffix, last: at });
      else {
        plan.covers.add(name);
        plan.last = at;
      }
    }
    return plans.map(({ covers, suffix }) => ({ config, covers, suffix }));
  });
  const names = [...lists.keys()];
  const rankOf = ({ covers }: ChosenConfig): number => names.findIndex((name) => covers.has(name));
  const firsts = chosen.filter(({ suffix }) => suffix === "")
    .toSorted((a, b) => rankOf(a) - rankOf(b));
  return chosen.map((one) => one.suffix === "" ? firsts.shift() ?? one : one);
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
  const also = configurations.also.filter((choice) =>
    choice.kernel === kernel && choice.variant === variant
  );
  return also.length === 0 ? "first" : { also };
}

const isOnly = (wanted: Wanted): boolean => typeof wanted === "object" && "only" in wanted;

/** Filters after the first that holds are evaluated only where all are asked for. */
function listOf(configs: Iterable<Config>, wanted: Wanted): readonly Config[] {
  if (wanted === "first") {
    for (const config of configs) return [config];
    return [];
  }
  const found = [...configs];
  return typeof wanted === "object" && "only" in wanted
    ? found.filter((config) => configLabel(config) === wanted.only)
    : found;
}

/** Whether a specialisation is to have a configuration beside its first; `labels` are what the filter leaves for it. */
function isWanted(
  wanted: Wanted,
  name: string,
  labels: readonly string[],
  label: string,
): boolean {
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
