/** `tri build`: decides what is stale, builds it, writes the folder, says what happened. */
import {
  assembleAll,
  type Built,
  type CompiledTask,
  compileTasks,
  dropLocalUnusedDefines,
  finishTask,
  type Rejected,
} from "./build.ts";
import { writeOutput } from "./output.ts";
import { BuildReport, type Problems } from "./report.ts";
import { readState, stableJson } from "./state.ts";
import { isDone, type Survey, surveyOutput } from "./survey.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { EXIT, usageError } from "../failure.ts";
import { includeFinder, type Probes } from "../project/include.ts";
import { removeAbandonedStaging, Staging } from "../files/staging.ts";
import { checkKernelNames, hasErrors, openSession, type Session } from "../project/session.ts";
import { tuneProbe } from "../tune/tuned.ts";

/** The body of the command. */
export async function runBuild(invocation: Invocation, context: CommandContext): Promise<number> {
  if (invocation.flag("bundle") && invocation.flag("check")) {
    throw usageError("--bundle and --check exclude each other");
  }
  if (invocation.flag("bundle")) (await import("./bundle_file.ts")).guardBundle(invocation);
  if (!invocation.flag("watch")) return await buildOnce(invocation, context, {});
  if (invocation.flag("check")) throw usageError("--watch and --check exclude each other");
  const { watch } = await import("../watch.ts");
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
  if (hasErrors(mistakes) && (session.sources.length === 0 || invocation.flag("check"))) {
    return report.failed(mistakes);
  }
  const survey = await surveyOutput(invocation, session, context);
  for (const { source, inputs } of survey.judged) {
    Object.assign(probes, inputs.includes, tuneProbe(session.project.root, source.path));
  }
  if (invocation.flag("check")) {
    await checkNamesOfStale(invocation, session, survey, context);
    return report.checked(survey.stale, survey.gone, survey.judged);
  }
  const { out } = survey.plan;
  if (isDone(survey)) {
    removeAbandonedStaging(out);
    return hasErrors(mistakes)
      ? report.failed(mistakes)
      : report.nothingToDo(survey.judged, survey.state);
  }
  const finish = await inTurn(invocation, session, survey, context, report, probes);
  return await finish();
}

/** Reports how the build ended; called when the output folder is final. */
type Finish = () => Promise<number>;

/** Builds as soon as no other build uses the folder. */
async function inTurn(
  invocation: Invocation,
  session: Session,
  survey: Survey,
  context: CommandContext,
  report: BuildReport,
  probes: Probes,
): Promise<Finish> {
  const { out } = survey.plan;
  using staging = await Staging.open(out, () => report.waiting());
  // Another build may have written the folder while this one waited.
  const current = stableJson(readState(out)) === stableJson(survey.state)
    ? survey
    : await surveyOutput(invocation, session, context);
  if (invocation.flag("explain")) report.explained(current.stale, current.gone);
  return await produce(invocation, session, current, context, report, probes, staging);
}

/** Compiles and assembles everything that is stale, and writes what succeeded. */
async function produce(
  invocation: Invocation,
  session: Session,
  survey: Survey,
  context: CommandContext,
  report: BuildReport,
  probes: Probes,
  staging: Staging,
): Promise<Finish> {
  const { plan, judged, stale } = survey;
  const tasks = stale.map(({ source }) => ({
    source,
    options: session.optionsFor(source),
    measured: session.measuredFor(source),
  }));
  const compiler = await context.toolchain.compiler();
  const compiled = await compileTasks(plan, tasks, compiler, staging, report.progress);
  for (const one of compiled) Object.assign(probes, one.probes);
  const found = dropLocalUnusedDefines(
    compiled.map((one) => one.diagnostics),
    stale.length === judged.length,
  );
  const sound = compiled.filter(({ diagnostics }) => !hasErrors(diagnostics));
  if (sound.length === judged.length && session.sources.length === session.all.length) {
    checkKernelNames(
      invocation,
      compiled.flatMap(({ kernels }) => kernels.map(({ name }) => name)),
    );
  }
  const { done, rejected } = await assembleAll(plan, sound, staging, report.progress);
  const accepted = sound.filter((one) => !isRejected(one, rejected));
  const finished = await finishAll(survey, accepted, done, staging, context);
  const warnings = finished.built.flatMap((one) => one.warnings);
  const built = invocation.flag("werror")
    ? finished.built.filter((one) => one.warnings.length === 0)
    : finished.built;
  const diagnostics = [
    ...session.project.reporter.diagnostics,
    ...found,
    ...finished.diagnostics,
  ];
  const problems: Problems = {
    diagnostics,
    rejected,
    warnings,
    failed: session.all.filter((source) =>
      !session.sources.includes(source) ||
      (stale.some((one) => one.source === source) && !built.some((one) => one.source === source))
    ).map(({ file }) => file.name),
  };
  if (built.length === 0 && isDone({ ...survey, stale: [] }) && stale.length > 0) {
    return () => report.failed(diagnostics, problems);
  }
  const { sources, report: written } = await writeOutput(
    survey,
    built,
    invocation.flag("force"),
    await context.toolchain.codegen(),
    staging,
  );
  return () => report.built(sources, built.length, problems, written, survey.assemblers);
}

function isRejected({ task }: CompiledTask, rejected: readonly Rejected[]): boolean {
  return rejected.some(({ stem }) => stem === task.source.stem);
}

async function finishAll(
  { plan }: Survey,
  compiled: readonly CompiledTask[],
  done: Parameters<typeof finishTask>[2],
  staging: Staging,
  { toolchain }: CommandContext,
): Promise<{ readonly built: readonly Built[]; readonly diagnostics: Problems["diagnostics"] }> {
  const built: Built[] = [];
  const diagnostics = [];
  for (const entry of compiled) {
    const finished = await finishTask(plan, entry, done, staging, toolchain);
    if ("code" in finished) diagnostics.push(finished);
    else built.push(finished);
  }
  return { built, diagnostics };
}

/** `--kernel` names no recorded kernel: `--check` compiles nothing else. */
async function checkNamesOfStale(
  invocation: Invocation,
  { project, all, optionsFor }: Session,
  { stale, judged, manifest }: Survey,
  { toolchain }: CommandContext,
): Promise<void> {
  if (invocation.list("kernel").length === 0) return;
  const known = judged.filter((one) => !stale.includes(one)).flatMap(({ source }) =>
    Object.keys(manifest?.[source.stem] ?? {})
  );
  const compiler = await toolchain.compiler();
  const results = stale.map(({ source }) =>
    compiler.compileFile(source.file, {
      ...optionsFor(source),
      include: includeFinder(project.root, invocation.list("include")).resolve,
      checkOnly: true,
    })
  );
  const isKnown = results.every(({ diagnostics }) => !hasErrors(diagnostics));
  if (!isKnown || judged.length < all.length) return;
  const compiled = results.flatMap(({ kernels }) => kernels.map(({ name }) => name));
  checkKernelNames(invocation, [...known, ...compiled]);
}
