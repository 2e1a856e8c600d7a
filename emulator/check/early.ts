/**
 * Launches that may start before the grids before them have ended (`LaunchShape.startsEarly`): each thread waits for
 * those (`griddepcontrol.wait`) before it accesses global memory, which they may still write or read, and before it ends,
 * as the next grid relies on that.
 */
import { type Access, accessOf } from "../access/state.ts";
import { Fault, type Site } from "../fault.ts";
import { LANES } from "../register_file.ts";
import type { Machine, WarpState } from "../machine.ts";
import { report } from "./report.ts";

/** Lanes that have waited, of warps of such launches. */
const waited = new WeakMap<WarpState, number>();

/** Notes that lanes of the warp that runs have waited. */
export function noteWait(machine: Machine, lanes: number): void {
  const { warp } = machine;
  if (!accessOf(machine).launch.startsEarly) return;
  waited.set(warp, (waited.get(warp) ?? 0) | lanes);
}

/** Reports lanes that access global memory too early. */
export function checkEarly(
  { machine, launch }: Access,
  lanes: number,
  site: Site,
  what: (lane: number) => string,
): void {
  if (!launch.startsEarly) return;
  const early = lanes & ~(waited.get(machine.warp) ?? 0);
  if (early === 0) return;
  const lane = 31 - Math.clz32(early & -early);
  const detail = `${what(lane)} before the thread has run \`griddepcontrol.wait\``;
  report(machine, new Fault("early access", detail, lane, site));
}

/** Reports threads of the block that runs which ended without waiting. To be called when it has ended. */
export function checkWaits(machine: Machine): void {
  if (!accessOf(machine).launch.startsEarly) return;
  const { block } = machine;
  for (const warp of block.warps) {
    const lanes = Math.min(LANES, block.threads - LANES * warp.index);
    const early = (lanes === LANES ? -1 : (1 << lanes) - 1) & ~(waited.get(warp) ?? 0);
    if (early === 0) continue;
    machine.warp = warp;
    const lane = 31 - Math.clz32(early & -early);
    const detail = "a thread ends without having run `griddepcontrol.wait`";
    report(machine, new Fault("early access", detail, lane));
  }
}
