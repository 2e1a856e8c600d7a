/**
 * Member masks of instructions that lanes carry out together. Each lane that runs one must be in its mask; lanes of the
 * mask that have exited are not waited for (PTX ISA 9.0, 9.7.13: "all non-exited threads corresponding to membermask"),
 * which is legal, but most often a mistake.
 */
import type { Match } from "../../compiler/ptx/match.ts";
import { accessOf } from "../access/state.ts";
import { report } from "../check/report.ts";
import { Fault, type Site } from "../fault.ts";
import { HEADER, LANES } from "../register_file.ts";
import type { Handler, HandlerContext, Machine, WarpFunction } from "../machine.ts";
import { syncMask } from "./sync_mask.ts";

const lowest = (mask: number): number => 31 - Math.clz32(mask & -mask);
const hex = (mask: number): string => `0x${(mask >>> 0).toString(16)}`;

/** The lanes of a mask: "lane 5", "lanes 5, 6 and 12 more". */
function listed(mask: number): string {
  const lanes: number[] = [];
  for (let m = mask; m !== 0; m &= m - 1) lanes.push(lowest(m));
  const shown = lanes.slice(0, 3).join(", ");
  const rest = lanes.length > 3 ? ` and ${lanes.length - 3} more` : "";
  return `lane${lanes.length === 1 ? "" : "s"} ${shown}${rest}`;
}

/** Lanes of a warp that its block has: the last warp may have fewer than 32. */
function existing({ machine: { block, warp } }: HandlerContext): number {
  const lanes = block.threads - LANES * warp.index;
  return lanes >= LANES ? -1 : (1 << lanes) - 1;
}

/** The same with its member mask checked, if it has one and the run is checked. */
export function checkedMembers(handler: Handler): Handler {
  return (match, context) => {
    const run = handler(match, context);
    return context.machine.checks ? withCheck(match, context, run) : run;
  };
}

/** Reports lanes that run an instruction whose member mask does not name them. */
export function checkMembers(
  machine: Machine,
  site: Site | undefined,
  member: number,
  lanes: number,
): void {
  const outside = lanes & ~member;
  if (outside === 0) return;
  const detail = `mask ${hex(member)} does not name ${listed(outside)}, which run the instruction`;
  report(machine, new Fault("member mask", detail, lowest(outside), site));
}

function withCheck(match: Match, context: HandlerContext, run: WarpFunction): WarpFunction {
  const mask = syncMask(match);
  if (mask === undefined || mask === "all") return run;
  const { machine, site } = context;
  const access = accessOf(machine);
  const row = context.row(mask, "b32");
  /** The launch for which exited lanes have been reported. */
  let reported: unknown;
  return (w, lanes) => {
    const { i32 } = machine.views;
    const member = i32[((w + row) >>> 2) + lowest(lanes)] ?? 0;
    checkMembers(machine, site, member, lanes);
    const exited = member & ~(i32[(w + HEADER.live) >>> 2] ?? 0) & existing(context);
    if (exited !== 0 && reported !== access.launch) {
      if (access.launch.levels.exitedLanes !== "off") {
        const detail = `mask ${hex(member)} names ${listed(exited)}, which have exited`;
        report(machine, new Fault("exited lanes", detail, lowest(lanes), site));
      }
      reported = access.launch;
    }
    run(w, lanes);
  };
}
