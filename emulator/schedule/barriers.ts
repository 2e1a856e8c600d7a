/**
 * Barriers of a block and of a cluster (PTX ISA 9.0, 9.7.13, "barrier"). Threads that have exited count as arrived, as
 * on hardware. With a count of threads, a warp that arrives as a whole counts as 32, whatever its size.
 */
import type { BarrierStep, Program } from "../compile/program.ts";
import { announceSync } from "../debug/observer.ts";
import { Fault, type Site } from "../fault.ts";
import { LANES } from "../register_file.ts";
import type { Machine } from "../machine.ts";
import { checkExited } from "./passing.ts";
import type { Barrier, Block, Path, Warp } from "./state.ts";

const popcount = (mask: number): number => {
  let count = 0;
  for (let m = mask; m !== 0; m &= m - 1) count++;
  return count;
};

/** Number of barriers of a block (PTX ISA 9.0, 9.7.13, "barrier"). */
const BARRIER_COUNT = 16;

function valueOf(machine: Machine, warp: Warp, lane: number, row: number): number {
  return machine.views.u32[((warp.registerFile + row) >> 2) + lane] ?? 0;
}

/** Whether a barrier is over. */
function isComplete(block: Block, barrier: Barrier): boolean {
  if (barrier.expected === undefined) {
    return block.warps.every((warp) => (warp.live & ~(barrier.arrived.get(warp) ?? 0)) === 0);
  }
  let threads = 0;
  for (const [warp, lanes] of barrier.arrived) {
    threads += (warp.live & ~lanes) === 0 ? LANES : popcount(lanes);
  }
  return threads >= barrier.expected;
}

/** A path arrives at a barrier: it continues, waits, or completes the barrier. */
export function arriveAt(
  program: Program,
  machine: Machine,
  warp: Warp,
  path: Path,
): void {
  const facts = program.blocks[path.pc];
  const step = facts?.barrier;
  if (step === undefined) return;
  const { block } = warp;
  if (step.kind === "cluster arrive" || step.kind === "cluster wait") {
    clusterStep(program, machine, warp, path, step);
    return;
  }
  const lane = 31 - Math.clz32(path.mask);
  const id = step.id === undefined ? 0 : valueOf(machine, warp, lane, step.id);
  if (id >= BARRIER_COUNT) {
    throw new Fault("illegal instruction", `barrier ${id} (a block has 16)`, lane, facts?.site);
  }
  const count = step.count === undefined ? undefined : valueOf(machine, warp, lane, step.count);
  if (count !== undefined && count % LANES !== 0) {
    const detail = `barrier ${id} waits for ${count} threads, which is no multiple of 32`;
    throw new Fault("illegal instruction", detail, lane, facts?.site);
  }
  const barrier = block.barriers.get(id) ??
    { arrived: new Map<Warp, number>(), pcs: [], expected: count, yes: 0, all: true };
  block.barriers.set(id, barrier);
  checkArrival(program, warp, path, barrier, id, count, facts?.site);
  if (!barrier.pcs.includes(path.pc)) barrier.pcs.push(path.pc);
  announceSync(machine, { kind: "barrier arrives", barrier: id });
  if (count === undefined) checkExited(program, machine, block, path.pc);
  barrier.arrived.set(warp, (barrier.arrived.get(warp) ?? 0) | path.mask);
  if (step.reduction !== undefined) {
    const { row, invert } = step.reduction.predicate;
    const word = (machine.views.i32[(warp.registerFile + row) >> 2] ?? 0) ^ invert;
    barrier.yes += popcount(word & path.mask);
    if ((path.mask & ~word) !== 0) barrier.all = false;
  }
  if (step.kind === "arrive") path.pc++;
  else {
    path.waiting = "barrier";
    path.barrier = id;
  }
  completeBarrier(program, machine, block, id);
}

/** Lanes of one warp must not arrive at the same barrier from two instructions, nor with different counts. */
function checkArrival(
  program: Program,
  warp: Warp,
  path: Path,
  barrier: Barrier,
  id: number,
  count: number | undefined,
  site: Site | undefined,
): void {
  if (barrier.expected !== count) {
    throw new Fault(
      "divergent barrier",
      `barrier ${id} is waited for by ${barrier.expected ?? "all"} threads elsewhere and by ${
        count ?? "all"
      } here`,
      undefined,
      site,
    );
  }
  const other = warp.paths.find((f) =>
    f !== path && f.waiting === "barrier" && f.barrier === id && f.pc !== path.pc
  );
  if (other === undefined || program.blocks[path.pc]?.barrier?.aligned !== true) return;
  throw new Fault(
    "divergent barrier",
    `lanes of warp ${warp.index} wait at barrier ${id} at two instructions`,
    undefined,
    site,
  );
}

/** Ends a barrier if all have arrived. */
function completeBarrier(program: Program, machine: Machine, block: Block, id: number): void {
  const barrier = block.barriers.get(id);
  if (barrier === undefined || !isComplete(block, barrier)) return;
  block.barriers.delete(id);
  for (const warp of block.warps) {
    for (const path of warp.paths) {
      if (path.waiting !== "barrier" || path.barrier !== id) continue;
      const step = program.blocks[path.pc]?.barrier;
      if (step?.reduction !== undefined) giveResult(machine, warp, path, step, barrier);
      path.waiting = undefined;
      path.pc++;
    }
  }
  block.phase++;
  announceSync(machine, { kind: "barrier ends", barrier: id });
}

function giveResult(
  machine: Machine,
  warp: Warp,
  path: Path,
  { reduction }: BarrierStep,
  barrier: Barrier,
): void {
  if (reduction === undefined) return;
  const { i32 } = machine.views;
  const at = (warp.registerFile + reduction.result) >> 2;
  if (reduction.operation === "popc") {
    for (let lane = 0; lane < LANES; lane++) {
      if ((path.mask >>> lane & 1) === 1) i32[at + lane] = barrier.yes;
    }
    return;
  }
  const truth = reduction.operation === "and" ? barrier.all : barrier.yes > 0;
  i32[at] = truth ? (i32[at] ?? 0) | path.mask : (i32[at] ?? 0) & ~path.mask;
}

/** After threads have exited: barriers that waited for them may be over. */
export function afterExit(program: Program, machine: Machine, block: Block): void {
  for (const id of [...block.barriers.keys()]) completeBarrier(program, machine, block, id);
  completeCluster(machine, block);
}

function clusterStep(
  program: Program,
  machine: Machine,
  warp: Warp,
  path: Path,
  step: BarrierStep,
): void {
  const { block } = warp;
  if (step.kind === "cluster arrive") {
    if ((warp.clusterArrived & path.mask) !== 0) {
      throw new Fault(
        "divergent barrier",
        "a thread arrives at the cluster's barrier twice without waiting in between",
        undefined,
        program.blocks[path.pc]?.site,
      );
    }
    warp.clusterArrived |= path.mask;
    path.pc++;
    announceSync(machine, { kind: "barrier arrives", barrier: "cluster" });
    completeCluster(machine, block);
  } else if ((warp.clusterArrived & path.mask) === 0) path.pc++;
  else path.waiting = "cluster";
}

/** Ends the cluster's barrier if all its threads have arrived. */
function completeCluster(machine: Machine, block: Block): void {
  // Most kernels have no such barrier, and all come here with every warp that exits.
  if (!block.cluster.some((b) => b.warps.some((warp) => warp.clusterArrived !== 0))) return;
  const warps = block.cluster.flatMap((b) => b.warps);
  if (warps.some((warp) => (warp.live & ~warp.clusterArrived) !== 0)) return;
  for (const warp of warps) {
    warp.clusterArrived = 0;
    for (const path of warp.paths) {
      if (path.waiting !== "cluster") continue;
      path.waiting = undefined;
      path.pc++;
    }
  }
  for (const each of block.cluster) each.phase++;
  announceSync(machine, { kind: "barrier ends", barrier: "cluster" });
}
