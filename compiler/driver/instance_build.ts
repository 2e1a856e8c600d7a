/** One instance from its plan to tile IR: its contract, and one optimised function per specialisation. */
import { type Assumption, buildFunc } from "../build/mod.ts";
import { type Declared, readDeclared } from "../contract/declared.ts";
import { leastCommonMultiple } from "../support/arith.ts";
import { specializationName } from "../instances/choose_configs.ts";
import { infer } from "../contract/infer.ts";
import type { InstancePlan, KernelPlan } from "../instances/instances.ts";
import type { KernelSite } from "../instances/items.ts";
import { keyOf } from "../contract/key.ts";
import { kernelParams } from "../contract/kernel_params.ts";
import { integerValues } from "../instances/macro_values.ts";
import { mergeContract } from "../contract/merge.ts";
import { planSpecializations, type Specialization } from "../instances/specialize.ts";
import { nameTiles } from "../contract/tile_names.ts";
import type { KernelContract } from "../contract/types.ts";
import type { TypedKernel } from "../check/typed.ts";
import type { WorkBudget } from "./work_budget.ts";
import type { CheckedKernel, InstanceFront } from "./instance_front.ts";
import type { Func } from "../ir/func.ts";
import type { CompileOptions } from "../options.ts";
import type { Reporter } from "../support/diagnostic.ts";
import { type RunOptions, runPasses } from "../tile/passes.ts";

/** A specialisation, optimised, before layouts. */
export interface SpecializedFunc {
  readonly specialization: Specialization;
  readonly func: Func;
}

export interface BuiltInstance {
  readonly kernel: TypedKernel;
  readonly contract: KernelContract;
  readonly declared: Declared;
  readonly funcs: readonly SpecializedFunc[];
  /** Parameters that decide which configuration is best. */
  readonly key: readonly string[];
}

/** What building and `runPasses` are told. */
export interface StageOptions extends RunOptions {
  readonly checkPromises: boolean;
}

export function passOptions(
  { verify, debug }: CompileOptions,
  { options: { floats } }: InstancePlan,
): StageOptions {
  return {
    contract: floats.contract,
    checkPromises: debug === true,
    ...(verify === undefined ? {} : { verify }),
  };
}

/** The typed kernel of an instance for one architecture. */
export function checkInstance(
  front: InstanceFront,
  site: KernelSite,
  plan: InstancePlan,
  sm: number,
): CheckedKernel {
  return front.check({ defines: plan.defines, options: plan.options, sm }, site);
}

/** Builds an instance; undefined after an error. */
export function buildInstance(
  checked: CheckedKernel,
  kernelPlan: KernelPlan,
  plan: InstancePlan,
  passes: StageOptions,
  reporter: Reporter,
): BuiltInstance | undefined {
  const { kernel, work } = checked;
  if (kernel === undefined) return undefined;
  const params = kernelParams(kernel);
  const declared = readDeclared(
    kernelPlan.items,
    params,
    checked.parsed.preprocessed.macros,
    reporter,
  );
  const general = buildSpecialized(kernel, declared, undefined, passes, reporter);
  if (general === undefined) return undefined;
  countFunc(work, general);
  const inferred = infer(general);
  const grid = nameTiles(inferred.grid, general, integerValues(plan.defines));
  const contract = mergeContract(params, declared, { ...inferred, grid }, reporter);
  const covered = planSpecializations(params, declared, inferred).filter(({ suffix }) =>
    plan.covers.has(specializationName(suffix))
  );
  const funcs = covered.flatMap((specialization): SpecializedFunc[] => {
    if (specialization.conditions.length === 0) return [{ specialization, func: general }];
    if (!work.allowsMore(reporter)) return [];
    const func = buildSpecialized(kernel, declared, specialization, passes, reporter);
    if (func === undefined) return [];
    countFunc(work, func);
    return [{ specialization, func }];
  });
  if (funcs.length < covered.length) return undefined;
  return {
    kernel,
    contract,
    declared,
    funcs,
    key: keyOf(params, kernelPlan.items, contract, general),
  };
}

function countFunc(work: WorkBudget, { nextId }: Func): void {
  work.add("functions", 1);
  work.add("values", nextId);
}

/** The function under the assumptions of a specialisation, `undefined`: of the general instance; undefined after an error. */
export function buildSpecialized(
  kernel: TypedKernel,
  declared: Declared,
  specialization: Specialization | undefined,
  passes: StageOptions,
  reporter: Reporter,
): Func | undefined {
  const assumptions = new Map<string, Assumption>(declared.promises);
  for (const [name, by] of specialization?.multiples ?? []) {
    const promised = declared.promises.get(name);
    assumptions.set(name, {
      ...promised,
      multipleof: leastCommonMultiple(promised?.multipleof ?? 1, by),
    });
  }
  for (const [name, value] of specialization?.values ?? []) {
    assumptions.set(name, { ...assumptions.get(name), value });
  }
  const { checkPromises } = passes;
  const func = buildFunc(kernel, { assumptions, checkPromises }, reporter);
  if (func !== undefined) runPasses(func, passes);
  return func;
}
