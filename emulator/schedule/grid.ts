/**
 * Runs blocks. Normally one cluster of blocks after the other; when one is not done after its slice of instructions, it
 * may be waiting for another one (a spin lock, a look-back), so the next one joins in, and they take turns.
 */
import type { Program } from "../compile/program.ts";
import { finishOutgoing } from "../async/flights.ts";
import { checkWaits } from "../check/early.ts";
import { checkExit } from "../check/remote.ts";
import { type Observed, observedOf } from "../debug/observer.ts";
import { Fault } from "../fault.ts";
import { HEADER, LANES } from "../register_file.ts";
import type { Machine } from "../machine.ts";
import { fillShadow, SHADOW } from "../shadow/shadow_row.ts";
import { afterExit, arriveAt } from "./barriers.ts";
import { missingBarrier } from "./hunt.ts";
import { type LaunchFacts, writeSpecials } from "./specials.ts";
import type { Block, Warp } from "./state.ts";
import { isDone, runWarp, type WarpEvents } from "./warp.ts";

/** Warp-instructions that a warp runs before the next one has its turn. */
const WARP_SLICE = 20_000;
/** The same while someone looks on: so the warps of a block are at the same statement, if they run the same ones. */
const OBSERVED_SLICE = 1;
/** Iterations of a cluster in which no instruction but failing waits is run, before another cluster joins. */
const IDLE_ITERATIONS = 16;
/** Warp-instructions of a cluster before another one joins; less if they are those of loops that wait. */
const CLUSTER_SLICE = 2_000_000;
/** Iterations in which warps stopped early because they poll, before another cluster joins. */
const POLL_ITERATIONS = 4;
/** So many iterations may lie between two of these: a loop that waits may have barriers, at which its warps change. */
const POLL_GAP = 256;
/** Iterations without any progress after which a cluster is taken to be deadlocked. */
const HOPELESS_ROUNDS = 20_000;

/** Memory that a cluster of blocks runs in. */
export interface Slot {
  /** Register files of all warps of all blocks, one after the other. */
  readonly registerFiles: number;
  /** Shared memory of the blocks, one after the other. */
  readonly shared: number;
  readonly sharedStride: number;
  readonly local: number;
  /** Bytes per thread. */
  readonly localBytes: number;
  /** The launch whose special registers its register files hold. */
  launch: LaunchFacts | undefined;
}

/** What a worker needs to run blocks. */
export interface GridWork {
  readonly program: Program;
  readonly machine: Machine;
  readonly launch: LaunchFacts;
  /** Warp-instructions that one cluster may run. */
  readonly budget: number;
  /** The next cluster to run, or undefined. */
  next(): number | undefined;
  /** Memory for one more cluster; undefined: there is no more. */
  acquire(): Slot | undefined;
  release(slot: Slot): void;
}

/** What running blocks has counted. */
export interface GridCounts {
  blocks: number;
  divergences: number;
  barriers: number;
}

interface Cluster {
  readonly slot: Slot;
  readonly blocks: readonly Block[];
  /** Warp-instructions run so far. */
  spent: number;
}

const blocksOfCluster = ({ cluster: [x, y, z] }: LaunchFacts): number => x * y * z;

/** How many clusters a launch has. */
export function clusterCount({ grid, cluster }: LaunchFacts): number {
  return (grid[0] / cluster[0]) * (grid[1] / cluster[1]) * (grid[2] / cluster[2]);
}

/** Runs clusters until none is left. */
export function runGrid(work: GridWork): GridCounts {
  const turns = gridTurns(work);
  for (;;) {
    const { done, value } = turns.next();
    if (done === true) return value;
  }
}

/** The same in pieces: it yields where an observer pauses the launch, and goes on from there. */
export function* gridTurns(work: GridWork): Generator<undefined, GridCounts> {
  const counts: GridCounts = { blocks: 0, divergences: 0, barriers: 0 };
  const active: Cluster[] = [];
  const admit = (): boolean => {
    const slot = work.acquire();
    if (slot === undefined) return false;
    const number = work.next();
    if (number === undefined) {
      work.release(slot);
      return false;
    }
    active.push(startCluster(work, slot, number));
    counts.blocks += blocksOfCluster(work.launch);
    return true;
  };
  let hopeless = 0;
  while (active.length > 0 || admit()) {
    let progress = false;
    for (const cluster of [...active]) {
      const outcome = yield* runCluster(work, cluster, counts);
      if (outcome !== "idle") progress = true;
      if (outcome !== "done") continue;
      active.splice(active.indexOf(cluster), 1);
      work.release(cluster.slot);
    }
    // Those that are left did not get done in their slice.
    if (active.length > 0 && admit()) progress = true;
    hopeless = progress ? 0 : hopeless + IDLE_ITERATIONS;
    if (hopeless > HOPELESS_ROUNDS) throw deadlock(work, active);
  }
  return counts;
}

function startCluster(work: GridWork, slot: Slot, number: number): Cluster {
  const { machine, program, launch } = work;
  const { block: [bx, by, bz], cluster: [cx, cy, cz], grid } = launch;
  const threads = bx * by * bz;
  const warpCount = Math.ceil(threads / LANES);
  const [nx, ny] = [grid[0] / cx, grid[1] / cy];
  const origin = [
    (number % nx) * cx,
    (Math.floor(number / nx) % ny) * cy,
    Math.floor(number / (nx * ny)) * cz,
  ] as const;
  const blocks: Block[] = [];
  const { layout } = program;
  for (let rank = 0; rank < cx * cy * cz; rank++) {
    const index = [
      origin[0] + rank % cx,
      origin[1] + Math.floor(rank / cx) % cy,
      origin[2] + Math.floor(rank / (cx * cy)),
    ] as const;
    const warps: Warp[] = [];
    const block: Block = {
      index,
      linear: index[0] + grid[0] * (index[1] + grid[1] * index[2]),
      threads,
      shape: launch.block,
      shared: slot.shared + rank * slot.sharedStride,
      sharedBytes: launch.sharedBytes,
      ...(launch.reserved === undefined ? {} : { reserved: launch.reserved }),
      warps,
      cluster: blocks,
      rank,
      phase: 0,
      async: undefined,
      barriers: new Map(),
      exits: [],
    };
    for (let w = 0; w < warpCount; w++) {
      const lanes = Math.min(LANES, threads - LANES * w);
      const live = lanes === LANES ? -1 : (1 << lanes) - 1;
      const number = rank * warpCount + w;
      warps.push({
        block,
        index: w,
        registerFile: slot.registerFiles + number * layout.bytes,
        phase: 0,
        async: undefined,
        live,
        running: undefined,
        paths: [{ pc: 0, mask: live, waiting: undefined, barrier: 0, ran: 0 }],
        slice: 0,
        exhausted: false,
        clusterArrived: 0,
      });
    }
    blocks.push(block);
  }
  const observed = observedOf(machine);
  for (const block of blocks) {
    const { shared, sharedBytes, reserved = sharedBytes } = block;
    machine.views.u8.fill(0, shared + reserved, shared + sharedBytes);
    for (const warp of block.warps) {
      writeHeader(machine, slot, warp, warpCount);
      const { i32 } = machine.views;
      const { start, bytes } = layout.shadowWords;
      i32.fill(0, (warp.registerFile + start) >> 2, (warp.registerFile + start + bytes) >> 2);
      for (const { shadow, origin } of layout.initial) {
        fillShadow(machine.views, warp.registerFile, shadow, warp.live, warp.live);
        i32[(warp.registerFile + shadow.word + SHADOW.origin) >> 2] = origin;
      }
      writeSpecials(machine, layout.specials, launch, warp, slot.launch === launch);
    }
  }
  slot.launch = launch;
  for (const block of blocks) observed?.observer.block?.(block, "begins");
  return { slot, blocks, spent: 0 };
}

function writeHeader(machine: Machine, slot: Slot, warp: Warp, warpCount: number): void {
  const { i32 } = machine.views;
  const { block, registerFile } = warp;
  const index = block.rank * warpCount + warp.index;
  i32[(registerFile + HEADER.shared) >> 2] = block.shared;
  i32[(registerFile + HEADER.sharedBytes) >> 2] = block.sharedBytes;
  i32[(registerFile + HEADER.local) >> 2] = slot.local + index * LANES * slot.localBytes;
  i32[(registerFile + HEADER.localBytes) >> 2] = slot.localBytes;
  i32[(registerFile + HEADER.live) >> 2] = warp.live;
  i32[(registerFile + HEADER.forced) >> 2] = 0;
}

/** Runs a cluster for a while. Idle: whatever it did was to wait in vain. */
function* runCluster(
  work: GridWork,
  cluster: Cluster,
  counts: GridCounts,
): Generator<undefined, "done" | "busy" | "idle"> {
  const { program, machine } = work;
  const { code } = program;
  const observed = observedOf(machine);
  const slice = observed === undefined ? WARP_SLICE : OBSERVED_SLICE;
  const events: WarpEvents = {
    arrive: (warp, path) => {
      counts.barriers++;
      arriveAt(program, machine, warp, path);
    },
    diverged: (warp) => {
      counts.divergences++;
      if (observed !== undefined) tellParting(observed, machine, warp);
    },
  };
  const limit = cluster.spent + CLUSTER_SLICE;
  let idle = 0;
  let polls = 0;
  let sincePoll = 0;
  while (cluster.spent < limit && idle < IDLE_ITERATIONS && polls < POLL_ITERATIONS) {
    let [ran, worked, left, polled] = [false, false, false, false];
    for (const block of cluster.blocks) {
      for (const warp of block.warps) {
        if (isDone(warp)) continue;
        const { live } = warp;
        code.fuel.value = slice;
        try {
          let outcome = runWarp(program, machine, warp, events);
          for (; outcome === "paused"; outcome = runWarp(program, machine, warp, events, true)) {
            yield;
          }
          if (outcome === "ran") ran = true;
        } catch (error) {
          throw missingBarrier(program, machine, block, error, events);
        }
        const { kind, left: unused } = code.takeStop();
        const spent = slice - code.fuel.value - unused;
        if (kind !== "yielded" && spent > 0) worked = true;
        if (kind === "polled") polled = true;
        cluster.spent += spent;
        if (warp.live !== live) {
          afterExit(program, machine, block);
          if (block.warps.every(isDone)) observed?.observer.block?.(block, "ends");
          if (machine.checks && block.warps.every(isDone)) {
            finishOutgoing(block);
            checkWaits(machine);
            if (block.cluster.length > 1) checkExit(machine);
          }
        }
        if (!isDone(warp)) left = true;
      }
    }
    if (!left) return "done";
    if (!ran) throw deadlock(work, [cluster]);
    idle = worked ? 0 : idle + 1;
    sincePoll = polled ? 0 : sincePoll + 1;
    polls = polled ? polls + 1 : sincePoll > POLL_GAP ? 0 : polls;
    if (cluster.spent > work.budget) throw budgetFault(work, cluster);
  }
  return idle > 0 ? "idle" : "busy";
}

function tellParting({ observer, at }: Observed, { views }: Machine, warp: Warp): void {
  const taken = views.i32[(warp.registerFile + HEADER.diverged) >> 2] ?? 0;
  const others = at.mask & ~taken;
  observer.sync?.(at, { kind: "lanes part", taken: at.mask & taken, others });
}

/** Where threads wait that wait for ever. */
function deadlock({ program }: GridWork, clusters: readonly Cluster[]): Fault {
  const waitingAt = new Map<number, { readonly where: string; threads: number }>();
  let [barrier, apart] = [false, false];
  for (const cluster of clusters) {
    for (const block of cluster.blocks) {
      for (const warp of block.warps) {
        for (const { pc, mask, waiting } of warp.paths) {
          const { site } = program.blocks[pc] ?? {};
          if (waiting !== undefined) barrier = true;
          if (waiting === "lanes") apart = true;
          const where = site === undefined
            ? "a loop"
            : `\`${site.text}\`${site.line === undefined ? "" : ` (line ${site.line})`}`;
          const waits = `${waiting === "lanes" ? "for other lanes " : ""}at ${where}`;
          const key = waiting === "lanes" ? ~pc : pc;
          const group = waitingAt.get(key) ?? { where: waits, threads: 0 };
          for (let m = mask; m !== 0; m &= m - 1) group.threads++;
          waitingAt.set(key, group);
        }
      }
    }
  }
  const list = [...waitingAt.values()].map(({ where, threads }) => `${threads} ${where}`).join(
    ", ",
  );
  return new Fault(
    apart || (barrier && waitingAt.size > 1) ? "divergent barrier" : "deadlock",
    `threads wait for ever: ${list}`,
  );
}

function budgetFault({ program, budget }: GridWork, cluster: Cluster): Fault {
  const running = cluster.blocks.flatMap((b) => b.warps).find((warp) => !isDone(warp));
  const site = program.blocks[running?.paths[0]?.pc ?? 0]?.site;
  return new Fault(
    "instruction budget",
    `a block has run more than ${budget} instructions without coming to an end`,
    undefined,
    site,
  );
}
