/** What a launch counted. */
import type { Access } from "./access/state.ts";
import type { Program } from "./compile/program.ts";
import { warningKey } from "./check/report.ts";
import { type AccessCounters, addCounters, newCounters } from "./count/counters.ts";
import { type SiteCounters, sumCounters } from "./count/log.ts";
import { factsOf, type FaultFacts } from "./fault.ts";
import type { Machine } from "./machine.ts";
import type { GridCounts } from "./schedule/grid.ts";

/** Counters of a launch; those of memory are zero unless it was profiled. */
export interface LaunchReport {
  readonly blocks: number;
  /** Instructions of warps by class; classes that did not occur are absent. */
  readonly instructions: Readonly<Record<string, number>>;
  /** Instructions of warps. */
  readonly warpInstructions: number;
  /** The same for threads: an instruction counts as often as lanes were there. */
  readonly threadInstructions: number;
  /** Barriers that warps came to. */
  readonly barriers: number;
  /** Branches at which the lanes of a warp diverged. */
  readonly divergentBranches: number;
  readonly access: AccessCounters;
  /** The same by instruction. */
  readonly sites: readonly SiteCounters[];
  /** What checks have found and only warn of. */
  readonly warnings: readonly FaultFacts[];
}

/** Puts together what was counted in one thread of the host. */
export function reportOf(
  program: Program,
  machine: Machine,
  counts: GridCounts,
  access: Access,
): LaunchReport {
  const { u64 } = machine.views;
  const instructions: Record<string, number> = {};
  let [warpInstructions, threadInstructions] = [0, 0];
  program.classes.forEach((histogram, pc) => {
    const at = (program.counts >> 3) + 2 * pc;
    const [warps, threads] = [Number(u64[at] ?? 0n), Number(u64[at + 1] ?? 0n)];
    for (const [name, count] of histogram) {
      if (warps === 0) continue;
      instructions[name] = (instructions[name] ?? 0) + count * warps;
      warpInstructions += count * warps;
      threadInstructions += count * threads;
    }
  });
  const sites = access.counters.sites();
  return {
    blocks: counts.blocks,
    instructions,
    warpInstructions,
    threadInstructions,
    barriers: counts.barriers,
    divergentBranches: counts.divergences,
    access: sumCounters(sites),
    sites,
    warnings: [...access.warnings.values()].map(factsOf),
  };
}

/** What two threads of the host counted of one launch. */
export function mergeReports(a: LaunchReport, b: LaunchReport): LaunchReport {
  const instructions: Record<string, number> = { ...a.instructions };
  for (const [name, count] of Object.entries(b.instructions)) {
    instructions[name] = (instructions[name] ?? 0) + count;
  }
  return {
    blocks: a.blocks + b.blocks,
    instructions,
    warpInstructions: a.warpInstructions + b.warpInstructions,
    threadInstructions: a.threadInstructions + b.threadInstructions,
    barriers: a.barriers + b.barriers,
    divergentBranches: a.divergentBranches + b.divergentBranches,
    access: addCounters(addCounters(newCounters(), a.access), b.access),
    sites: mergeSites(a.sites, b.sites),
    warnings: [
      ...new Map([...b.warnings, ...a.warnings].map((each) => [warningKey(each), each])).values(),
    ],
  };
}

function mergeSites(a: readonly SiteCounters[], b: readonly SiteCounters[]): SiteCounters[] {
  const merged = new Map<string, SiteCounters>();
  for (const { site, counters } of [...a, ...b]) {
    const key = `${site.text} ${site.line ?? 0}`;
    const sum = merged.get(key) ?? { site, counters: newCounters() };
    addCounters(sum.counters, counters);
    merged.set(key, sum);
  }
  return [...merged.values()];
}
