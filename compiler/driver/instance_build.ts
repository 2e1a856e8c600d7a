/** One instance from its plan to tile IR: its contract, and one optimised function per specialisation. */
import { type Assumption, buildFunc } from "../build/mod.ts";
import type { NameRecorder } from "../build/names.ts";
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
import { GENERAL, planSpecializations, type Specialization } from "../instances/specialize.ts";
import { nameTiles } from "../contract/tile_names.ts";
import type { KernelContract } from "../contract/types.ts";
import type { TypedKernel } from "../check/tree/typed.ts";
import type { WorkBudget } from "./limits/work_budget.ts";
import type { CheckedKernel, InstanceFront } from "./front/instance_front.ts";
import type { Func } from "../ir/func.ts";
import type { CompileOptions } from "../options.ts";
import type { TargetFacts } from "../preprocess/predefined.ts";
import { Reporter } from "../support/diagnostic.ts";
import { must } from "../support/bug.ts";
import { type EntryOptions, printHeader } from "./inspect/ir_text.ts";
import { TILE_STEPS } from "./passes/passes.ts";
import { type PassWatch, runPasses, timed } from "./passes/run_passes.ts";

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

/** How functions are built and optimised. */
export interface BuildOptions {
  readonly checkPromises: boolean;
  /** What an entry is compiled with, for all targets. */
  readonly entry: EntryOptions;
  /** What looks at the steps of the function with this specialisation. */
  readonly watchOf: (specialization: Specialization) => PassWatch;
  /** Who notes what variables of the function with this specialisation are called and hold. */
  readonly namesOf?: (specialization: Specialization) => NameRecorder;
}

/** The options of an instance for its functions. */
export function buildOptions(
  { verify = false, debug }: CompileOptions,
  instance: InstancePlan,
  watchOf: BuildOptions["watchOf"] = () => ({ verify }),
): BuildOptions {
  return { checkPromises: debug === true, entry: entryOptions(instance), watchOf };
}

/** What the entries of an instance are compiled with. */
export function entryOptions(
  { options: { floats, numWarps, numCtas, numStages, maxRegisters } }: InstancePlan,
): EntryOptions {
  return { floats, numWarps, numCtas, numStages, maxRegisters };
}

/** The typed kernel of an instance for one architecture. */
export function checkInstance(
  front: InstanceFront,
  site: KernelSite,
  plan: InstancePlan,
  arch: TargetFacts,
): CheckedKernel {
  return front.check({ defines: plan.defines, options: plan.options, arch }, site);
}

/** Builds an instance; undefined after an error. */
export function buildInstance(
  checked: CheckedKernel,
  kernelPlan: KernelPlan,
  plan: InstancePlan,
  options: BuildOptions,
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
  const general = buildSpecialized(kernel, declared, GENERAL, options, reporter);
  if (general === undefined) return undefined;
  countFunc(work, general);
  const { inferred, contract } = timed(options.watchOf(GENERAL), "contract", () => {
    const inferred = infer(general);
    const grid = nameTiles(inferred.grid, general, integerValues(plan.defines));
    const contract = mergeContract(params, declared, { ...inferred, grid }, reporter);
    return { inferred, contract };
  });
  const covered = planSpecializations(params, declared, inferred).filter(({ suffix }) =>
    plan.covers.has(specializationName(suffix))
  );
  const funcs = covered.flatMap((specialization): SpecializedFunc[] => {
    if (specialization.conditions.length === 0) return [{ specialization, func: general }];
    if (!work.allowsMore(reporter)) return [];
    const func = buildSpecialized(kernel, declared, specialization, options, reporter);
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

/** The optimised function under the assumptions of a specialisation; undefined after an error. */
export function buildSpecialized(
  kernel: TypedKernel,
  declared: Declared,
  specialization: Specialization,
  options: BuildOptions,
  reporter: Reporter,
): Func | undefined {
  const assumptions = new Map<string, Assumption>(declared.promises);
  for (const [name, by] of specialization.multiples) {
    const promised = declared.promises.get(name);
    assumptions.set(name, {
      ...promised,
      multipleof: leastCommonMultiple(promised?.multipleof ?? 1, by),
    });
  }
  for (const [name, bounds] of specialization.bounds) {
    assumptions.set(name, { ...assumptions.get(name), ...bounds });
  }
  for (const [name, value] of specialization.values) {
    assumptions.set(name, { ...assumptions.get(name), value });
  }
  const { checkPromises, entry } = options;
  const names = options.namesOf?.(specialization);
  const watch = options.watchOf(specialization);
  const build = (to: Reporter): Func | undefined =>
    buildFunc(kernel, { assumptions, checkPromises, names }, to);
  const { now = (): number => 0 } = watch;
  const start = now();
  const func = build(reporter);
  if (func === undefined) return undefined;
  watch.after?.("build", now() - start, func);
  runPasses({
    func,
    again: () => must(build(new Reporter()), "a function that was built before"),
    steps: TILE_STEPS,
    context: (analyses) => ({ ...analyses, floats: entry.floats }),
    watch,
    header: (after) => printHeader({ after, target: undefined, entry }),
  });
  return func;
}
