/**
 * One build, without the terminal: sources → compiled kernels → images → wrappers → files. The command
 * around it prints; this file only reports progress through a callback.
 */
import { sumOf } from "@std/collections/sum-of";
import type { ExportedNames, Measured } from "../../codegen/mod.ts";
import type { CompileOptions, KernelOutline } from "../../compiler/options.ts";
import type { Diagnostic } from "../../compiler/support/diagnostic.ts";
import { must } from "../../compiler/support/bug.ts";
import { groupBy } from "../../compiler/support/group_by.ts";
import { unwrappableDiagnostic } from "../diagnostics/unwrappable.ts";
import type { Counts, Skipped, SourceState } from "./state.ts";
import { includeFinder, type Probes } from "../project/include.ts";
import { folderOf, joinPath, relativePath } from "../files/paths.ts";
import { type ExportNames, unknownExports } from "../project/export_names.ts";
import { labelOf, type Project, settingsOf, type Source } from "../project/project.ts";
import {
  assemble,
  type Assembled,
  type Assembler,
  chooseAssembler,
  ptxVersionOf,
  type Resources,
} from "../tools/ptxas.ts";
import { codeIdentity, ownCubins, ownPtx } from "./compact.ts";
import { makeImages, type PlainImage } from "./images.ts";
import { mapPool } from "../tools/process.ts";
import { readStaged, type Staged, type Staging } from "../files/staging.ts";
import type { Compiler, Toolchain } from "../tools/toolchain.ts";
import type { RemoteSettings } from "../remote/settings.ts";
import { VERSION } from "../version.ts";

/** The language of the wrappers. */
export type Emit = "ts" | "js";

/** Everything that is decided before the first source is compiled. */
export interface BuildPlan {
  readonly project: Project;
  readonly includeFolders: readonly string[];
  readonly assemblers: readonly Assembler[];
  /** False: PTX only (`--no-cubin`). */
  readonly cubins: boolean;
  readonly embed: boolean;
  /** The fewest images, compressed. */
  readonly compact: boolean;
  readonly emit: Emit;
  /** Absolute path of the output folder. */
  readonly out: string;
  readonly jobs: number;
  /** Undefined: nothing is fetched from elsewhere. */
  readonly remote: RemoteSettings | undefined;
}

/** A source that is not up to date. */
export interface Task {
  readonly source: Source;
  readonly options: CompileOptions;
  readonly measured: readonly Measured[];
  readonly exports: ExportNames;
}

/** The result of one task. */
export interface Built {
  readonly source: Source;
  readonly diagnostics: readonly Diagnostic[];
  readonly counts: Counts;
  readonly skipped: readonly Skipped[];
  readonly warnings: readonly AssemblerWarning[];
  readonly probes: Probes;
  readonly files: ReadonlyMap<string, Staged>;
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly exports: ExportedNames;
}

/** What ptxas said about a kernel. */
export interface AssemblerWarning {
  readonly kernel: string;
  readonly arch: string;
  readonly message: string;
}

/** ptxas refused a module: a defect in tri, not in the kernel. */
export interface Rejected {
  readonly stem: string;
  readonly kernel: string;
  readonly arch: string;
  readonly assembler: string;
  readonly message: string;
}

/** Called before each step with how much of it is done. */
export type Progress = (
  step: "compile" | "assemble" | "fetch" | "store",
  done: number,
  total: number,
  what: string,
) => void;

/** The result of compiling all tasks. */
export interface CompiledTask {
  readonly task: Task;
  readonly diagnostics: readonly Diagnostic[];
  readonly kernels: readonly KernelOutline[];
  readonly modules: readonly PtxModule[];
  readonly probes: Probes;
}

/** A PTX module that lies on disk. */
export interface PtxModule {
  readonly kernel: string;
  readonly arch: string;
  /** Its PTX version, times ten. */
  readonly version: number;
  readonly ptx: Staged;
  /** For `--compact`: what `codeIdentity` says. */
  readonly code: string;
}

/** Text to PTX, for every task. */
export async function compileTasks(
  plan: BuildPlan,
  tasks: readonly Task[],
  compiler: Compiler,
  staging: Staging,
  progress: Progress,
): Promise<CompiledTask[]> {
  const compiled: CompiledTask[] = [];
  for (const [index, task] of tasks.entries()) {
    progress("compile", index, tasks.length, labelOf(task.source));
    compiled.push(compileOne(plan, task, compiler, staging));
    // Lets signals and timers through between files.
    await new Promise((resolve) => setTimeout(resolve));
  }
  return compiled;
}

function compileOne(
  plan: BuildPlan,
  task: Task,
  compiler: Compiler,
  staging: Staging,
): CompiledTask {
  const finder = includeFinder(plan.project.root, plan.includeFolders);
  const { diagnostics, kernels } = compiler.compileFile(task.source.file, {
    ...task.options,
    include: finder.resolve,
  });
  const mistakes = kernels.length === 0 ? [] : unknownExports(
    settingsOf(plan.project, task.source).flatMap(({ exports }) => exports),
    kernels.map(({ name }) => name),
  );
  const modules = kernels.flatMap(({ name, modules }) =>
    modules.map(({ target, ptx, entries }) => ({
      kernel: name,
      arch: target,
      version: ptxVersionOf(ptx),
      ptx: staging.add(ptx),
      code: plan.compact ? codeIdentity(ptx, entries) : target,
    }))
  );
  const outlines = kernels.map((kernel) => ({
    ...kernel,
    modules: kernel.modules.map(({ target, entries }) => ({ target, entries })),
  }));
  return {
    task,
    diagnostics: [...diagnostics, ...mistakes],
    kernels: outlines,
    modules,
    probes: finder.probes,
  };
}

interface AssemblyJob extends PtxModule {
  readonly stem: string;
  readonly assembler: Assembler;
}

type Made = Omit<Extract<Assembled, { kind: "cubin" }>, "cubin"> & { readonly cubin: Staged };

interface AssemblyOutcome {
  readonly job: AssemblyJob;
  readonly outcome: Made | Extract<Assembled, { kind: "failed" }>;
}

/** PTX to cubins, for all tasks at once so that all cores have work. */
export async function assembleAll(
  plan: BuildPlan,
  compiled: readonly CompiledTask[],
  staging: Staging,
  progress: Progress,
): Promise<{ readonly done: readonly AssemblyOutcome[]; readonly rejected: readonly Rejected[] }> {
  // The longest first, so that no core is left with a long one at the end.
  const jobs = compiled.flatMap((entry) => assemblyJobs(plan, entry))
    .sort((a, b) => b.ptx.bytes - a.ptx.bytes);
  let finished = 0;
  const done = await mapPool(jobs, plan.jobs, async (job): Promise<AssemblyOutcome> => {
    progress("assemble", finished, jobs.length, `${job.kernel} for ${job.arch}`);
    const text = new TextDecoder().decode(readStaged(job.ptx));
    const outcome = await assemble(job.assembler, job.arch, text, staging.folder);
    finished++;
    if (outcome.kind === "failed") return { job, outcome };
    return { job, outcome: { ...outcome, cubin: staging.add(outcome.cubin) } };
  });
  const rejected = done.flatMap(({ job, outcome }) =>
    outcome.kind === "failed"
      ? [{
        stem: job.stem,
        kernel: job.kernel,
        arch: job.arch,
        assembler: `${job.assembler.path} ${job.assembler.version}`,
        message: outcome.message,
      }]
      : []
  );
  return { done, rejected };
}

function assemblyJobs(plan: BuildPlan, { task, modules }: CompiledTask): AssemblyJob[] {
  return modulesWithCubins(plan, modules).flatMap((module) => {
    const assembler = chooseAssembler(plan.assemblers, module.arch, module.version);
    return typeof assembler === "string" ? [] : [{ ...module, stem: task.source.stem, assembler }];
  });
}

function modulesWithPtx(plan: BuildPlan, modules: readonly PtxModule[]): readonly PtxModule[] {
  return plan.compact ? byKernel(modules).flatMap(ownPtx) : modules;
}

function modulesWithCubins(plan: BuildPlan, modules: readonly PtxModule[]): readonly PtxModule[] {
  if (!plan.cubins) return [];
  return plan.compact ? byKernel(modules).flatMap(ownCubins) : modules;
}

function byKernel(modules: readonly PtxModule[]): readonly (readonly PtxModule[])[] {
  return [...groupBy(modules, ({ kernel }) => kernel).values()];
}

/** Images to files: everything that one source gives, or why it can have no wrapper. */
export async function finishTask(
  plan: BuildPlan,
  { task, diagnostics, kernels, modules, probes }: CompiledTask,
  assembled: readonly AssemblyOutcome[],
  staging: Staging,
  toolchain: Toolchain,
): Promise<Built | Diagnostic> {
  const { source } = task;
  const mine = assembled.filter(({ job }) => job.stem === source.stem);
  const plain: PlainImage[] = [];
  const skipped: Skipped[] = [];
  const warnings: AssemblerWarning[] = [];
  const resources: Record<string, Record<string, Readonly<Record<string, Resources>>>> = {};
  const folder = source.stem.slice(0, source.stem.length - baseStem(source.stem).length);
  const withPtx = new Set(modulesWithPtx(plan, modules));
  const withCubin = new Set(modulesWithCubins(plan, modules));
  for (const module of modules) {
    const { kernel, arch, version, ptx } = module;
    if (withPtx.has(module)) plain.push({ kernel, target: arch, kind: "ptx", content: ptx });
    if (!withCubin.has(module)) continue;
    const found = mine.find(({ job }) => job.kernel === kernel && job.arch === arch);
    if (found?.outcome.kind === "cubin") {
      plain.push({ kernel, target: arch, kind: "cubin", content: found.outcome.cubin });
      warnings.push(...found.outcome.warnings.map((message) => ({ kernel, arch, message })));
      (resources[kernel] ??= {})[arch] = found.outcome.resources;
    } else {
      const reason = chooseAssembler(plan.assemblers, arch, version);
      skipped.push({
        kernel,
        arch,
        reason: typeof reason === "string" ? reason : "it was not assembled",
      });
    }
  }
  const { images, staged } = await makeImages(plain, baseStem(source.stem), plan, staging);
  const files = new Map(
    plan.embed ? [] : [...staged].map(([path, one]): [string, Staged] => [`${folder}${path}`, one]),
  );
  // What others include needs no wrapper.
  if (kernels.length === 0) {
    return {
      source,
      diagnostics,
      counts: countsOf([]),
      skipped,
      warnings,
      probes,
      files: new Map(),
      manifest: {},
      exports: { values: [], types: [] },
    };
  }
  const codegen = await toolchain.codegen();
  const wrapper = await codegen.generate({
    source: source.file,
    generator: VERSION,
    stem: source.stem,
    kernels,
    images,
    measured: task.measured,
    exports: task.exports,
    embed: plan.embed,
    ...plan.emit === "js" ? { javascript: { sourcePath: sourcePathOf(plan, source) } } : {},
  });
  if ("unwrappable" in wrapper) return unwrappableDiagnostic(wrapper, kernels);
  for (const [end, text] of wrapper.modules) files.set(`${source.stem}${end}`, staging.add(text));
  return {
    source,
    diagnostics,
    counts: countsOf(kernels),
    skipped,
    warnings,
    probes,
    files,
    manifest: withResources(wrapper.manifest, resources),
    exports: wrapper.exports,
  };
}

/** From the wrapper to its source. */
function sourcePathOf({ project, out }: BuildPlan, { file, stem }: Source): string {
  return relativePath(folderOf(joinPath(out, stem)), joinPath(project.root, file.name));
}

function baseStem(stem: string): string {
  return must(stem.split("/").at(-1), "the last part of a stem");
}

function withResources(
  manifest: Readonly<Record<string, unknown>>,
  resources: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(manifest).map(([kernel, facts]) => [
      kernel,
      typeof facts === "object" && facts !== null
        ? { ...facts, resources: resources[kernel] ?? {} }
        : facts,
    ]),
  );
}

function countsOf(kernels: readonly KernelOutline[]): Counts {
  return {
    kernels: kernels.length,
    variants: sumOf(
      kernels,
      ({ instances }) => new Set(instances.map(({ variant }) => JSON.stringify(variant))).size,
    ),
    instances: sumOf(kernels, ({ instances }) => instances.length),
  };
}

/** Sums counts. */
export function addCounts(all: readonly Counts[]): Counts {
  return {
    kernels: sumOf(all, ({ kernels }) => kernels),
    variants: sumOf(all, ({ variants }) => variants),
    instances: sumOf(all, ({ instances }) => instances),
  };
}

/** The record of a built source. */
export function stateOf(built: Built, inputs: SourceState["inputs"]): SourceState {
  return {
    file: built.source.file.name,
    inputs: { ...inputs, includes: built.probes },
    counts: built.counts,
    skipped: built.skipped,
    outputs: Object.fromEntries([...built.files].map(([path, { hash }]) => [path, hash])),
    exports: built.exports,
  };
}

/**
 * A command-line define that other files use is no mistake: W1023 counts only if every file says it. What several builds of
 * a file have is shown once.
 */
export function dropLocalUnusedDefines(
  results: readonly (readonly Diagnostic[])[],
  everything: boolean,
): Diagnostic[] {
  const shown = new Set<string>();
  const isNew = ({ code, message, span: { file, start } }: Diagnostic): boolean => {
    const key = `${file.name} ${start} ${code} ${message}`;
    return shown.size < shown.add(key).size;
  };
  return results.flatMap((diagnostics) =>
    diagnostics.filter((diagnostic) => {
      if (diagnostic.code !== "W1023") return isNew(diagnostic);
      const everywhere = everything &&
        results.every((others) =>
          others.some(({ code, message }) => code === "W1023" && message === diagnostic.message)
        );
      if (!everywhere || shown.has(diagnostic.message)) return false;
      shown.add(diagnostic.message);
      return true;
    })
  );
}
