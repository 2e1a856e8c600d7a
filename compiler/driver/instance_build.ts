/** One instance from its plan to tile IR: its contract, and one optimised function per specialisation. */
import { type Assumption, buildFunc } from "../build/mod.ts";
import type { NameRecorder } from "../build/names.ts";
import type { Declared } from "../contract/declared.ts";
import { leastCommonMultiple } from "../support/arith.ts";
import { specializationName } from "../instances/choose_configs.ts";
import { infer } from "../contract/infer.ts";
import type { InstancePlan, KernelPlan } from "../instances/instances.ts";
import { keyOf } from "../contract/key.ts";
import { integerValues } from "../instances/macro_values.ts";
import { mergeContract } from "../contract/merge.ts";
import { assumeApart } from "./apart_results.ts";
import { type OfTexts, uniteInferred } from "../contract/unite.ts";
import { GENERAL, planSpecializations, type Specialization } from "../instances/specialize.ts";
import { nameTiles } from "../contract/tile_names.ts";
import type { KernelContract } from "../contract/types.ts";
import type { TypedKernel } from "../check/tree/typed.ts";
import type { WorkBudget } from "./limits/work_budget.ts";
import type { CheckedKernel } from "./front/instance_front.ts";
import { mapTexts, readTexts } from "./instance_texts.ts";
import type { Func } from "../ir/func.ts";
import type { CompileOptions } from "../options.ts";
import { Reporter } from "../support/diagnostic.ts";
import { must } from "../support/bug.ts";
import { printHeader } from "./inspect/ir_text.ts";
import { type EntryOptions, entryOptions, type StatedOptions } from "./entry_options.ts";
import { TILE_STEPS } from "./passes/passes.ts";
import { type PassWatch, runPasses, timed } from "./passes/run_passes.ts";

/** A specialisation, optimised, before layouts. */
export interface SpecializedFunc {
  readonly specialization: Specialization;
  readonly func: Func;
  /** What its entry is compiled with, for all targets. */
  readonly entry: EntryOptions;
}

export interface BuiltInstance {
  readonly kernel: TypedKernel;
  readonly contract: KernelContract;
  readonly declared: Declared;
  /** Of the first text. */
  readonly funcs: readonly SpecializedFunc[];
  /** General functions of the kernels of all texts. */
  readonly generals: ReadonlyMap<TypedKernel, Func>;
  /** Parameters that decide which configuration is best. */
  readonly key: readonly string[];
}

/** How functions are built and optimised. */
export interface BuildOptions {
  readonly checkPromises: boolean;
  /** What the text or the command says of entries. */
  readonly entry: StatedOptions;
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
  const { floats, numWarps, numCtas, numStages, maxRegisters } = instance.options;
  const entry = { floats, numWarps, numCtas, numStages, maxRegisters };
  return { checkPromises: debug === true, entry, watchOf };
}

/** Builds an instance of the first text, with what all texts together demand; undefined after an error. */
export function buildInstance(
  texts: OfTexts<CheckedKernel>,
  kernelPlan: KernelPlan,
  plan: InstancePlan,
  options: BuildOptions,
  reporter: Reporter,
): BuiltInstance | undefined {
  const read = readTexts(texts, kernelPlan.items, reporter);
  if (read === undefined) return undefined;
  const { params, declared, kernels } = read;
  const [{ value: { work } }] = texts;
  const [{ value: kernel }] = kernels;
  const generals = new Map<TypedKernel, Func>();
  for (const { value } of kernels) {
    const func = buildSpecialized(value, declared, GENERAL, options, reporter);
    if (func === undefined) return undefined;
    generals.set(value, func);
  }
  const generalOf = (one: TypedKernel): Func => must(generals.get(one), "a general function");
  const general = generalOf(kernel);
  countFunc(work, general);
  const { inferred, contract } = timed(options.watchOf(GENERAL), "contract", () => {
    const inferred = uniteInferred(mapTexts(kernels, (one) => infer(generalOf(one))), reporter);
    const grid = nameTiles(inferred.grid, general, integerValues(plan.defines));
    const contract = mergeContract(params, declared, { ...inferred, grid }, reporter);
    return { inferred, contract };
  });
  for (const func of generals.values()) assumeApart(func, contract.params);
  const covered = planSpecializations(params, declared, inferred).filter(({ row }) =>
    plan.covers.has(specializationName(row))
  );
  const withEntry = (specialization: Specialization, func: Func): SpecializedFunc => ({
    ...{ specialization, func },
    entry: entryOptions(func, options.entry, texts),
  });
  const funcs = covered.flatMap((specialization): SpecializedFunc[] => {
    if (specialization.conditions.length === 0) return [withEntry(specialization, general)];
    if (!work.allowsMore(reporter)) return [];
    const func = buildSpecialized(kernel, declared, specialization, options, reporter);
    if (func === undefined) return [];
    assumeApart(func, contract.params);
    countFunc(work, func);
    return [withEntry(specialization, func)];
  });
  if (funcs.length < covered.length) return undefined;
  return {
    kernel,
    contract,
    declared,
    funcs,
    generals,
    key: keyOf(params, kernelPlan.items, contract, general),
  };
}

/** The same functions for a target that takes the text of another kernel. */
export function funcsOfText(
  kernel: TypedKernel,
  { contract, declared, funcs, generals }: BuiltInstance,
  options: BuildOptions,
  reporter: Reporter,
): readonly Func[] {
  const built = funcs.map(({ specialization }) =>
    specialization === GENERAL
      ? generals.get(kernel)
      : buildSpecialized(kernel, declared, specialization, options, reporter)
  );
  const found = built.filter((func) => func !== undefined);
  for (const func of found) assumeApart(func, contract.params);
  return found.length === built.length ? found : [];
}

function countFunc(work: WorkBudget, { nextId }: Func): void {
  work.add("functions", 1);
  work.add("values", nextId);
}

/** The optimised function under the assumptions of a specialisation; undefined after an error. */
function buildSpecialized(
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
