/**
 * One build, without the terminal: sources → compiled kernels → images → wrappers → files. The command
 * around it prints; this file only reports progress through a callback.
 */
import type { Measured } from "../codegen/mod.ts";
import type { CompiledKernel, CompileOptions, CompileResult } from "../compiler/options.ts";
import type { Diagnostic } from "../compiler/support/diagnostic.ts";
import { must } from "../compiler/support/bug.ts";
import type { Counts, Skipped, SourceState } from "./build_state.ts";
import { sha256 } from "./hash.ts";
import { includeFinder, type Probes } from "./include.ts";
import type { Content } from "./output_folder.ts";
import { folderOf, joinPath, relativePath } from "./paths.ts";
import type { Project, Source } from "./project.ts";
import {
  assemble,
  type Assembled,
  type Assembler,
  chooseAssembler,
  ptxVersionOf,
  type Resources,
} from "./ptxas.ts";
import { mapPool } from "./process.ts";
import type { Compiler, Image, Toolchain } from "./toolchain.ts";

/** The language of the wrappers. */
export type Emit = "ts" | "js";

/** Everything that is decided before the first source is compiled. */
export interface BuildPlan {
  readonly project: Project;
  readonly includeFolders: readonly string[];
  readonly assemblers: readonly Assembler[];
  /** False: PTX only, as the user wished. */
  readonly cubins: boolean;
  readonly embed: boolean;
  readonly emit: Emit;
  /** Absolute path of the output folder. */
  readonly out: string;
  readonly jobs: number;
}

/** A source that is not up to date. */
export interface Task {
  readonly source: Source;
  readonly options: CompileOptions;
  readonly measured: readonly Measured[];
}

/** What became of one task. */
export interface Built {
  readonly source: Source;
  readonly diagnostics: readonly Diagnostic[];
  readonly counts: Counts;
  readonly skipped: readonly Skipped[];
  readonly warnings: readonly AssemblerWarning[];
  readonly probes: Probes;
  readonly files: ReadonlyMap<string, Content>;
  readonly manifest: Readonly<Record<string, unknown>>;
}

/** What ptxas said about a kernel. */
export interface AssemblerWarning {
  readonly kernel: string;
  readonly arch: string;
  readonly message: string;
}

/** ptxas refused a module: a defect in tri, not in the kernel. */
export interface Rejected {
  readonly kernel: string;
  readonly arch: string;
  readonly assembler: string;
  readonly message: string;
}

/** Called before each step with how much of it is done. */
export type Progress = (
  step: "compile" | "assemble",
  done: number,
  total: number,
  what: string,
) => void;

/** The result of compiling all tasks. */
export interface CompiledTask {
  readonly task: Task;
  readonly result: CompileResult;
  readonly probes: Probes;
}

/** Text to PTX, for every task. */
export async function compileTasks(
  plan: BuildPlan,
  tasks: readonly Task[],
  compiler: Compiler,
  progress: Progress,
): Promise<CompiledTask[]> {
  const compiled: CompiledTask[] = [];
  for (const [index, task] of tasks.entries()) {
    progress("compile", index, tasks.length, task.source.file.name);
    compiled.push(compileOne(plan, task, compiler));
    // Lets signals and timers through between files.
    await new Promise((resolve) => setTimeout(resolve));
  }
  return compiled;
}

function compileOne(plan: BuildPlan, task: Task, compiler: Compiler): CompiledTask {
  const finder = includeFinder(plan.project.root, plan.includeFolders);
  const result = compiler.compileFile(task.source.file, {
    ...task.options,
    include: finder.resolve,
  });
  return { task, result, probes: finder.probes };
}

interface AssemblyJob {
  readonly stem: string;
  readonly kernel: string;
  readonly arch: string;
  readonly ptx: string;
  readonly assembler: Assembler;
}

interface AssemblyOutcome {
  readonly job: AssemblyJob;
  readonly outcome: Assembled;
}

/** PTX to cubins, for all tasks at once so that all cores have work. */
export async function assembleAll(
  plan: BuildPlan,
  compiled: readonly CompiledTask[],
  progress: Progress,
): Promise<{ readonly done: readonly AssemblyOutcome[]; readonly rejected: readonly Rejected[] }> {
  // The longest first, so that no core is left with a long one at the end.
  const jobs = (plan.cubins ? compiled.flatMap((entry) => assemblyJobs(plan, entry)) : [])
    .sort((a, b) => b.ptx.length - a.ptx.length);
  let finished = 0;
  const done = await mapPool(jobs, plan.jobs, async (job): Promise<AssemblyOutcome> => {
    progress("assemble", finished, jobs.length, `${job.kernel} for ${job.arch}`);
    const outcome = await assemble(job.assembler, job.arch, job.ptx);
    finished++;
    return { job, outcome };
  });
  const rejected = done.flatMap(({ job, outcome }) =>
    outcome.kind === "failed"
      ? [{
        kernel: job.kernel,
        arch: job.arch,
        assembler: `${job.assembler.path} ${job.assembler.version}`,
        message: outcome.message,
      }]
      : []
  );
  return { done, rejected };
}

function assemblyJobs(plan: BuildPlan, { task, result }: CompiledTask): AssemblyJob[] {
  return modulesOf(result.kernels).flatMap(({ kernel, arch, ptx }) => {
    const assembler = chooseAssembler(plan.assemblers, arch, ptxVersionOf(ptx));
    return typeof assembler === "string"
      ? []
      : [{ stem: task.source.stem, kernel, arch, ptx, assembler }];
  });
}

function modulesOf(
  kernels: readonly CompiledKernel[],
): { kernel: string; arch: string; ptx: string }[] {
  return kernels.flatMap(({ name, modules }) =>
    modules.map(({ target, ptx }) => ({ kernel: name, arch: target, ptx }))
  );
}

/** Images to files: everything that one source gives. */
export async function finishTask(
  plan: BuildPlan,
  { task, result, probes }: CompiledTask,
  assembled: readonly AssemblyOutcome[],
  toolchain: Toolchain,
): Promise<Built> {
  const { source } = task;
  const mine = assembled.filter(({ job }) => job.stem === source.stem);
  const images: Image[] = [];
  const skipped: Skipped[] = [];
  const warnings: AssemblerWarning[] = [];
  const resources: Record<string, Record<string, Readonly<Record<string, Resources>>>> = {};
  for (const { kernel, arch, ptx } of modulesOf(result.kernels)) {
    const path = `${baseStem(source.stem)}/${kernel}.${arch}`;
    images.push({
      kernel,
      target: arch,
      kind: "ptx",
      path: `${path}.ptx`,
      content: new TextEncoder().encode(ptx),
    });
    if (!plan.cubins) continue;
    const found = mine.find(({ job }) => job.kernel === kernel && job.arch === arch);
    if (found?.outcome.kind === "cubin") {
      images.push({
        kernel,
        target: arch,
        kind: "cubin",
        path: `${path}.cubin`,
        content: found.outcome.cubin,
      });
      warnings.push(...found.outcome.warnings.map((message) => ({ kernel, arch, message })));
      (resources[kernel] ??= {})[arch] = found.outcome.resources;
    } else {
      const reason = chooseAssembler(plan.assemblers, arch, ptxVersionOf(ptx));
      skipped.push({
        kernel,
        arch,
        reason: typeof reason === "string" ? reason : "it was not assembled",
      });
    }
  }
  // What others include needs no wrapper.
  if (result.kernels.length === 0) {
    return {
      source,
      diagnostics: result.diagnostics,
      counts: countsOf([]),
      skipped,
      warnings,
      probes,
      files: new Map(),
      manifest: {},
    };
  }
  const codegen = await toolchain.codegen();
  const wrapper = await codegen.generate({
    source: source.file,
    stem: source.stem,
    kernels: result.kernels,
    images,
    measured: task.measured,
    embed: plan.embed,
    ...plan.emit === "js" ? { javascript: { sourcePath: sourcePathOf(plan, source) } } : {},
  });
  const folder = source.stem.slice(0, source.stem.length - baseStem(source.stem).length);
  const files = new Map<string, Content>([
    ...[...wrapper.modules].map(([end, text]): [string, Content] => [`${source.stem}${end}`, text]),
    ...(plan.embed
      ? []
      : images.map(({ path, content }): [string, Content] => [`${folder}${path}`, content])),
  ]);
  return {
    source,
    diagnostics: result.diagnostics,
    counts: countsOf(result.kernels),
    skipped,
    warnings,
    probes,
    files,
    manifest: withResources(wrapper.manifest, resources),
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

function countsOf(kernels: readonly CompiledKernel[]): Counts {
  const variants = kernels.map(({ instances }) =>
    new Set(instances.map(({ variant }) => JSON.stringify(variant))).size
  );
  return {
    kernels: kernels.length,
    variants: variants.reduce((sum, count) => sum + count, 0),
    instances: kernels.reduce((sum, { instances }) => sum + instances.length, 0),
  };
}

/** Sums counts. */
export function addCounts(all: readonly Counts[]): Counts {
  return all.reduce((sum, one) => ({
    kernels: sum.kernels + one.kernels,
    variants: sum.variants + one.variants,
    instances: sum.instances + one.instances,
  }), { kernels: 0, variants: 0, instances: 0 });
}

/** The record of a built source. */
export function stateOf(built: Built, inputs: SourceState["inputs"]): SourceState {
  return {
    file: built.source.file.name,
    inputs: { ...inputs, includes: built.probes },
    counts: built.counts,
    skipped: built.skipped,
    outputs: Object.fromEntries([...built.files].map(([path, content]) => [path, sha256(content)])),
  };
}

/** A command-line define that other files use is no mistake: W1023 counts only if every file says it. */
export function dropLocalUnusedDefines(
  results: readonly (readonly Diagnostic[])[],
  everything: boolean,
): Diagnostic[] {
  const shown = new Set<string>();
  return results.flatMap((diagnostics) =>
    diagnostics.filter((diagnostic) => {
      if (diagnostic.code !== "W1023") return true;
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
