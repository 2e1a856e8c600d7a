/**
 * The whole compiler on one screen: from the text of a file to PTX and contracts.
 *
 *     pragmas ─▶ plan: kernels × variants × configurations
 *     each instance ─▶ preprocess, parse, check ─▶ tile IR ─▶ contract ─▶ specialisations
 *     each specialisation ─▶ tile IR with its assumptions ─▶ PTX per target
 */
import { BackEnd } from "./back_end.ts";
import { ConstantBuffers } from "./constant_buffers.ts";
import { specializationName } from "../instances/choose_configs.ts";
import {
  firstBindings,
  type InstancePlan,
  type KernelPlan,
  planInstances,
} from "../instances/instances.ts";
import { assignItems, type KernelSite, type OverrideItem } from "../instances/items.ts";
import type { SourcedItem } from "../pragma/pragma.ts";
import { readOptions } from "../instances/kernel_options.ts";
import { GENERAL } from "../instances/specialize.ts";
import { PlanBudget } from "../instances/plan_budget.ts";
import { entryName } from "./entry_names.ts";
import { blockClocks } from "../contract/block_clocks.ts";
import type { InstanceInfo } from "../contract/types.ts";
import { reportUnusedDefines, reportUnusedParameters } from "../instances/unused.ts";
import { DiagnosticCollector } from "./diagnostics.ts";
import type { PragmaItem } from "../pragma/pragma.ts";
import { parsePragmaLine, readPragmas } from "../pragma/read_pragmas.ts";
import {
  buildInstance,
  type BuildOptions,
  buildOptions,
  type BuiltInstance,
  funcsOfText,
} from "./instance_build.ts";
import { checkInstance, instanceTexts } from "./instance_texts.ts";
import type { OfTexts } from "../contract/unite.ts";
import { type CheckedKernel, InstanceFront, type ParsedFile } from "./front/instance_front.ts";
import { timed } from "./passes/run_passes.ts";
import type { TypedKernel } from "../check/tree/typed.ts";
import type { Func } from "../ir/func.ts";
import { watchEntry } from "./passes/entry_watch.ts";
import { Unsupporteds } from "./limits/unsupported.ts";
import { kernelsByName, namesOfFront } from "./front/kernel_sites.ts";
import type { CompiledKernel, CompileOptions, CompileResult, Define } from "../options.ts";
import { must } from "../support/bug.ts";
import { type Diagnostic, Reporter } from "../support/diagnostic.ts";
import type { SourceFile } from "../support/source.ts";
import { ALL_TARGETS, type TargetName } from "../targets.ts";
import { checkTileLimits } from "./limits/tile_limits.ts";

/** A file with its kernels found and planned. */
export interface PlannedFile {
  readonly front: InstanceFront;
  /** The file as the first values of all parameters make it. */
  readonly parsed: ParsedFile;
  readonly kernels: readonly { readonly site: KernelSite; readonly plan: KernelPlan }[];
  readonly items: readonly PragmaItem[];
  /** A value for each parameter of the file: what `parsed` was made with. */
  readonly standIns: readonly Define[];
}

/** Compiles every instance of every kernel of a file. Never throws for what the text contains. */
export function compileFile(file: SourceFile, options: CompileOptions): CompileResult {
  const collector = new DiagnosticCollector();
  const general = new Reporter();
  const { front, kernels, items } = planFile(file, options, collector, general);
  const compiled = kernels.map(({ site, plan }) =>
    compileKernel(front, site, plan, options, collector)
  );

  reportUnusedParameters(kernels.map(({ plan }) => plan), front.usedMacros(), general);
  reportUnusedDefines(options.defines ?? [], front.usedMacros(), items, general);
  collector.addGeneral(general.diagnostics);
  const diagnostics = collector.finish(file.name, options);
  const isBroken = diagnostics.some(({ severity }) => severity === "error");
  return {
    diagnostics,
    kernels: isBroken ? [] : compiled.filter((kernel) => kernel !== undefined),
  };
}

/** Finds the kernels and decides on their instances. */
export function planFile(
  file: SourceFile,
  options: CompileOptions,
  collector: DiagnosticCollector,
  reporter: Reporter,
): PlannedFile {
  const { defines = [] } = options;
  const front = new InstanceFront(file, options);
  const groups = readPragmas(file, options.include, reporter);
  const overrides = readOverrides(options, reporter);
  const itemGroups = [overrides.map(({ item }) => item), ...groups.map((group) => group.items)];
  const standIns = firstBindings(itemGroups, defines);
  const { parsed, sites: found } = findKernels(front, standIns, options, collector);
  const targets = targetsOf(options);
  const nameWith = namesOfFront(front, ALL_TARGETS[targets[0]]);
  const budget = new PlanBudget(file);
  const allows = (): boolean => budget.allowsConfiguration(undefined, reporter);
  const sites = kernelsByName(found, groups, overrides, defines, nameWith, allows);
  const assigned = assignItems(groups, overrides, sites, file.name, reporter);
  const kernels = sites
    .filter(({ name }) => options.kernels === undefined || options.kernels.includes(name))
    .map((site) => {
      const own: readonly SourcedItem[] = assigned.get(site.name) ?? [];
      const { name } = site;
      const isOwn = site.isNamedByMacro === true
        ? (bound: readonly Define[]): boolean => nameWith(site, bound) === name
        : undefined;
      const { configurations } = options;
      const plan = planInstances(
        name,
        own,
        defines,
        targets,
        reporter,
        configurations,
        isOwn,
        budget,
      );
      return { site, plan };
    })
    // A name that only provisional values give belongs to no instance.
    .filter(({ site, plan }) => !site.isNamedByMacro || plan.instances.length > 0);
  return { front, parsed, kernels, items: itemGroups.flat(), standIns };
}

/** Strongest first: the last one given. */
function readOverrides(
  { overrides = [] }: CompileOptions,
  reporter: Reporter,
): readonly OverrideItem[] {
  return overrides.toReversed().flatMap(({ kernel, isForFile = false, text, origin }) => {
    const item = parsePragmaLine(text, origin, reporter);
    return item === undefined ? [] : [{ kernel, isForFile, item, origin }];
  });
}

/** Kernels by name. Which there are may depend on parameters, whose first values represent all. */
function findKernels(
  front: InstanceFront,
  defines: readonly Define[],
  options: CompileOptions,
  collector: DiagnosticCollector,
): { readonly parsed: ParsedFile; readonly sites: readonly KernelSite[] } {
  const request = {
    defines,
    options: readOptions([]),
    arch: ALL_TARGETS[targetsOf(options)[0]],
  };
  const parsed = front.parse(request);
  const { kernels } = parsed;
  if (kernels.length === 0) {
    collector.addGeneral(front.check(request, { name: "", offset: -1 }).general);
  }
  return { parsed, sites: [...new Map(kernels.map((kernel) => [kernel.name, kernel])).values()] };
}

/** What instances are planned for, where the caller wants no code too. */
function targetsOf({ targets }: CompileOptions): readonly [TargetName, ...TargetName[]] {
  const [first = "sm_80", ...others] = targets;
  return [first, ...others];
}

/** All instances of one kernel; undefined after an error. */
function compileKernel(
  front: InstanceFront,
  site: KernelSite,
  plan: KernelPlan,
  options: CompileOptions,
  collector: DiagnosticCollector,
): CompiledKernel | undefined {
  const { checkOnly = false, targets } = options;
  const all = targetsOf(options);
  const backEnd = new BackEnd(checkOnly ? [] : targets, front.work);
  const instances: InstanceInfo[] = [];
  const constants = new ConstantBuffers();
  let kernel: TypedKernel | undefined;
  let key: readonly string[] = [];
  for (const instance of plan.instances) {
    const reporter = new Reporter();
    const label = labelOf(instance);
    const [first = all[0], ...others] = instance.targets;
    const texts = timed(
      watchEntry(options, entryName(plan, instance, GENERAL).symbol),
      "check",
      () => instanceTexts(front, site, instance, [first, ...others]),
    );
    reportTexts(texts, front.file, site, plan, label, collector);
    const building = buildOptions(
      options,
      instance,
      (specialization) => watchEntry(options, entryName(plan, instance, specialization).symbol),
    );
    const built = buildInstance(texts, plan, instance, building, reporter);
    if (built?.funcs.every(({ func, entry }) => checkTileLimits(func, entry, reporter))) {
      if (kernel === undefined) ({ kernel, key } = built);
      const infos = describeInstances(plan, instance, built, all.length);
      instances.push(...infos);
      built.funcs.forEach(({ func }) => constants.add(func));
      const unsupported = new Unsupporteds();
      const funcs = new Map([[built.kernel, built.funcs.map(({ func }) => func)]]);
      for (const target of targets.filter((one) => instance.targets.includes(one))) {
        if (!front.work.allowsMore(reporter)) break;
        if (checkOnly) break;
        const own = checkInstance(front, site, instance, ALL_TARGETS[target]);
        for (
          const [index, func] of funcsOf(own.kernel, built, funcs, building, reporter).entries()
        ) {
          const { symbol, availableOn } = must(infos[index], "a specialisation");
          if (availableOn?.includes(target) === false) continue;
          constants.add(func);
          const debug = options.debug === true;
          if (!front.work.allowsMore(reporter)) break;
          const watch = watchEntry(options, symbol, target);
          const entryTargets = availableOn ?? targets;
          const place = {
            isFirst: target === entryTargets[0],
            isLast: target === targets.findLast((one) => entryTargets.includes(one)),
          };
          const { entry } = must(built.funcs[index], "the same of the first text");
          const lowering = { ...entry, symbol, debug, watch };
          unsupported.attempt(target, () => backEnd.add(target, func, lowering, place));
        }
      }
      unsupported.report(instance.targets, reporter);
    }
    collector.addInstance(site.offset, label, reporter.diagnostics);
    if (options.isEnough?.(instances) === true) break;
  }
  if (kernel === undefined) return undefined;
  const reporter = new Reporter();
  constants.report(instances.map(({ symbol }) => symbol), reporter);
  collector.addGeneral(reporter.diagnostics);
  return {
    name: site.name,
    doc: kernel.doc,
    span: kernel.span,
    instances,
    key,
    constants: constants.list(),
    modules: backEnd.modules(),
  };
}

/** What is wrong with the texts of an instance: each thing once, with a target that the first text does not stand for. */
function reportTexts(
  texts: OfTexts<CheckedKernel>,
  file: SourceFile,
  site: KernelSite,
  plan: KernelPlan,
  label: string,
  collector: DiagnosticCollector,
): void {
  const [{ value: first }, ...others] = texts;
  collector.addInstance(site.offset, label, first.general);
  collector.addInstance(site.offset, label, first.own);
  for (const { value: { general, own }, target } of others) {
    if (own === first.own) continue;
    const found = [...general, ...own].map((one) => inTextFor(target, one));
    collector.addInstance(site.offset, label, found);
  }
  if (!texts.some(({ value }) => isMissing(value))) return;
  const reporter = new Reporter();
  reportMissing(site, plan, file, reporter);
  collector.addInstance(site.offset, label, reporter.diagnostics);
}

const isMissing = ({ kernel, general, own }: CheckedKernel): boolean =>
  kernel === undefined && ![...general, ...own].some(({ severity }) => severity === "error");

/** What the text that the first target takes does not have. */
function inTextFor(target: TargetName, diagnostic: Diagnostic): Diagnostic {
  const note = { message: `in the code compiled for ${target}` };
  return { ...diagnostic, notes: [...diagnostic.notes, note] };
}

/** A definition inside an `#if` that this instance does not take. */
function reportMissing(
  { name }: KernelSite,
  { parameters }: KernelPlan,
  file: SourceFile,
  reporter: Reporter,
): void {
  const span = parameters[0]?.span ?? { file, start: 0, end: 0 };
  reporter.error("E9006", span, `not every instance of ${file.name} has the kernel \`${name}\``, {
    hint: "define it outside of `#if`s that depend on parameters; let them choose between bodies",
  });
}

/** `TYPE=half, TM=32`: what distinguishes the instance from others. */
function labelOf({ variant, config }: InstancePlan): string {
  const bindings = Object.entries({ ...variant.bindings, ...config });
  return bindings.length === 0
    ? variant.name
    : bindings.map(([name, value]) => `${name}=${value}`).join(", ");
}

function describeInstances(
  plan: KernelPlan,
  instance: InstancePlan,
  built: BuiltInstance,
  targets: number,
): readonly InstanceInfo[] {
  const { variant, config: bindings, configuration: { label } } = instance;
  const isChoice = plan.instances.some((one) => one.configuration.suffix !== "");
  return built.funcs.map(({ specialization, func, entry: { numWarps, numCtas } }) => {
    const { symbol, first } = entryName(plan, instance, specialization);
    const name = specializationName(specialization.suffix);
    const row = specializationName(specialization.row);
    const cover = must(instance.covers.get(row), "a specialisation of the plan");
    const clocks = isChoice ? blockClocks(func) : undefined;
    return {
      symbol,
      variant,
      config: { bindings, numWarps, ...numCtas === 1 ? {} : { numCtas } },
      ...(isChoice || cover.targets.length < targets
        ? {
          configuration: {
            label,
            specialization: name,
            first,
            rank: cover.rank,
          },
        }
        : {}),
      ...(cover.targets.length === targets ? {} : { availableOn: cover.targets }),
      ...(clocks === undefined ? {} : { clocks }),
      specialization: specialization.conditions,
      contract: built.contract,
    };
  });
}

/** The optimised functions of an instance, for targets that the text distinguishes those of their own kernel. */
function funcsOf(
  kernel: TypedKernel | undefined,
  built: BuiltInstance,
  known: Map<TypedKernel, readonly Func[]>,
  options: BuildOptions,
  reporter: Reporter,
): readonly Func[] {
  if (kernel === undefined) return [];
  const funcs = known.get(kernel) ?? funcsOfText(kernel, built, options, reporter);
  known.set(kernel, funcs);
  return funcs;
}
