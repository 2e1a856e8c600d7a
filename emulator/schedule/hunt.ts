/**
 * After a read of shared memory that nothing has written: if another thread of the block comes to write it without a
 * barrier in between, what the kernel lacks is that barrier. The lanes that read stay where they are, and the others
 * run on until they wait, end, or write there.
 */
import type { Program } from "../compile/program.ts";
import { Fault } from "../fault.ts";
import type { Machine } from "../machine.ts";
import type { Block } from "./state.ts";
import { withOrigin } from "./fault_origin.ts";
import { observedOf } from "../debug/observer.ts";
import { isDone, runWarp, type WarpEvents } from "./warp.ts";

/** Warp-instructions that the other warps may run. */
const MOST_FUEL = 200_000;
const SLICE = 20_000;

/** The fault to throw in place of one that a warp of a block ended with. */
export function missingBarrier(
  program: Program,
  machine: Machine,
  block: Block,
  error: unknown,
  events: WarpEvents,
): unknown {
  if (!isUnwritten(error) || observedOf(machine) !== undefined) return error;
  const fault = withOrigin(error, machine, program.kernel);
  const { code } = program;
  let left = MOST_FUEL;
  halt(machine, block);
  for (let ran = true; ran && left > 0;) {
    ran = false;
    for (const warp of block.warps) {
      if (isDone(warp)) continue;
      code.fuel.value = SLICE;
      try {
        if (runWarp(program, machine, warp, events) === "ran") ran = true;
      } catch (other) {
        if (other instanceof Fault && other.kind === "missing barrier") return other;
        if (!isUnwritten(other)) return fault;
        // It reads too early as well; another thread may be the one that writes.
        halt(machine, block);
        ran = true;
      }
      left -= Math.max(1, SLICE - code.fuel.value - code.takeStop().left);
    }
  }
  return fault;
}

function isUnwritten(error: unknown): error is Fault {
  return error instanceof Fault && error.kind.startsWith("uninitialised");
}

/** Keeps the lanes that have just failed where they are. */
function halt({ warp: failed }: Machine, { warps }: Block): void {
  const running = warps.find((warp) => warp === failed)?.running;
  if (running !== undefined) running.waiting = "fault";
}
