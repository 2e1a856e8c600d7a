/** Two accesses that conflict, in words: what kind of mistake it is, and who the other one was. */
import type { Access } from "../access/state.ts";
import type { FaultKind, Site } from "../fault.ts";
import { LANES } from "../register_file.ts";
import type { Conflict } from "./cells.ts";
import { describeWho } from "./describe.ts";
import { WHO, whoIs } from "./order.ts";
import { siteOf } from "./site_log.ts";

/** The access that happens now. */
export interface Present {
  readonly site: Site;
  readonly writes: boolean;
  readonly lane: number;
  readonly isUpdate: () => boolean;
}

/**
 * What a conflict is. Threads of one block that use each other's data without a barrier lack one; but where several
 * threads update one location, or one store reaches one location from several threads, a barrier is no help: that is
 * a race, as between blocks.
 */
export function kindOf(access: Access, conflict: Conflict, present: Present): FaultKind {
  const { order, sites } = access;
  if (conflict.breach === "read-only") return "read-only memory";
  if (conflict.breach === "copying") return "pending copy";
  if (((conflict.who >>> WHO.blockShift) & WHO.block) !== order.block.id) return "race";
  const other = siteOf(sites, conflict.tick, order.now);
  // Of several readers, only one is known.
  if ((conflict.who & WHO.several) !== 0 && isPresent(access, conflict, present)) {
    return "missing barrier";
  }
  const bothWrite = conflict.wrote && present.writes;
  if (other === undefined) return bothWrite ? "race" : "missing barrier";
  if (bothWrite && other.site === present.site) return "race";
  return other.isUpdate() && present.isUpdate() ? "race" : "missing barrier";
}

/** Whether the thread that is known of the earlier access is the present one. */
function isPresent({ order, machine }: Access, { who }: Conflict, { lane }: Present): boolean {
  return ((who ^ (whoIs(order, machine) | lane)) & WHO.identity) === 0;
}

/** The clause that follows what is accessed where: "by thread 36 is not ordered with a write by thread 4, by `…`". */
export function conflictClause(access: Access, conflict: Conflict, present: Present): string {
  const { lane } = present;
  const { order, machine, sites } = access;
  const { who, tick, wrote, breach } = conflict;
  const other = siteOf(sites, tick, order.now)?.site;
  const line = other?.line === undefined ? "" : ` (${other.file ?? ""}:${other.line})`;
  const text = other === undefined ? "" : `\`${other.text}\`${line}`;
  const otherThread = describeWho(who, order.block);
  if (breach === "read-only") {
    return `, which ${otherThread} has written in this launch${text === "" ? "" : ` by ${text}`}`;
  }
  if (breach === "copying") {
    return `: ${text || "an asynchronous copy"} of ${otherThread} copies from it, ` +
      "and that thread has not waited for it";
  }
  const several = (who & WHO.several) === 0
    ? otherThread
    : isPresent(access, conflict, present)
    ? "other threads of its warp"
    : `${otherThread} and other threads of its warp`;
  return ` by thread ${machine.warp.index * LANES + lane} is not ordered with ` +
    `${wrote ? "a write" : "a read"} by ${several}${text === "" ? "" : `, by ${text}`}`;
}
