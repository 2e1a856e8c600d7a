/**
 * Which configurations of a variant become entries. Usually the first that the filter leaves, once for the general
 * instance and once for the specialised ones; a build of tuned kernels asks for more.
 */
import type { ConfigurationChoice, Configurations } from "../options.ts";
import { type Config, configLabel } from "./configurations.ts";
import { makeUnique } from "./variant_name.ts";

/** Which specialisations are compiled: all, the general one, all others, or those named. */
export type Coverage = "all" | "general" | "specialized" | ReadonlySet<string>;

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

/** Chooses for one variant; `general` and `specialized` are what the filter leaves for either, in order. */
export function chooseConfigs(
  general: Iterable<Config>,
  specialized: Iterable<Config>,
  wanted: Wanted,
): readonly ChosenConfig[] {
  const lists = { general: listOf(general, wanted), specialized: listOf(specialized, wanted) };
  if (lists.general.length === 0 && !isOnly(wanted)) return [];
  const others = lists.specialized.length === 0 && !isOnly(wanted)
    ? lists.general
    : lists.specialized;
  const all = new Map([...lists.general, ...others].map((config) => [configLabel(config), config]));
  const labels = [...all.keys()];
  const suffixes = makeUnique(labels.map(suffixOf));
  const named = {
    general: labelsOf(lists.general),
    others: labelsOf(others),
  };
  return [...all].flatMap(([label, config], index): ChosenConfig[] => {
    const suffixIf = (isFirst: boolean): string =>
      isFirst || isOnly(wanted) ? "" : suffixes[index] ?? "";
    const parts: Part[] = [];
    if (named.general.includes(label)) {
      const isFirst = label === named.general[0];
      if (isFirst || wantedIn(wanted, true, named.general, label) !== undefined) {
        parts.push({ covers: "general", suffix: suffixIf(isFirst) });
      }
    }
    if (named.others.includes(label)) {
      const isFirst = label === named.others[0];
      const covers = isFirst ? "specialized" : wantedIn(wanted, false, named.others, label);
      if (covers !== undefined) parts.push({ covers, suffix: suffixIf(isFirst) });
    }
    return joined(parts).map((part) => ({ config, ...part }));
  });
}

/** The part of {@linkcode Configurations} that speaks of one variant. */
export type Wanted =
  | "first"
  | "all"
  | { readonly only: string }
  | { readonly also: readonly Pick<ConfigurationChoice, "specialization" | "configs">[] };

/** What a build wants of a variant of a kernel. */
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

type Part = Pick<ChosenConfig, "covers" | "suffix">;

const isOnly = (wanted: Wanted): boolean => typeof wanted === "object" && "only" in wanted;

/** Filters after the first that holds are looked at only if somebody wants to know. */
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

/** Which instances are to have a configuration beside the first; `labels` are what the filter leaves for them. */
function wantedIn(
  wanted: Wanted,
  isGeneral: boolean,
  labels: readonly string[],
  label: string,
): Coverage | undefined {
  if (wanted === "first") return undefined;
  if (wanted === "all" || "only" in wanted) return isGeneral ? "general" : "specialized";
  const names = wanted.also.filter(({ specialization, configs }) =>
    (specialization === GENERAL) === isGeneral &&
    configs.find((config) => labels.includes(config)) === label
  ).map(({ specialization }) => specialization);
  return names.length === 0 ? undefined : new Set(names);
}

const labelsOf = (configs: readonly Config[]): readonly string[] => configs.map(configLabel);

/** One plan where both parts have the same name, so that the kernel is built once. */
function joined(parts: readonly Part[]): readonly Part[] {
  const [one, other] = parts;
  if (one === undefined || other === undefined || one.suffix !== other.suffix) return parts;
  if (typeof other.covers === "string") return [{ covers: "all", suffix: one.suffix }];
  return [{ covers: new Set([GENERAL, ...other.covers]), suffix: one.suffix }];
}

/** `TM=64, TN=64; num_warps=8` is `_TM64_TN64_num_warps8`. */
function suffixOf(label: string): string {
  return `_${label.replaceAll("=", "").replace(/[^A-Za-z0-9_]+/g, "_").replace(/_+$/, "")}`;
}

/** Whether a specialisation is compiled from a plan; `suffix` is that of its entries. */
export function isCovered(covers: Coverage, suffix: string): boolean {
  if (covers === "all") return true;
  if (typeof covers !== "string") return covers.has(specializationName(suffix));
  return (covers === "general") === (suffix === "");
}
