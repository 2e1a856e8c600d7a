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
import { type Inventory, isDone, takeInventory } from "./inventory.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { EXIT, usageError } from "../failure.ts";
import { includeFinder, type Probes } from "../project/include.ts";
import type { RemoteCache } from "../remote/mod.ts";
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
  const inventory = await takeInventory(invocation, session, context);
  for (const { source, inputs } of inventory.judged) {
    Object.assign(probes, inputs.includes, tuneProbe(session.project.root, source.path));
  }
  if (invocation.flag("check")) {
    await checkNamesOfStale(invocation, session, inventory, context);
    return report.checked(inventory.stale, inventory.gone, inventory.judged);
  }
  const { out } = inventory.plan;
  if (isDone(inventory)) {
    removeAbandonedStaging(out);
    return hasErrors(mistakes)
      ? report.failed(mistakes)
      : report.nothingToDo(inventory.judged, inventory.state);
  }
  const finish = await inTurn(invocation, session, inventory, context, report, probes);
  return await finish();
}

/** Reports how the build ended; called when the output folder is final. */
type Finish = () => Promise<number>;

/** Builds as soon as no other build uses the folder. */
async function inTurn(
  invocation: Invocation,
  session: Session,
  inventory: Inventory,
  context: CommandContext,
  report: BuildReport,
  probes: Probes,
): Promise<Finish> {
  const { out } = inventory.plan;
  using staging = await Staging.open(out, () => report.waiting());
  // Another build may have written the folder while this one waited.
  const current = stableJson(readState(out)) === stableJson(inventory.state)
    ? inventory
    : await takeInventory(invocation, session, context);
  if (invocation.flag("explain")) report.explained(current.stale, current.gone);
  return await produce(invocation, session, current, context, report, probes, staging);
}

/** Compiles and assembles everything that is stale, and writes what succeeded. */
async function produce(
  invocation: Invocation,
  session: Session,
  inventory: Inventory,
  context: CommandContext,
  report: BuildReport,
  probes: Probes,
  staging: Staging,
): Promise<Finish> {
  const { plan, judged, stale } = inventory;
  const remote = await openRemote(plan, context);
  const fetched = invocation.flag("force")
    ? []
    : await remote?.fetch(plan, stale, staging, report.progress) ?? [];
  for (const one of fetched) Object.assign(probes, one.probes);
  const missed = stale.filter(({ source }) => !fetched.some((one) => one.source === source));
  const tasks = missed.map(({ source }) => ({
    source,
    options: session.optionsFor(source),
    measured: session.measuredFor(source),
    exports: session.exportsFor(source),
  }));
  const compiled = tasks.length === 0 ? [] : await compileTasks(
    plan,
    tasks,
    await context.toolchain.compiler(),
    staging,
    report.progress,
  );
  for (const one of compiled) Object.assign(probes, one.probes);
  const found = dropLocalUnusedDefines(
    [...compiled, ...fetched].map((one) => one.diagnostics),
    stale.length === judged.length,
  );
  const sound = compiled.filter(({ diagnostics }) => !hasErrors(diagnostics));
  if (
    sound.length + fetched.length === judged.length && session.sources.length === session.all.length
  ) {
    checkKernelNames(
      invocation,
      [
        ...compiled.flatMap(({ kernels }) => kernels.map(({ name }) => name)),
        ...fetched.flatMap(({ manifest }) => Object.keys(manifest)),
      ],
    );
  }
  const { done, rejected } = await assembleAll(plan, sound, staging, report.progress);
  const accepted = sound.filter((one) => !isRejected(one, rejected));
  const finished = await finishAll(inventory, accepted, done, staging, context);
  const all = [...finished.built, ...fetched];
  const warnings = all.flatMap((one) => one.warnings);
  const built = invocation.flag("werror") ? all.filter((one) => one.warnings.length === 0) : all;
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
  if (built.length === 0 && isDone({ ...inventory, stale: [] }) && stale.length > 0) {
    return () => report.failed(diagnostics, problems);
  }
  const { sources, report: written } = await writeOutput(
    inventory,
    built,
    invocation.flag("force"),
    await context.toolchain.codegen(),
    staging,
  );
  return async () => {
    // After the output is final and its lock is released: a build that waits for it does not wait for the network.
    const fresh = built.filter((one) => !fetched.includes(one));
    const counts = remote === undefined ? undefined : {
      fetched: fetched.length,
      stored: await remote.store(plan, judged, fresh, report.progress),
    };
    return report.built(sources, built.length, problems, written, inventory.assemblers, counts);
  };
}

async function openRemote(
  { remote }: Inventory["plan"],
  { terminal }: CommandContext,
): Promise<RemoteCache | undefined> {
  if (remote === undefined) return undefined;
  const { RemoteCache } = await import("../remote/mod.ts");
  return new RemoteCache(remote, (line) => terminal.say(line));
}

function isRejected({ task }: CompiledTask, rejected: readonly Rejected[]): boolean {
  return rejected.some(({ stem }) => stem === task.source.stem);
}

async function finishAll(
  { plan }: Inventory,
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
  { stale, judged, manifest }: Inventory,
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
