/** Reports to an observer what the lanes of a warp access. */
import { type ObservedAccess, observedOf } from "../debug/observer.ts";
import type { Machine } from "../machine.ts";
import { SHARED_OFFSET_MASK, type Window } from "../memory.ts";
import { LANES } from "../register_file.ts";
import { KIND, ownerOf } from "./reach.ts";
import type { Access } from "./state.ts";

const SPACES: readonly (readonly [kind: number, space: Window])[] = [
  [KIND.global, "global"],
  [KIND.shared, "shared"],
  [KIND.local, "local"],
  [KIND.const, "const"],
  [KIND.param, "param"],
];

/** An access of lanes whose locations are in `access.reach`: a call for each state space. */
export function announceAccess(
  { machine, reach }: Access,
  what: Pick<ObservedAccess, "verb" | "writes" | "bytes">,
  mask: number,
): void {
  const observed = observedOf(machine);
  if (observed?.observer.access === undefined) return;
  const { kind, kinds, locations } = reach;
  for (const [each, space] of SPACES) {
    let lanes = kind === each ? mask : 0;
    if (kind === KIND.mixed) {
      for (let lane = 0; lane < LANES; lane++) {
        if (kinds[lane] === each) lanes |= mask & (1 << lane);
      }
    }
    if (lanes === 0) continue;
    const places = locations.slice();
    if (space === "shared") {
      for (let lane = 0; lane < LANES; lane++) {
        const place = (locations[lane] ?? 0) - ownerOf(reach, lane).shared;
        places[lane] = place & SHARED_OFFSET_MASK;
      }
    }
    observed.observer.access(observed.at, { ...what, space, lanes, places });
  }
}

/** What the lanes of a warp copy from, or to. */
export function announceLanes(
  machine: Machine,
  copied: Pick<ObservedAccess, "space" | "places" | "lanes" | "bytes" | "writes">,
): void {
  const observed = observedOf(machine);
  if (observed?.observer.access === undefined || copied.lanes === 0) return;
  observed.observer.access(observed.at, { verb: "copy", ...copied });
}

/** A piece that a lane copies. */
export function announceCopy(
  machine: Machine,
  { space, place, bytes, writes, lane }: {
    readonly space: Window;
    readonly place: number;
    readonly bytes: number;
    readonly writes: boolean;
    readonly lane: number;
  },
): void {
  const places = new Uint32Array(LANES);
  places[lane] = place;
  announceLanes(machine, { space, places, lanes: 1 << lane, bytes, writes });
}
