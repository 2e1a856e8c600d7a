/**
 * The whole compiler on one screen: from the text of a file to PTX and contracts.
 *
 *     pragmas ─▶ plan: kernels × variants × configurations
 *     each instance ─▶ preprocess, parse, check ─▶ tile IR ─▶ contract ─▶ specialisations
 *     each specialisation ─▶ tile IR with its assumptions ─▶ PTX per target
 */
import {
  firstBindings,
  type InstancePlan,
  type KernelPlan,
  planInstances,
} from "./contract/instances.ts";
import {
  assignItems,
  type KernelSite,
  type OverrideItem,
  type SourcedItem,
} from "./contract/items.ts";
import { readOptions } from "./contract/kernel_options.ts";
import { entrySymbol } from "./contract/specialize.ts";
import type { InstanceInfo } from "./contract/types.ts";
import { reportUnusedDefines, reportUnusedParameters } from "./contract/unused.ts";
import { DiagnosticCollector } from "./diagnostics.ts";
import type { PragmaItem } from "./front/pragma.ts";
import { parsePragmaLine, readPragmas } from "./front/read_pragmas.ts";
import {
  buildInstance,
  buildSpecialized,
  type BuiltInstance,
  checkInstance,
  passOptions,
} from "./instance_build.ts";
import { type CheckedKernel, InstanceFront, type ParsedFile } from "./instance_front.ts";
import type { TypedKernel } from "./front/typed.ts";
import type { Func } from "./ir/func.ts";
import { type LoweredKernel, lowerFunc } from "./lower/mod.ts";
import { FileTable } from "./lower/places.ts";
import { Unsupporteds } from "./unsupported.ts";
import type { CompiledKernel, CompiledModule, CompileOptions, CompileResult } from "./options.ts";
import { printModule } from "./ptx/print.ts";
import { requiredVersion } from "./ptx/version.ts";
import { must } from "./support/bug.ts";
import { Reporter } from "./support/diagnostic.ts";
import type { SourceFile } from "./support/source.ts";
import { type TargetName, TARGETS } from "./targets.ts";
import { checkTileLimits } from "./tile_limits.ts";

/** A file with its kernels found and planned. */
export interface PlannedFile {
  readonly front: InstanceFront;
  /** The file as the first values of all parameters make it. */
  readonly parsed: ParsedFile;
  readonly kernels: readonly { readonly site: KernelSite; readonly plan: KernelPlan }[];
  readonly items: readonly PragmaItem[];
}

/** Compiles every instance of every kernel of a file. Never throws for what the text contains. */
export function compileFile(file: SourceFile, options: CompileOptions): CompileResult {
  const collector = new DiagnosticCollector();
  const general = new Reporter();
  const { front, kernels, items } = planFile(file, options, collector, general);
  const compiled = kernels.map(({ site, plan }) =>
    compileKernel(front, site, plan, options, collector)
  );

  for (const { plan } of kernels) reportUnusedParameters(plan, front.usedMacros(), general);
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
  const groups = readPragmas(file, reporter);
  const overrides = readOverrides(options, reporter);
  const items = [...overrides.map(({ item }) => item), ...groups.flatMap((group) => group.items)];
  const { parsed, sites } = findKernels(front, items, options, collector);
  const assigned = assignItems(groups, overrides, sites, reporter);
  const kernels = sites
    .filter(({ name }) => options.kernels === undefined || options.kernels.includes(name))
    .map((site) => {
      const own: readonly SourcedItem[] = assigned.get(site.name) ?? [];
      return { site, plan: planInstances(site.name, own, defines, reporter) };
    });
  return { front, parsed, kernels, items };
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

/** Kernels by name. Which there are may depend on parameters, whose first values stand for all. */
function findKernels(
  front: InstanceFront,
  items: readonly PragmaItem[],
  options: CompileOptions,
  collector: DiagnosticCollector,
): { readonly parsed: ParsedFile; readonly sites: readonly KernelSite[] } {
  const request = {
    defines: firstBindings(items, options.defines ?? []),
    options: readOptions([]),
    sm: smOf(options.targets[0]),
  };
  const parsed = front.parse(request);
  const { kernels } = parsed;
  if (kernels.length === 0) {
    collector.addGeneral(front.check(request, { name: "", offset: -1 }).diagnostics);
  }
  return { parsed, sites: [...new Map(kernels.map((kernel) => [kernel.name, kernel])).values()] };
}

const smOf = (target: TargetName | undefined): number =>
  target === undefined ? 0 : TARGETS[target].sm;

/** All instances of one kernel; undefined after an error. */
function compileKernel(
  front: InstanceFront,
  site: KernelSite,
  plan: KernelPlan,
  options: CompileOptions,
  collector: DiagnosticCollector,
): CompiledKernel | undefined {
  const lowered = new Map<TargetName, LoweredKernel[]>(
    options.targets.map((target) => [target, []]),
  );
  const files = new Map(options.targets.map((target) => [target, new FileTable()]));
  const instances: InstanceInfo[] = [];
  let kernel: TypedKernel | undefined;
  for (const instance of plan.instances) {
    const reporter = new Reporter();
    const label = labelOf(instance);
    const checked = checkInstance(front, site, instance, smOf(options.targets[0]));
    collector.addInstance(site.name, label, checked.diagnostics);
    const built = buildInstance(checked, plan, instance, passOptions(options, instance), reporter);
    if (isMissing(checked)) reportMissing(site, plan, front.file, reporter);
    const { numWarps, numStages, maxRegisters, floats } = instance.options;
    if (built?.funcs.every(({ func }) => checkTileLimits(func, numWarps, reporter))) {
      kernel ??= built.kernel;
      const infos = describeInstances(plan, instance, built);
      instances.push(...infos);
      const unsupported = new Unsupporteds();
      for (const target of options.targets) {
        const funcs = funcsFor(front, site, instance, built, target, options, reporter);
        for (const [index, func] of funcs.entries()) {
          const { symbol } = must(infos[index], "a specialisation");
          const one = unsupported.attempt(
            target,
            () =>
              lowerFunc(func, {
                target: TARGETS[target],
                numWarps,
                numStages,
                floats,
                maxRegisters,
                symbol,
                debug: options.debug === true,
                files: must(files.get(target), "files of a target"),
              }),
          );
          if (one !== undefined) must(lowered.get(target), "kernels of a target").push(one);
        }
      }
      unsupported.report(options.targets, reporter);
    }
    collector.addInstance(site.name, label, reporter.diagnostics);
  }
  if (kernel === undefined) return undefined;
  const modules = [...lowered].map(([target, kernels]) =>
    makeModule(target, kernels, files.get(target)?.names ?? [])
  );
  return { name: site.name, doc: kernel.doc, span: kernel.span, instances, modules };
}

const isMissing = ({ kernel, diagnostics }: CheckedKernel): boolean =>
  kernel === undefined && !diagnostics.some(({ severity }) => severity === "error");

/** A definition inside an `#if` that this instance does not take. */
function reportMissing(
  { name }: KernelSite,
  { parameters }: KernelPlan,
  file: SourceFile,
  reporter: Reporter,
): void {
  const span = parameters[0]?.span ?? { file, start: 0, end: 0 };
  reporter.error("E9006", span, `not every instance of the file has the kernel \`${name}\``, {
    hint: "define it outside of `#if`s that depend on parameters; let them choose between bodies",
  });
}

/** `TYPE=half, TM=32`: what tells the instance from others. */
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
): readonly InstanceInfo[] {
  const { kernel, variant, config: bindings, options: { numWarps } } = instance;
  const variants = new Set(plan.instances.map((one) => one.variant.name));
  const variantName = variants.size > 1 ? variant.name : undefined;
  return built.funcs.map(({ specialization }) => ({
    symbol: entrySymbol(kernel, variantName, specialization),
    variant,
    config: { bindings, numWarps },
    specialization: specialization.conditions,
    contract: built.contract,
  }));
}

/** The optimised functions of an instance: the same for all targets that its text does not ask for. */
function funcsFor(
  front: InstanceFront,
  site: KernelSite,
  instance: InstancePlan,
  built: BuiltInstance,
  target: TargetName,
  options: CompileOptions,
  reporter: Reporter,
): readonly Func[] {
  const { kernel } = checkInstance(front, site, instance, smOf(target));
  if (kernel === built.kernel) return built.funcs.map(({ func }) => func);
  if (kernel === undefined) return [];
  return built.funcs.flatMap(({ specialization }) =>
    buildSpecialized(
      kernel,
      built.declared,
      specialization,
      passOptions(options, instance),
      reporter,
    ) ?? []
  );
}

function makeModule(
  target: TargetName,
  lowered: readonly LoweredKernel[],
  files: readonly string[],
): CompiledModule {
  const kernels = lowered.map(({ kernel }) => kernel);
  const version = requiredVersion(kernels, TARGETS[target].ptx);
  return {
    target,
    ptx: printModule({
      version,
      target,
      files,
      variables: distinct(lowered.flatMap(({ globals }) => globals)),
      functions: distinct(lowered.flatMap(({ externs }) => externs)),
      kernels,
    }),
    entries: lowered.map(({ kernel, threads, sharedBytes }) => ({
      symbol: kernel.name,
      threads,
      sharedBytes,
    })),
  };
}

/** What several entries declare, once. */
function distinct<T extends { readonly name: string }>(declared: readonly T[]): T[] {
  return [...new Map(declared.map((one) => [one.name, one])).values()];
}
