/** Gives runs to GPUs: those of one kind share its runs, different kinds time all of them. Results are written as they come. */
import { sumOf } from "@std/collections/sum-of";
import { removeAbandonedReplacements } from "../files/replace_file.ts";
import { groupBy } from "../../compiler/support/group_by.ts";
import type { TargetName } from "../../compiler/targets.ts";
import type { Terminal } from "../terminal.ts";
import type { Run } from "./arguments.ts";
import type { BenchGpu } from "./bench.ts";
import type { Candidate } from "./candidates.ts";
import {
  printKey,
  type TimingCase,
  type Timings,
  timingsAt,
  withDriver,
  withTimings,
} from "../../ffi/kernel/tuning/tune_file.ts";
import { readTuneFile, shardPathOf, tunePathOf, writeTuneFile } from "./file.ts";
import { TimingProcess } from "./process.ts";
import type { Shard } from "./shard.ts";

/** A GPU and the target whose code it gets. */
export interface TargetedGpu {
  readonly gpu: BenchGpu;
  readonly target: TargetName;
}

/** What is known of a run's configurations in the end. */
export interface RunResult {
  readonly run: Run;
  readonly timed: TimingCase;
  readonly timings: Timings;
  /** Configurations that were timed now. */
  readonly fresh: number;
}

export interface TimingOptions {
  /** Also what has a timing. */
  readonly force: boolean;
  /** Seconds that a launch may take. */
  readonly limit: number;
  /** Which part of the runs these are: their timings go to the part's own file. */
  readonly shard: Shard | undefined;
}

/** Times what has no timing yet, or all of it. */
export async function timeRuns(
  runs: readonly Run[],
  gpus: readonly TargetedGpu[],
  { force, limit, shard }: TimingOptions,
  terminal: Terminal,
): Promise<RunResult[]> {
  for (const { group } of runs) removeAbandonedReplacements(group.source.path);
  const kinds = groupBy(gpus, ({ gpu }) => gpu.info.name);
  const results: RunResult[] = [];
  const lists = [...kinds.values()].map((members) => ({
    members,
    runs: runs.filter(({ group }) => group.target === members[0]?.target),
  }));
  const total = sumOf(lists, (list) => list.runs.length);
  await Promise.all(lists.flatMap(({ members, runs }) => {
    const queue = runs.values();
    return members.map(async ({ gpu }) => {
      await using process = new TimingProcess(gpu, limit);
      for (const run of queue) {
        const timed = caseOf(run, gpu);
        terminal.progress(
          `${results.length}/${total} ${describe(timed)} on GPU ${gpu.info.ordinal}`,
        );
        const base = tunePathOf(run.group.source.path);
        const path = shard === undefined ? base : shardPathOf(run.group.source.path, shard);
        const known = (): Timings => ({
          ...timingsAt(readTuneFile(base), timed),
          ...timingsAt(readTuneFile(path), timed),
        });
        const { candidates } = run.group;
        const wanted = force ? candidates : untimed(candidates, known());
        if (wanted.length > 0) {
          const { timings, broken } = await process.measure(run, wanted);
          if (broken !== undefined) terminal.say(`not timed: ${describe(timed)}: ${broken}`);
          if (Object.keys(timings).length > 0) {
            addTimings(path, timed, withDriver(timings, gpu.info.driverVersion));
          }
        }
        const timings = current(candidates, known());
        results.push({ run, timed, timings, fresh: wanted.length });
      }
    });
  }));
  const order = new Map(runs.map((run, index) => [run, index]));
  return results.toSorted((a, b) => (order.get(a.run) ?? 0) - (order.get(b.run) ?? 0));
}

function caseOf({ group, arguments: { scalars } }: Run, { info }: BenchGpu): TimingCase {
  const { kernel, variant, specialization, key } = group;
  const { name: gpu, arch } = info;
  return { gpu, arch, kernel, variant, specialization, key: printKey(key, scalars) };
}

/** For people. */
export function describe({ kernel, variant, specialization, key }: TimingCase): string {
  return [kernel, variant, specialization, key].join(" ");
}

/** Timings of other code say nothing. */
function untimed(candidates: readonly Candidate[], known: Timings): Candidate[] {
  return candidates.filter(({ compiled, code }) => known[compiled.config]?.code !== code);
}

function current(candidates: readonly Candidate[], known: Timings): Timings {
  return Object.fromEntries(candidates.flatMap(({ compiled: { config } }) => {
    const timing = known[config];
    return timing === undefined ? [] : [[config, timing]];
  }));
}

/** Adds timings to the file. It is read anew, because another `tri tune` may have added to it. */
function addTimings(path: string, timed: TimingCase, timings: Timings): void {
  writeTuneFile(path, withTimings(readTuneFile(path), timed, timings));
}
