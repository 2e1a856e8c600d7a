/** `tri build`: decides what is stale, builds it, writes the folder, says what happened. */
import { must } from "../compiler/support/bug.ts";
import {
  assembleAll,
  type BuildPlan,
  type Built,
  type CompiledTask,
  compileTasks,
  dropLocalUnusedDefines,
  finishTask,
  stateOf,
} from "./build.ts";
import { BuildReport, type Judged } from "./build_report.ts";
import {
  type BuildInputs,
  type BuildState,
  filesOf,
  printState,
  readState,
  type SourceState,
  stableJson,
  STATE_FILE,
  whyStale,
} from "./build_state.ts";
import type { CommandContext } from "./commands.ts";
import { EXIT, usageError } from "./failure.ts";
import { sha256 } from "./hash.ts";
import { probeAgain, type Probes } from "./include.ts";
import {
  type Content,
  guardForeignFiles,
  hashOf,
  hashOnDisk,
  updateFolder,
} from "./output_folder.ts";
import { jobCount } from "./jobs.ts";
import type { Invocation } from "./parse.ts";
import { absolutePath, joinPath } from "./paths.ts";
import { isFile, readTextIfThere } from "./project.ts";
import { Staging } from "./staging.ts";
import { type Assemblers, findAssemblers } from "./ptxas.ts";
import { checkKernelNames, hasErrors, openSession, type Session } from "./session.ts";
import type { IndexedModule } from "./toolchain.ts";
import { tuneProbe } from "./tuned.ts";
import { VERSION } from "./version.ts";

/** The module that re-exports all wrappers, without its ending. */
const INDEX = "mod";
const MANIFEST_FILE = "manifest.json";
/** JSR serves the files of a package. */
const MANIFEST_SCHEMA = `https://jsr.io/@tri/tri/${VERSION}/docs/manifest.schema.json`;

/** The body of the command. */
export async function runBuild(invocation: Invocation, context: CommandContext): Promise<number> {
  if (invocation.flag("bundle") && invocation.flag("check")) {
    throw usageError("--bundle and --check exclude each other");
  }
  if (!invocation.flag("watch")) return await buildOnce(invocation, context, {});
  if (invocation.flag("check")) throw usageError("--watch and --check exclude each other");
  const { watch } = await import("./watch.ts");
  return await watch(invocation, context, (probes) => buildOnce(invocation, context, probes));
}

async function buildOnce(
  invocation: Invocation,
  context: CommandContext,
  probes: Probes,
): Promise<number> {
  const code = await buildFolder(invocation, context, probes);
  if (code === EXIT.ok && invocation.flag("bundle")) {
    const { writeBundle } = await import("./bundle_file.ts");
    await writeBundle(invocation, context);
  }
  return code;
}

/** Adds to `probes` where included files were looked for. */
async function buildFolder(
  invocation: Invocation,
  context: CommandContext,
  probes: Probes,
): Promise<number> {
  const started = performance.now();
  const session = await openSession(invocation);
  const report = new BuildReport(invocation, context, session.project.root, started);
  const mistakes = session.project.reporter.diagnostics;
  if (hasErrors(mistakes)) return report.failed(mistakes, []);
  const survey = await surveyOutput(invocation, session, context);
  const { judged, stale, gone, state } = survey;
  for (const { source, inputs } of judged) {
    Object.assign(probes, inputs.includes, tuneProbe(session.project.root, source.path));
  }
  if (invocation.flag("check")) return report.checked(stale, gone, judged);
  if (stale.length === 0 && gone.length === 0) return report.nothingToDo(judged, state);
  if (invocation.flag("explain")) report.explained(stale, gone);
  return await produce(invocation, session, survey, context, report, probes);
}

/** What is there, what is wanted, and the difference. */
interface Survey {
  /** Absolute path of the output folder. */
  readonly out: string;
  readonly plan: BuildPlan;
  readonly assemblers: Assemblers | undefined;
  readonly state: BuildState;
  /** The facts of the last build by stem; undefined: lost or changed. */
  readonly manifest: Readonly<Record<string, unknown>> | undefined;
  readonly judged: readonly Judged[];
  readonly stale: readonly Judged[];
  /** Stems whose source is no longer there. */
  readonly gone: readonly string[];
}

async function surveyOutput(
  invocation: Invocation,
  session: Session,
  context: CommandContext,
): Promise<Survey> {
  const out = absolutePath(invocation.text("out") ?? "generated");
  if (isFile(out)) throw usageError(`--out ${out} is a file`, "Name a folder.");
  const state = readState(out);
  const assemblers = invocation.flag("no-cubin") ? undefined : await findAssemblers();
  const plan: BuildPlan = {
    project: session.project,
    includeFolders: invocation.list("include"),
    assemblers: assemblers?.usable ?? [],
    cubins: assemblers !== undefined,
    // A bundle has no files beside it.
    embed: invocation.flag("embed") || invocation.flag("bundle"),
    emit: invocation.text("emit") === "js" ? "js" : "ts",
    out,
    jobs: jobCount(invocation.text("jobs")),
  };
  const manifest = readManifest(out, state, `${INDEX}.${plan.emit}`);
  const known = manifest === undefined ? undefined : state;
  const judged = judge(session, invocation, plan, context, out, known);
  const stale = judged.filter(({ reason }) => reason !== undefined);
  const gone = goneSources(state, session);
  return { out, plan, assemblers, state, manifest, judged, stale, gone };
}

/** Compiles and assembles everything that is stale; writes only if all of it went well. */
async function produce(
  invocation: Invocation,
  session: Session,
  { out, plan, assemblers, state, manifest, judged, stale, gone }: Survey,
  context: CommandContext,
  report: BuildReport,
  probes: Probes,
): Promise<number> {
  const tasks = stale.map(({ source }) => ({
    source,
    options: session.optionsFor(source),
    measured: session.measuredFor(source),
  }));
  const compiler = await context.toolchain.compiler();
  using staging = new Staging(out);
  const compiled = await compileTasks(plan, tasks, compiler, staging, report.progress);
  for (const one of compiled) Object.assign(probes, one.probes);
  const diagnostics = dropLocalUnusedDefines(
    compiled.map((one) => one.diagnostics),
    stale.length === judged.length,
  );
  if (hasErrors(diagnostics)) return report.failed(diagnostics, []);
  if (stale.length === judged.length) {
    checkKernelNames(invocation, compiled.flatMap((one) => one.kernels));
  }
  const { done, rejected } = await assembleAll(plan, compiled, staging, report.progress);
  if (rejected.length > 0) return report.failed(diagnostics, rejected);
  const built = await finishAll(plan, compiled, done, staging, context);
  const warnings = built.flatMap((one) => one.warnings);
  if (invocation.flag("werror") && warnings.length > 0) return report.refusedWarnings(warnings);

  const kept = manifest === undefined ? [] : keptSources(state, built, gone);
  const sources = Object.fromEntries([...kept, ...newSources(judged, built)]);
  const files = await outputFiles(plan, built, sources, manifest ?? {}, context);
  const earlier = filesOf(state);
  if (!invocation.flag("force")) {
    guardForeignFiles(out, files, new Set([STATE_FILE, ...earlier.keys()]));
  }
  const keptFiles = new Set(kept.flatMap(([, { outputs }]) => Object.keys(outputs)));
  const obsolete = [...earlier].filter(([path]) => !files.has(path) && !keptFiles.has(path));
  const { written, unchanged, removed } = updateFolder(out, files, new Map(obsolete));
  const writeReport = { written, unchanged: unchanged + keptFiles.size, removed };
  return report.built(sources, built.length, diagnostics, warnings, writeReport, assemblers);
}

/** The manifest's facts by stem, if the file is the one that the state tells of. */
function readManifest(
  out: string,
  state: BuildState,
  indexFile: string,
): Readonly<Record<string, unknown>> | undefined {
  const text = readTextIfThere(joinPath(out, MANIFEST_FILE));
  if (text === undefined || state.shared[MANIFEST_FILE] !== sha256(text)) return undefined;
  const index = hashOnDisk(out, indexFile);
  if (index === undefined || index !== state.shared[indexFile]) return undefined;
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || !("sources" in value)) return undefined;
  return typeof value.sources === "object" && value.sources !== null
    ? { ...value.sources }
    : undefined;
}

function judge(
  session: Session,
  invocation: Invocation,
  plan: BuildPlan,
  { toolchain }: CommandContext,
  out: string,
  state: BuildState | undefined,
): Judged[] {
  const tri = toolchain.identity();
  return session.sources.map((source) => {
    const options = session.optionsFor(source);
    const measured = session.measuredFor(source);
    const earlier = state?.sources[source.stem];
    const inputs: BuildInputs = {
      source: sha256(`${source.file.name}\n${source.file.text}`),
      includes: earlier === undefined
        ? {}
        : probeAgain(session.project.root, earlier.inputs.includes),
      options: sha256(
        stableJson([options, plan.includeFolders, plan.embed, plan.emit, ...measured]),
      ),
      tri,
      assemblers: plan.cubins ? assemblersFor(plan, options.targets) : "not wanted",
    };
    const reason = invocation.flag("force")
      ? "--force"
      : whyStale(earlier, inputs, (path) => hashOnDisk(out, path));
    return {
      source,
      inputs,
      reason: state === undefined ? reason ?? "the manifest changed" : reason,
    };
  });
}

/** Versions that matter for these targets. Where the programs lie does not. */
function assemblersFor(plan: BuildPlan, targets: readonly string[]): string {
  const versions = plan.assemblers.flatMap(({ version, archs }) => {
    const known = targets.filter((target) => archs.includes(target));
    return known.length === 0 ? [] : [`${version}: ${known.join(" ")}`];
  });
  return [...new Set(versions)].join("; ");
}

async function finishAll(
  plan: BuildPlan,
  compiled: readonly CompiledTask[],
  done: Parameters<typeof finishTask>[2],
  staging: Staging,
  context: CommandContext,
): Promise<Built[]> {
  const built: Built[] = [];
  for (const entry of compiled) {
    built.push(await finishTask(plan, entry, done, staging, context.toolchain));
  }
  return built;
}

/** Stems of an earlier build whose source is no longer there. */
function goneSources(state: BuildState, { project, sources }: Session): string[] {
  return Object.entries(state.sources).filter(([stem, { file }]) =>
    !sources.some((source) => source.stem === stem) && !isFile(joinPath(project.root, file))
  ).map(([stem]) => stem);
}

/** What stays as it is: the sources that are up to date, and those this command line does not name. */
function keptSources(
  state: BuildState,
  built: readonly Built[],
  gone: readonly string[],
): [string, SourceState][] {
  return Object.entries(state.sources).filter(([stem]) =>
    !gone.includes(stem) && !built.some(({ source }) => source.stem === stem)
  );
}

function newSources(judged: readonly Judged[], built: readonly Built[]): [string, SourceState][] {
  return built.map((one) => {
    const found = judged.find(({ source }) => source === one.source);
    return [one.source.stem, stateOf(one, must(found, "the inputs of a built source").inputs)];
  });
}

/** Sources without kernels, which others include, have no wrapper. */
function indexedModules(facts: Readonly<Record<string, unknown>>): IndexedModule[] {
  return Object.entries(facts).map(([stem, kernels]) => ({
    stem,
    kernels: typeof kernels === "object" && kernels !== null ? Object.keys(kernels) : [],
  })).filter(({ kernels }) => kernels.length > 0);
}

/** The files to write; those of kept sources lie there already. */
async function outputFiles(
  plan: BuildPlan,
  built: readonly Built[],
  sources: Readonly<Record<string, SourceState>>,
  manifest: Readonly<Record<string, unknown>>,
  { toolchain }: CommandContext,
): Promise<Map<string, Content>> {
  const stems = Object.keys(sources).sort();
  const facts = Object.fromEntries(
    stems.map((stem) => [
      stem,
      built.find(({ source }) => source.stem === stem)?.manifest ?? manifest[stem],
    ]),
  );
  const codegen = await toolchain.codegen();
  const index = await codegen.index(indexedModules(facts), { javascript: plan.emit === "js" });
  const shared: [string, Content][] = [
    ...[...index].map(([end, text]): [string, Content] => [`${INDEX}${end}`, text]),
    [MANIFEST_FILE, `${stableJson({ $schema: MANIFEST_SCHEMA, format: 1, sources: facts })}\n`],
  ];
  const hashes = Object.fromEntries(shared.map(([path, content]) => [path, hashOf(content)]));
  return new Map([
    [STATE_FILE, printState(sources, hashes)],
    ...built.flatMap(({ files }) => [...files]),
    ...shared,
  ]);
}
