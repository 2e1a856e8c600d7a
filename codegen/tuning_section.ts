/** The part of a wrapper's facts that says which of several configurations a launch takes. */
import type { KernelOutline } from "../compiler/options.ts";
import { apply, constant, isOperation, paramsOf } from "../compiler/contract/expr.ts";
import type { ContractExpr, InstanceInfo } from "../compiler/contract/types.ts";
import { must } from "../compiler/support/bug.ts";
import { groupBy } from "../compiler/support/group_by.ts";
import type { ContractRowPrinter } from "./contract_rows.ts";
import { array, type Doc, flat, object, quote } from "./doc.ts";
import type { Measured } from "./input.ts";
import { stemOf, symbolEnd } from "./instance_rows.ts";
import type { KernelPlan } from "./plan.ts";
import type { Declaration } from "./structure.ts";
import { onlyOnce, shareValues } from "./templates.ts";

/** The tables that choose, and what they share. */
export interface TuningSection {
  readonly value: Doc;
  readonly costs: readonly Declaration[];
  readonly configs: readonly Declaration[];
}

/** The tables of a kernel; undefined where every instance has one configuration, on all targets. */
export function tuningSection(
  plan: KernelPlan,
  measured: readonly Measured[],
  printer: ContractRowPrinter,
  taken: ReadonlySet<string>,
): TuningSection | undefined {
  const { kernel, exportName, constantName, typeName, fileNames } = plan;
  const all = choicesOf(kernel);
  if (all.length === 0) return undefined;
  const costOf = (instances: readonly InstanceInfo[], one: InstanceInfo): Doc | undefined =>
    instances.length > 1 ? costDoc(one, kernel.key, printer) : undefined;
  const configsWith = (instances: readonly InstanceInfo[], refer: (cost: Doc) => Doc): Doc =>
    configsDoc(plan, instances, (instance) => {
      const { availableOn } = instance;
      const cost = costOf(instances, instance);
      const model = cost === undefined ? undefined : refer(cost);
      if (availableOn === undefined) return model === undefined ? [] : [model];
      return [model ?? "null", array(availableOn.map(quote))];
    });
  // Variants with the same configurations and timings have one row.
  const choices = [
    ...groupBy(
      all.map((instances): Choice => {
        const first = must(instances[0], "instance of a choice");
        const specialization = specializationOf(first);
        const timings = measuredDoc(plan, instances, measured);
        return { instances, variant: first.variant.name, specialization, timings };
      }),
      ({ instances, specialization, timings }) =>
        JSON.stringify([specialization, configsWith(instances, (cost) => cost), timings]),
    ).values(),
  ];
  const sets = choices.map(([first]) => must(first, "a choice").instances);
  const costs = sets.flatMap((set) => set.flatMap((instance) => costOf(set, instance) ?? []));
  const shared = shareValues(costs.map((value) => ({ value })), {
    constant: `${constantName}_COST`,
    function: `${exportName}Cost`,
    type: { kind: "generic", name: "CostRow", args: [`${typeName}Name`] },
    reserved: fileNames,
    taken,
  }, costs);
  const configsOf = (set: readonly InstanceInfo[]): Doc => configsWith(set, shared.refer);
  const configLists = sets.map((set) => ({ value: configsOf(set) }));
  const configs = shareValues(configLists, {
    constant: `${constantName}_CONFIGS`,
    type: `readonly ConfigurationRow<${typeName}Name>[]`,
    reserved: fileNames,
    taken,
  }, onlyOnce(configLists));
  const value = object({
    key: array(kernel.key.map(quote)),
    choices: array(choices.map((alike) => {
      const { instances, specialization, timings } = must(alike[0], "a choice");
      return object({
        of: array([...alike.map(({ variant }) => variant), specialization].map(quote)),
        configs: configs.refer(configsOf(instances)),
        measured: timings,
      });
    })),
  });
  return { value, costs: shared.declarations, configs: configs.declarations };
}

/** Instances that differ in their configuration alone, in order, and what was measured of them. */
interface Choice {
  readonly instances: readonly InstanceInfo[];
  readonly variant: string;
  readonly specialization: string;
  readonly timings: Doc | undefined;
}

/** Whether a wrapper of this kernel has to choose between configurations. */
export function hasChoices(kernel: KernelOutline): boolean {
  return choicesOf(kernel).some((set) => set.length > 1);
}

/**
 * Instances that differ in their configuration alone, in the order in which targets take them as defaults; and those that
 * not all targets have.
 */
function choicesOf({ instances }: KernelOutline): readonly (readonly InstanceInfo[])[] {
  const sets = groupBy(
    instances,
    ({ configuration, symbol }) => configuration?.first ?? symbol,
  );
  const rankOf = ({ configuration }: InstanceInfo): number => configuration?.rank ?? 0;
  return [...sets.values()].filter((set) =>
    set.length > 1 || set.some(({ availableOn }) => availableOn !== undefined)
  )
    .map((set) => set.toSorted((a, b) => rankOf(a) - rankOf(b)));
}

/** The timings of a choice, by GPU; undefined where there are none. */
function measuredDoc(
  plan: KernelPlan,
  instances: readonly InstanceInfo[],
  measured: readonly Measured[],
): Doc | undefined {
  const { name, key } = plan.kernel;
  const first = must(instances[0], "instance of a choice");
  const labels = instances.map(({ configuration }) => configuration?.label ?? "");
  const own = measured.filter((one) =>
    one.kernel === name && one.variant === first.variant.name &&
    one.specialization === first.configuration?.specialization
  );
  if (own.length === 0) return undefined;
  return object(
    Object.fromEntries(own.map(({ gpu, arch, points }) => {
      const rows = points.flatMap(({ at, timings }): string[] => {
        const times = labels.map((label) =>
          timings.find(({ config }) => config === label)?.microseconds ?? null
        );
        const values = key.map((name) => at[name]);
        // Measured before the kernel's key was another one, or of configurations that are not shipped.
        if (times.every((time) => time === null) || values.includes(undefined)) return [];
        return [flat(array([array(values.map(String)), array(times.map(String))]))];
      });
      return [gpu, { kind: "packed", items: [quote(arch), ...rows] }];
    })),
  );
}

/** The configurations of a choice: names of entries say what follows that of the specialisation. */
function configsDoc(
  plan: KernelPlan,
  instances: readonly InstanceInfo[],
  modelOf: (instance: InstanceInfo) => readonly Doc[],
): Doc {
  return array(instances.map((instance) => {
    const specialization = specializationOf(instance);
    const stem = stemOf(plan, instance.variant.name);
    return array([
      symbolEnd(
        instance.symbol,
        specialization === GENERAL ? stem : `${stem}_${specialization}`,
      ),
      quote(instance.configuration?.label ?? ""),
      ...modelOf(instance),
    ]);
  }));
}

/** What the instances without a specialisation are called. */
const GENERAL = "general";

function specializationOf({ configuration }: InstanceInfo): string {
  return configuration?.specialization ?? GENERAL;
}

/** The model of a launch; undefined where there is none, or it reads more than the key. */
function costDoc(
  { clocks, contract: { grid } }: InstanceInfo,
  key: readonly string[],
  printer: ContractRowPrinter,
): Doc | undefined {
  if (clocks === undefined || grid === null) return undefined;
  const blocks = grid.map(withoutMacros).reduce((all, extent) => apply("*", all, extent));
  const isKey = [blocks, clocks].flatMap(paramsOf).every((name) => key.includes(name));
  return isKey ? array([printer.expression(blocks), printer.expression(clocks)]) : undefined;
}

/** With numbers for compile-time parameters: configurations differ in these. */
function withoutMacros(expr: ContractExpr): ContractExpr {
  if (expr.op === "const") return constant(expr.value);
  return isOperation(expr) ? { ...expr, args: expr.args.map(withoutMacros) } : expr;
}
