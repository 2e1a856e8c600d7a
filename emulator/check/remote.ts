/**
 * Accesses to the shared memory of other blocks of a cluster. It is there until its block exits, so an access must
 * come before that: a barrier of the cluster, or anything else that orders, must lie between the two (CUDA C++
 * Programming Guide, "Distributed Shared Memory").
 */
import { type Access, accessOf } from "../access/state.ts";
import { Fault, type Site } from "../fault.ts";
import { HEADER } from "../register_file.ts";
import type { BlockState, Machine } from "../machine.ts";
import { describeWho } from "./describe.ts";
import { attend, isOrdered, whoIs } from "./order.ts";
import { report } from "./report.ts";

interface RemoteUse {
  readonly who: number;
  readonly tick: number;
  readonly site: Site;
}

/** The last access of each other warp to the shared memory of a block. */
const uses = new WeakMap<BlockState, Map<number, RemoteUse>>();

function hasExited({ machine: { views: { i32 } } }: Access, { warps }: BlockState): boolean {
  return warps.every(({ registerFile }) => i32[(registerFile + HEADER.live) >> 2] === 0);
}

/**
 * Reports an access of a lane to the shared memory of a block that has exited; remembers it if the block is there, as
 * it must not exit before.
 */
export function checkRemote(access: Access, owner: BlockState, lane: number, site: Site): void {
  const { order, machine, launch: { levels } } = access;
  if (levels.clusters === "off") return;
  if (hasExited(access, owner)) {
    const detail = `access to the shared memory of block ${owner.linear}, which has exited`;
    report(machine, new Fault("exited block", detail, lane, site));
    return;
  }
  const who = whoIs(order, machine) | lane;
  let known = uses.get(owner);
  if (known === undefined) uses.set(owner, known = new Map());
  known.set(who & ~31, { who, tick: order.now, site });
}

/** Reports accesses to the shared memory of the block that runs which may come after its exit. To be called then. */
export function checkExit(machine: Machine): void {
  const access = accessOf(machine);
  const { order, launch: { levels } } = access;
  const { block } = machine;
  const known = uses.get(block);
  if (known === undefined || levels.clusters === "off") return;
  attend(order, machine);
  for (const { who, tick, site } of known.values()) {
    if (isOrdered(order, who, tick, 0)) continue;
    const by = describeWho(who, order.block);
    const detail =
      `nothing orders the access to the shared memory of block ${block.linear} by ${by} before the exit of the block`;
    report(machine, new Fault("exited block", detail, undefined, site));
  }
}
