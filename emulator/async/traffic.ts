/** Counts what asynchronous copies move, as if it were a load or a store. */
import { announceLanes } from "../access/announce.ts";
import { accessOf } from "../access/state.ts";
import { countGlobal, countRun, countShared } from "../count/counters.ts";
import { countingSite } from "../count/log.ts";
import { LANES } from "../register_file.ts";
import type { HandlerContext } from "../machine.ts";
import type { SharedRange } from "./reach.ts";

/** The lanes of one instruction: each reads so many bytes of global memory, or none, and writes as many to shared. */
export interface LaneTraffic {
  begin(): void;
  lane(lane: number, global: number | undefined, shared: SharedRange): void;
  /** Counts a request of each side, and reports both to the observer. */
  end(bytes: number): void;
}

/** Counts copies of a warp whose lanes each move a few bytes. */
export function laneTraffic({ machine, site }: HandlerContext): LaneTraffic {
  const { counters } = accessOf(machine);
  const counting = countingSite(site);
  const [from, to] = [new Uint32Array(LANES), new Uint32Array(LANES)];
  const offsets = new Uint32Array(LANES);
  let [reads, writes] = [0, 0];
  return {
    begin(): void {
      [reads, writes] = [0, 0];
    },
    lane(lane, global, { location, offset }): void {
      to[lane] = location;
      offsets[lane] = offset;
      writes |= 1 << lane;
      if (global === undefined) return;
      from[lane] = global;
      reads |= 1 << lane;
    },
    end(bytes): void {
      announceLanes(machine, { space: "global", places: from, lanes: reads, bytes, writes: false });
      announceLanes(machine, {
        space: "shared",
        places: offsets,
        lanes: writes,
        bytes,
        writes: true,
      });
      if (!machine.profile) return;
      const sums = counters.of(counting);
      if (reads !== 0) countGlobal(sums, counters.scratch, from, reads, bytes);
      countShared(sums, counters.scratch, to, writes, bytes);
    },
  };
}

/** Bytes of global memory that one thread moves at once, in pieces; what that costs shared memory is not documented. */
export interface BulkTraffic {
  piece(location: number, bytes: number): void;
  end(): void;
}

/** Counts bulk copies: what lies side by side counts as one request. */
export function bulkTraffic({ machine, site }: HandlerContext): BulkTraffic {
  const { counters } = accessOf(machine);
  const counting = countingSite(site);
  let [first, next] = [0, 0];
  const end = (): void => {
    if (machine.profile && next > first) countRun(counters.of(counting), first, next - first);
    [first, next] = [0, 0];
  };
  return {
    piece(location, bytes): void {
      if (location !== next) {
        end();
        first = location;
      }
      next = location + bytes;
    },
    end,
  };
}
