/** `tri tune`: times configurations on the GPUs of this machine and writes NAME.tune.json beside NAME.tc. */
import type { TargetName } from "../../compiler/targets.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { environmentError, EXIT, usageError } from "../failure.ts";
import { includeFinder } from "../project/include.ts";
import { jobCount } from "../words/jobs.ts";
import { findAssemblers } from "../tools/ptxas.ts";
import type { Sizes } from "../report/arguments.ts";
import { showDiagnostics } from "../diagnostics/format.ts";
import { firstBuilds } from "../project/project.ts";
import { checkKernelNames, hasErrors, openSession, type Session } from "../project/session.ts";
import { numberParams, readSizes } from "../words/sizes.ts";
import { targetOf } from "../project/targets.ts";
import type { Compiler } from "../tools/toolchain.ts";
import type { BenchGpu } from "./bench.ts";
import { compileGroups, type Group } from "./candidates.ts";
import { type Run, runsOf } from "./arguments.ts";
import { readTuneFile, shardPathOf, writeTuneFile } from "./file.ts";
import { printResults } from "./results.ts";
import { timeRuns } from "./schedule.ts";
import { readShard, runsOfShard, type Shard } from "./shard.ts";

/** Seconds that `--timeout` may say: a day. */
const LONGEST = 86400;

/** The body of the command. */
export async function runTune(invocation: Invocation, context: CommandContext): Promise<number> {
  if (invocation.flag("merge")) {
    const { runMerge } = await import("./merge.ts");
    return await runMerge(invocation, context);
  }
  const shard = readShard(invocation.text("shard"));
  const session = await openSession(invocation);
  const mistakes = session.project.reporter.diagnostics;
  if (hasErrors(mistakes)) {
    await showDiagnostics(mistakes, context, { format: "pretty", root: session.project.root });
    return EXIT.kernels;
  }
  const limit = readLimit(invocation);
  if (invocation.flag("estimate")) return await estimateAll(invocation, session, context);
  const bench = await context.toolchain.bench();
  if (bench.kind === "none") {
    // A part of a fleet's work that nothing can time must fail at once, so that another machine takes it.
    const problem = `No GPU to time on: ${bench.reason}`;
    if (shard !== undefined) throw environmentError(problem, bench.remedy);
    context.terminal.say(`${problem}. ${bench.remedy}`);
    await estimateAll(invocation, session, context);
    return EXIT.environment;
  }
  const gpus = bench.gpus.map((gpu) => ({ gpu, target: targetFor(gpu) }));
  const targets = [...new Set(gpus.map(({ target }) => target))];
  const groups = await compileAll(invocation, session, targets, context);
  if (groups === undefined) return EXIT.kernels;
  const all = plannedRuns(invocation, groups, context);
  const runs = shard === undefined ? all : runsOfShard(all, shard);
  if (shard !== undefined) announceShard(shard, runs.length, all, context);
  const results = await timeRuns(
    runs,
    gpus,
    { force: invocation.flag("force"), limit, shard },
    context.terminal,
  );
  context.terminal.print(printResults(results));
  return results.some(({ timings }) => Object.values(timings).every((one) => "failed" in one))
    ? EXIT.kernels
    : EXIT.ok;
}

/** Says which part is timed, and leaves a file of it for each source, so that a merge can tell a part without runs from a lost one. */
function announceShard(
  shard: Shard,
  runs: number,
  all: readonly Run[],
  { terminal }: CommandContext,
): void {
  const { index, count, from } = shard;
  terminal.say(`part ${index} of ${count} (${from}): ${runs} of ${all.length} runs`);
  for (const path of new Set(all.map(({ group }) => shardPathOf(group.source.path, shard)))) {
    writeTuneFile(path, readTuneFile(path));
  }
}

/** Ranks by a model, for the architectures of --arch. */
async function estimateAll(
  invocation: Invocation,
  session: Session,
  context: CommandContext,
): Promise<number> {
  const groups = await compileAll(invocation, session, undefined, context);
  if (groups === undefined) return EXIT.kernels;
  const runs = plannedRuns(invocation, groups, context);
  const { ESTIMATE_NOTE, printEstimate } = await import("./estimate_print.ts");
  const { Estimator } = await import("./estimate.ts");
  using estimator = new Estimator();
  context.terminal.print(ESTIMATE_NOTE);
  for (const run of runs) context.terminal.print(`\n${printEstimate(run, estimator)}`);
  return EXIT.ok;
}

function readLimit(invocation: Invocation): number {
  const text = invocation.text("timeout");
  const seconds = Number(text);
  if (seconds > 0 && seconds <= LONGEST) return seconds;
  throw usageError(
    `--timeout ${text} is not a number of seconds up to ${LONGEST}`,
    "Give one: --timeout 60.",
  );
}

function targetFor({ info: { name, arch, sm } }: BenchGpu): TargetName {
  const target = targetOf(sm);
  if (target !== undefined) return target;
  throw environmentError(
    `${name} is ${arch}, which tri does not support`,
    "Hide it with CUDA_VISIBLE_DEVICES, or run tri tune --estimate.",
  );
}

/** Everything that can be timed, for these targets or those of --arch; undefined after an error in a source, which is shown. */
async function compileAll(
  invocation: Invocation,
  session: Session,
  targets: readonly TargetName[] | undefined,
  context: CommandContext,
): Promise<Group[] | undefined> {
  const { terminal, toolchain } = context;
  const compiler = await toolchain.compiler();
  const { usable } = await findAssemblers();
  const jobs = jobCount(invocation.text("jobs"));
  const kernels = invocation.list("kernel");
  const groups: Group[] = [];
  for (const source of firstBuilds(session.sources)) {
    terminal.progress(`compiling the configurations of ${source.file.name}`);
    const { resolve } = includeFinder(session.project.root, invocation.list("include"));
    const options = {
      ...session.optionsFor(source),
      ...(targets === undefined ? {} : { targets }),
      ...(kernels.length === 0 ? {} : { kernels }),
      include: resolve,
    };
    const found = await compileGroups(source, options, compiler, usable, jobs, (what, message) => {
      terminal.say(`${terminal.style("yellow", "dropped")}: ${what}: ${message}`);
    });
    if (found.length === 0) {
      const { diagnostics } = compiler.compileFile(source.file, options);
      if (hasErrors(diagnostics)) {
        const { root } = session.project;
        await showDiagnostics(diagnostics, context, { format: "pretty", root });
        return undefined;
      }
      terminal.say(`${source.file.name}: no choice between configurations`);
    }
    groups.push(...found);
  }
  if (kernels.length > 0) checkKernels(invocation, session, compiler);
  if (groups.length > 0) return groups;
  throw usageError(
    "There is nothing to tune: no kernel here has more than one configuration",
    "Add some: `#pragma tri configs TM in {32, 64, 128}; num_warps in {4, 8}`, or --config.",
  );
}

/** A `--kernel` that no source has is not the same as one without a choice. */
function checkKernels(invocation: Invocation, session: Session, compiler: Compiler): void {
  const known = session.sources.flatMap((source) => {
    const { resolve } = includeFinder(session.project.root, invocation.list("include"));
    const options = { ...session.optionsFor(source), include: resolve, checkOnly: true };
    return compiler.compileFile(source.file, options).kernels.map(({ name }) => name);
  });
  checkKernelNames(invocation, known);
}

/** What to launch the groups with: once for each --size, or for sizes that suit. */
function plannedRuns(
  invocation: Invocation,
  groups: readonly Group[],
  { terminal }: CommandContext,
): Run[] {
  const known = numberParams(groups.map(({ siblings }) => ({ instances: siblings })));
  const sizes = invocation.list("size").map((text): Sizes => readSizes([text], known));
  const runs = groups.flatMap((group) => {
    const found = runsOf(group, sizes);
    if (typeof found !== "string") return found;
    const { kernel, variant, specialization } = group;
    terminal.say(`not timed: ${kernel} ${variant} ${specialization}: ${found}`);
    return [];
  });
  if (runs.length > 0) return runs;
  throw usageError(
    "No kernel can be launched with the known arguments",
    "Pass sizes: --size M=4096,N=4096.",
  );
}
