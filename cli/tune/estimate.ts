/**
 * A ranking without a GPU: what a launch moves and executes, counted on the emulator at small sizes and scaled up, and how
 * much of it a multiprocessor has in hand at a time. A model, not a measurement: nothing of it is ever written down.
 */
import { evaluate, paramsOf } from "../../compiler/contract/expr.ts";
import type { KernelContract } from "../../compiler/contract/types.ts";
import { must } from "../../compiler/support/bug.ts";
import { ALL_TARGETS, type TargetName } from "../../compiler/targets.ts";
import { defineKernel, Device, type LaunchProfile, type Stream, TriError } from "../../ffi/mod.ts";
import { type Occupancy, occupancyOf } from "../report/occupancy.ts";
import { chooseArguments, extentParams, type Sizes } from "../report/arguments.ts";
import { factsOf } from "../report/facts.ts";
import { bytesIn, makeArguments, type Run } from "./arguments.ts";
import type { Candidate } from "./candidates.ts";

/** What the model says of a configuration. */
export interface Estimate {
  readonly config: string;
  readonly occupancy: Occupancy;
  /** Undefined without an assembler. */
  readonly registers: number | undefined;
  readonly spilledBytes: number;
  readonly blocks: number;
  /** Of a launch. */
  readonly movedBytes: number;
  readonly warpInstructions: number;
  /** Clock cycles; only their ratios mean something. */
  readonly cycles: number;
}

/** Rough numbers of an A100 and an H200, per multiprocessor and cycle. */
const SCHEDULERS = 4;
const L2_BYTES = 40;
const MEMORY_BYTES = 16;
/** A tensor core takes this long for one instruction of a warp. */
const MATRIX_CYCLES = 8;
/** One warp alone: cycles per instruction, and the way to memory and back. */
const ALONE = { instruction: 4, memory: 800 };
/** A spilled register is stored and loaded again and again; this many bytes double the time. */
const SPILL_BYTES = 64;
const SECTOR_BYTES = 32;
/** Extents of the runs that are counted, at most: more only where a tile is larger. */
const SMALL = 256;

/** What a block does, on average. */
interface Work {
  readonly warpInstructions: number;
  /** Instructions of tensor cores among them. */
  readonly matrix: number;
  readonly sharedWavefronts: number;
  /** From and to global memory, in sectors of it. */
  readonly bytes: number;
}

/** Counts candidates; several runs of one share its counts where sizes are cut to the same. */
export class Estimator implements Disposable {
  readonly #counted = new Map<Candidate, Map<string, Work | string>>();
  readonly #devices = new Map<TargetName, Device>();

  /** Ranks the candidates, the best first; those that cannot run are dropped, with the reason. */
  rank(run: Run): {
    readonly ranking: readonly Estimate[];
    readonly failures: readonly { readonly config: string; readonly reason: string }[];
  } {
    const failures: { config: string; reason: string }[] = [];
    const ranking = run.group.candidates.flatMap((candidate): Estimate[] => {
      const { compiled: { config }, misfit } = candidate;
      const work = misfit ?? this.#workOf(run, candidate);
      if (typeof work !== "string") return [estimateOf(run, candidate, work)];
      failures.push({ config, reason: work });
      return [];
    });
    return { ranking: ranking.toSorted((a, b) => a.cycles - b.cycles), failures };
  }

  /** Work of a block at full size: what the grid does not grow with, each block does more of, so two depths are counted. */
  #workOf({ group, arguments: full }: Run, candidate: Candidate): Work | string {
    const grid = new Set((candidate.instance.contract.grid ?? []).flatMap(paramsOf));
    const flags = new Set(full.flags);
    const depths = group.key.filter((name) => !grid.has(name) && !flags.has(name));
    const cut = (name: string, most: number): number =>
      Math.max(Math.min(full.scalars.get(name) ?? most, most), 1);
    // Extents that no timing depends on, such as heads that share keys, must still go with the others.
    const others = extentParams(candidate.instance.contract);
    const sizes = (depth: number): Map<string, number> =>
      new Map([
        ...[...others].map((name) => [name, cut(name, SMALL)] as const),
        ...group.key.filter((name) => !flags.has(name)).map((name) =>
          [
            name,
            cut(name, grid.has(name) ? wholeTiles(candidate, full.scalars, name) : depth),
          ] as const
        ),
        ...full.flags.map((name) => [name, full.scalars.get(name) ?? 0] as const),
      ]);
    const productOf = (values: Sizes): number =>
      depths.reduce((all, name) => all * (values.get(name) ?? 1), 1);
    const [near, far] = [sizes(SMALL / 2), sizes(SMALL)];
    const second = this.#count(candidate, far, group.target);
    if (productOf(near) === productOf(far) || typeof second === "string") return second;
    const first = this.#count(candidate, near, group.target);
    if (typeof first === "string") return first;
    const reach = (productOf(full.scalars) - productOf(near)) / (productOf(far) - productOf(near));
    const at = (key: keyof Work): number => first[key] + (second[key] - first[key]) * reach;
    return {
      warpInstructions: at("warpInstructions"),
      matrix: at("matrix"),
      sharedWavefronts: at("sharedWavefronts"),
      bytes: at("bytes"),
    };
  }

  #count(candidate: Candidate, sizes: Sizes, target: TargetName): Work | string {
    const known = this.#counted.get(candidate) ?? new Map<string, Work | string>();
    this.#counted.set(candidate, known);
    const key = JSON.stringify([...sizes]);
    const found = known.get(key) ?? countWork(candidate, sizes, this.#device(target));
    known.set(key, found);
    return found;
  }

  #device(target: TargetName): Device {
    const known = this.#devices.get(target) ??
      Device.open({ device: "emulator", arch: target.replace(/a$/, "") });
    this.#devices.set(target, known);
    return known;
  }

  [Symbol.dispose](): void {
    for (const device of this.#devices.values()) device[Symbol.dispose]();
  }
}

/** The least power of two from SMALL on that tiles along this parameter fill: twice of it is twice as many blocks. */
function wholeTiles({ instance: { contract } }: Candidate, scalars: Sizes, name: string): number {
  const full = scalars.get(name) ?? SMALL;
  const blocks = (extent: number): number =>
    gridOf(contract.grid, new Map(scalars).set(name, extent));
  let extent = SMALL;
  while (extent < full && blocks(2 * extent) < 2 * blocks(extent)) extent *= 2;
  return extent;
}

/** Blocks of a launch. */
function gridOf(grid: KernelContract["grid"], scalars: Sizes): number {
  const environment = { param: (name: string): number => scalars.get(name) ?? 0 };
  return (grid ?? []).reduce((all, extent) => all * Number(evaluate(extent, environment)), 1);
}

/** The part of a kernel function that this needs. */
interface Launchable {
  launch(
    args: Readonly<Record<string, unknown>>,
    options: {
      readonly variant: string;
      readonly stream: Stream;
      readonly form: "plain";
      readonly profile: true;
    },
  ): LaunchProfile;
}

/** Runs a candidate once on the emulator. */
function countWork(
  { compiled: { kernel, module }, instance }: Candidate,
  sizes: Sizes,
  device: Device,
): Work | string {
  const chosen = chooseArguments(instance, sizes);
  if (typeof chosen === "string") return chosen;
  const launchable: Launchable = defineKernel(factsOf(kernel, module));
  using made = new DisposableStack();
  try {
    const args = makeArguments(chosen, device, made);
    const { grid: [x, y, z], instructions, warpInstructions, global, shared } = launchable.launch(
      args,
      // The model describes what entries do; a form is faster wherever its entry is.
      { variant: instance.symbol, stream: device.defaultStream, form: "plain", profile: true },
    );
    const blocks = Math.max(x * y * z, 1);
    return {
      warpInstructions: warpInstructions / blocks,
      matrix: (instructions["matrix"] ?? 0) / blocks,
      sharedWavefronts: shared.wavefronts / blocks,
      bytes: global.sectors * SECTOR_BYTES / blocks,
    };
  } catch (error) {
    if (!(error instanceof TriError)) throw error;
    return must(error.message.split("\nhint: ")[0], "message");
  }
}

function estimateOf(
  { arguments: full, group }: Run,
  { compiled: { config, module, resources }, instance }: Candidate,
  work: Work,
): Estimate {
  const target = ALL_TARGETS[group.target];
  const { multiprocessors } = target;
  const { symbol, contract } = instance;
  const { threads, sharedBytes } = must(
    module.entries.find((entry) => entry.symbol === symbol),
    `entry ${symbol}`,
  );
  const known = resources[symbol];
  const occupancy = occupancyOf(target, {
    threads,
    registers: known?.registers ?? 0,
    sharedBytes: sharedBytes + (known?.sharedBytes ?? 0),
  });
  const blocks = gridOf(contract.grid, full.scalars);
  const spilledBytes = (known?.spillLoadBytes ?? 0) + (known?.spillStoreBytes ?? 0);
  const issue = (work.warpInstructions + work.matrix * (MATRIX_CYCLES - 1)) / SCHEDULERS *
    (1 + spilledBytes / SPILL_BYTES);
  const busiest = Math.max(issue, work.sharedWavefronts, work.bytes / L2_BYTES);
  const alone = work.warpInstructions / Math.ceil(threads / 32) * ALONE.instruction + ALONE.memory;
  const waveOf = (held: number): number => held === 0 ? 0 : Math.max(held * busiest, alone);
  const held = Math.max(occupancy.blocks, 1);
  const waves = Math.floor(blocks / (held * multiprocessors));
  const rest = Math.ceil((blocks - waves * held * multiprocessors) / multiprocessors);
  const memory = bytesIn(full) / (MEMORY_BYTES * multiprocessors);
  return {
    config,
    occupancy,
    registers: known?.registers,
    spilledBytes,
    blocks,
    movedBytes: work.bytes * blocks,
    warpInstructions: work.warpInstructions * blocks,
    cycles: Math.max(waves * waveOf(held) + waveOf(rest), memory),
  };
}
