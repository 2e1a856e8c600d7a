/**
 * Threads that pass by an instruction at which others wait for them: a barrier of the block in a branch that only some
 * threads take, or an instruction of a warp whose mask names lanes that go another way. On hardware the others wait
 * until those threads exit, or for ever; what they wait for has not happened then.
 */
import type { Program } from "../compile/program.ts";
import { accessOf } from "../access/state.ts";
import { report } from "../check/report.ts";
import { Fault, type Site } from "../fault.ts";
import { LANES } from "../register_file.ts";
import type { Machine } from "../machine.ts";
import type { Block, Path, Warp } from "./state.ts";

const lowest = (mask: number): number => 31 - Math.clz32(mask & -mask);

function failPassing(
  machine: Machine,
  thread: string,
  lane: number | undefined,
  site: Site | undefined,
  what: string,
): void {
  const line = site?.line === undefined ? "" : ` (${site.file ?? ""}:${site.line})`;
  const detail = `${thread} has passed by \`${site?.text ?? "a barrier"}\`${line}, where ${what}`;
  report(machine, new Fault("divergent barrier", detail, lane, site));
}

/** Whether threads that pass by are looked for now. */
function isWatching(machine: Machine): boolean {
  return machine.checks && accessOf(machine).launch.levels.barriers !== "off";
}

/**
 * Reports that a path, which is about to run, has passed by where others wait for it. The result is the next
 * block at which this has to be asked again.
 */
export function checkPassing(
  program: Program,
  machine: Machine,
  warp: Warp,
  { pc, mask }: Path,
): number {
  const { block, paths } = warp;
  if ((block.barriers.size === 0 && paths.length === 1) || !isWatching(machine)) {
    return Infinity;
  }
  const { passing } = program;
  let next = Infinity;
  const look = (waiting: number, lanes: number, what: string): void => {
    if (passing.isAfter(waiting, pc)) {
      const lane = lowest(lanes);
      const thread = `thread ${LANES * warp.index + lane}`;
      failPassing(machine, thread, lane, program.blocks[waiting]?.site, what);
    }
    next = Math.min(next, passing.nextAfter(waiting, pc));
  };
  for (const { expected, pcs } of block.barriers.values()) {
    if (expected !== undefined) continue;
    for (const pc of pcs) look(pc, mask, "other threads of the block wait for it");
  }
  for (const other of paths) {
    if (other.waiting !== "lanes") continue;
    const named = namedLanes(program, machine, warp, other) & mask;
    if (named !== 0) look(other.pc, named, "other lanes of its warp wait for it");
  }
  return next;
}

/** Lanes that a waiting path's instruction needs. */
function namedLanes({ blocks }: Program, machine: Machine, warp: Warp, path: Path): number {
  const needs = blocks[path.pc]?.needs;
  if (needs === undefined || needs === "all") return -1;
  return machine.views.i32[((warp.registerFile + needs) >> 2) + lowest(path.mask)] ?? 0;
}

/** Remembers in which block threads exit. */
export function noteExit({ code }: Program, machine: Machine, { block }: Warp): void {
  if (!machine.checks) return;
  const at = code.stoppedAt.value;
  if (!block.exits.includes(at)) block.exits.push(at);
}

/** Reports threads that have exited after they passed by a barrier at which others have arrived only now. */
export function checkExited(program: Program, machine: Machine, block: Block, pc: number): void {
  if (block.exits.length === 0 || !isWatching(machine)) return;
  for (const exit of block.exits) {
    if (!program.passing.cameThrough(pc, exit)) continue;
    const what = "other threads of the block wait for them";
    failPassing(machine, "threads that have exited", undefined, program.blocks[pc]?.site, what);
  }
}
