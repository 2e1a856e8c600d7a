/** A part of the runs for one of several machines: which part, and how the runs are split so that all parts take about as long. */
import { evaluate } from "../../compiler/contract/expr.ts";
import { groupBy } from "../../compiler/support/group_by.ts";
import { readEnv } from "../host/environment.ts";
import { type Failure, usageError } from "../failure.ts";
import { bytesIn, type Run } from "./arguments.ts";

/** One of `count` parts; `index` is from 1 to `count`. */
export interface Shard {
  readonly index: number;
  readonly count: number;
  /** Where it was stated: an option or variables. */
  readonly from: string;
}

/** More parts than there are machines in any cluster are a mistake. */
const MOST_SHARDS = 10_000;

/**
 * The part that this process times: of `--shard i/n`, else of a task of a Slurm array, else of a pod of an indexed Job of
 * Kubernetes; undefined where none is stated. Throws a {@linkcode Failure} for what is no part.
 */
export function readShard(option: string | undefined): Shard | undefined {
  return option === undefined ? slurmShard() ?? kubernetesShard() : parseShard(option);
}

function parseShard(text: string): Shard {
  const [, index, count] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  const wrong = (why: string): Failure =>
    usageError(`--shard ${text}: ${why}`, "Give one of n parts, counted from 1: --shard 3/8.");
  if (index === undefined || count === undefined) throw wrong("not of the form i/n");
  const shard = { index: Number(index), count: Number(count), from: "--shard" };
  if (shard.count < 1 || shard.count > MOST_SHARDS) {
    throw wrong(`the number of parts is from 1 to ${MOST_SHARDS}`);
  }
  if (shard.index < 1 || shard.index > shard.count) {
    throw wrong(`of ${count} parts there is no part ${index}`);
  }
  return shard;
}

/** Slurm numbers the tasks of an array as `--array` says, from SLURM_ARRAY_TASK_MIN in steps of SLURM_ARRAY_TASK_STEP. */
function slurmShard(): Shard | undefined {
  if (readEnv("SLURM_ARRAY_TASK_ID") === undefined) return undefined;
  const id = readCount("SLURM_ARRAY_TASK_ID");
  const count = readCount("SLURM_ARRAY_TASK_COUNT");
  const first = readCount("SLURM_ARRAY_TASK_MIN", 0);
  const step = Math.max(readCount("SLURM_ARRAY_TASK_STEP", 1), 1);
  const index = (id - first) / step + 1;
  if (Number.isInteger(index) && index >= 1 && index <= count) {
    return { index, count, from: "SLURM_ARRAY_TASK_ID" };
  }
  throw usageError(
    `SLURM_ARRAY_TASK_ID=${id} is none of the ${count} tasks from ${first} in steps of ${step}`,
    "Submit a range, such as --array=0-7, or state the part: --shard i/n.",
  );
}

/** Kubernetes gives a pod its index and not their number, so the manifest has to. */
function kubernetesShard(): Shard | undefined {
  if (readEnv("JOB_COMPLETION_INDEX") === undefined) return undefined;
  const index = readCount("JOB_COMPLETION_INDEX") + 1;
  const count = readCount("JOB_COMPLETIONS");
  if (index <= count) return { index, count, from: "JOB_COMPLETION_INDEX" };
  throw usageError(
    `JOB_COMPLETION_INDEX=${index - 1} is not less than JOB_COMPLETIONS=${count}`,
    "Set JOB_COMPLETIONS in the manifest to the Job's completions, or state the part: --shard i/n.",
  );
}

function readCount(name: string, otherwise?: number): number {
  const text = readEnv(name);
  if (text === undefined && otherwise !== undefined) return otherwise;
  if (text !== undefined && /^\d{1,9}$/.test(text)) return Number(text);
  throw usageError(
    text === undefined ? `${name} is not set` : `${name}=${text} is not a number`,
    `Set it to a number, or state the part: --shard i/n.`,
  );
}

/**
 * The runs of a part. Everyone who has the same sources, sizes and targets gets the same split: runs are taken by
 * falling cost, each for the part that has least so far. It is independent of what is timed already, and each target is
 * split by itself, since other machines may have other GPUs.
 */
export function runsOfShard(runs: readonly Run[], { index, count }: Shard): readonly Run[] {
  const taken = new Set<Run>();
  for (const members of groupBy(runs, ({ group }) => group.target).values()) {
    const loads = Array.from({ length: count }, () => 0);
    const costs = members.map((run) => ({ run, cost: costOf(run) }));
    for (const { run, cost } of costs.toSorted((a, b) => b.cost - a.cost)) {
      const least = loads.indexOf(Math.min(...loads));
      loads[least] = (loads[least] ?? 0) + cost;
      if (least === index - 1) taken.add(run);
    }
  }
  return runs.filter((run) => taken.has(run));
}

/** Rough figures, of which only ratios count: milliseconds to load a configuration and to time it in graphs. */
const LOAD_MILLISECONDS = 20;
const ROUNDS = 9;
const GRAPH_MILLISECONDS = 2;
/** Of one multiprocessor, and of the memory of a GPU. */
const CLOCKS_PER_MILLISECOND = 1.5e6;
const MULTIPROCESSORS = 100;
const BYTES_PER_MILLISECOND = 1e9;

/** Milliseconds that timing a run takes, by a model that needs nothing but the contract. */
export function costOf({ group, arguments: chosen }: Run): number {
  const memory = bytesIn(chosen) / BYTES_PER_MILLISECOND;
  const environment = { param: (name: string): number => chosen.scalars.get(name) ?? 0 };
  return group.candidates.reduce((sum, { instance: { clocks, contract } }) => {
    const blocks = (contract.grid ?? []).reduce(
      (all, extent) => all * Number(evaluate(extent, environment)),
      1,
    );
    const each = clocks === undefined ? 0 : Number(evaluate(clocks, environment));
    const launch = Math.max(memory, blocks * each / MULTIPROCESSORS / CLOCKS_PER_MILLISECOND);
    return sum + LOAD_MILLISECONDS + ROUNDS * Math.max(GRAPH_MILLISECONDS, launch);
  }, memory);
}
