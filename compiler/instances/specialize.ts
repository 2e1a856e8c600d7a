/**
 * Specialisation (language.md 10.4): instances that assume more than the general one and are taken only when
 * the arguments allow.
 */
import { specializationName } from "./choose_configs.ts";
import { automaticConditions, type Conditions } from "./automatic.ts";
import type { Declared } from "../contract/declared.ts";
import { type Bounds, boundsIn, divisibilityIn, valuesIn } from "../contract/condition_facts.ts";
import { leastCommonMultiple } from "../support/arith.ts";
import type { Inferred } from "../contract/infer.ts";
import type { OptionSetting, SourcedItem } from "../pragma/pragma.ts";
import { type SpecializeRow, specializeRows } from "../pragma/specialize_rows.ts";
import type { Bindings } from "./configurations.ts";
import type { KernelParams } from "../contract/kernel_params.ts";
import type { Requirement } from "../contract/types.ts";

/** One way to compile an instance: under which conditions, and what the compiler infers from them. */
export interface Specialization {
  /** Appended to the entry's name: empty for the general instance. */
  readonly suffix: string;
  /** The suffix of the row that asks for it: an automatic one may give several, whose configurations are the same. */
  readonly row: string;
  readonly conditions: readonly Requirement[];
  /** What holds of parameters: elements for integers, bytes for pointers. */
  readonly multiples: ReadonlyMap<string, number>;
  /** What integers are: a stride of 1 makes an axis contiguous. */
  readonly values: ReadonlyMap<string, number>;
  /** Between which values integers are: a row of at most 1024 elements fits a tile of 1024. */
  readonly bounds: ReadonlyMap<string, Bounds>;
}

/** Without assumptions. */
export const GENERAL: Specialization = {
  suffix: "",
  row: "",
  conditions: [],
  multiples: new Map(),
  values: new Map(),
  bounds: new Map(),
};

/** A specialisation before the kernel is known: an automatic one that assumes nothing is left out later. */
export interface PlannedSpecialization {
  readonly name: string;
  /** Values of the parameters that `specialize` lines are repeated for. */
  readonly bindings: Bindings;
  /** In place of those of the configurations. */
  readonly options: readonly OptionSetting[];
  /** Earlier ones that demand the same: launches take the first of them that their target has. */
  readonly alike: readonly string[];
}

/** What there may be, the general instance first. It has the value that is listed last for each parameter. */
export function plannedSpecializations(
  items: readonly SourcedItem[],
): readonly PlannedSpecialization[] {
  const lines = items.flatMap(({ item }) => item.kind === "specialize" ? [item] : []);
  const general = new Map<string, string>();
  for (const { over } of lines) {
    const last = over?.values.at(-1);
    if (over !== undefined && last !== undefined) general.set(over.name, last);
  }
  const rows = specializeRows(items.map(({ item }) => item));
  return [
    { name: specializationName(""), bindings: general, options: [], alike: [] },
    ...rows.map((row, index) => {
      const { suffix, binding, options } = row;
      return {
        name: specializationName(suffix),
        bindings: binding === undefined
          ? general
          : new Map([...general, [binding.name, binding.value]]),
        options,
        alike: rows.slice(0, index).filter((one) => demandOf(one) === demandOf(row))
          .map((one) => specializationName(one.suffix)),
      };
    }),
  ];
}

/** What rows with equal demands have equal. */
function demandOf({ isAutomatic, condition, binding }: SpecializeRow): string {
  return JSON.stringify([isAutomatic, condition?.text, binding?.name, binding?.value]);
}

/** The general instance and those that a caller with good arguments gets instead. */
export function planSpecializations(
  kernel: KernelParams,
  declared: Declared,
  inferred: Inferred,
): readonly Specialization[] {
  const rows = declared.specialize.flatMap((row) => {
    const { suffix, isAutomatic, condition } = row;
    const found = isAutomatic
      ? automaticConditions(row, kernel, declared, inferred)
      : condition === undefined
      ? []
      : [{ suffix, conditions: [condition] }];
    return found.map((one) => specializeOn(one, suffix, kernel));
  });
  return [GENERAL, ...rows];
}

function specializeOn(
  { suffix, conditions }: Conditions,
  row: string,
  { params }: KernelParams,
): Specialization {
  const integers = new Set(params.flatMap(({ name, isInteger }) => isInteger ? [name] : []));
  const values = new Map(
    conditions.flatMap(({ condition }) => [...valuesIn(condition)])
      .filter(([name]) => integers.has(name)),
  );
  const bounds = new Map<string, Bounds>(
    conditions.flatMap(({ condition }) => [...boundsIn(condition)])
      .filter(([name]) => integers.has(name)),
  );
  const multiples = new Map<string, number>();
  for (const { condition } of conditions) {
    for (const [name, by] of divisibilityIn(condition)) {
      multiples.set(name, leastCommonMultiple(multiples.get(name) ?? 1, by));
    }
  }
  return { suffix, row, conditions, multiples, values, bounds };
}

/** Names that C allows and PTX (ISA 9.0, section 4.4 and 4.5) keeps for itself. */
const PTX_RESERVED: ReadonlySet<string> = new Set(["_", "WARP_SZ"]);

/** The name of an entry: the kernel's own when it is the only one. */
export function entrySymbol(
  kernel: string,
  variant: string | undefined,
  specialization: Specialization,
): string {
  const name = `${kernel}${variant === undefined ? "" : `_${variant}`}${specialization.suffix}`;
  return PTX_RESERVED.has(name) ? `${name}_` : name;
}
