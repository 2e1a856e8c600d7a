/** Multiplicands of `wgmma` that lie in shared memory: from a descriptor to a matrix of the workspace. */
import { checkAccess } from "../access/check.ts";
import { type CheckedAccess, checkedAccess } from "../access/checked_access.ts";
import { KIND } from "../access/reach.ts";
import { type Access, accessOf } from "../access/state.ts";
import { markPending, type PendingCopy } from "../async/pending.ts";
import { checkProxy } from "../check/proxies.ts";
import { Fault } from "../fault.ts";
import { LANES } from "../register_file.ts";
import type { HandlerContext } from "../machine.ts";
import type { Views } from "../memory.ts";
import { CHUNK_BYTES, chunkAddress, type Major, readDescriptor } from "./descriptor.ts";
import { chunkReader, type Format } from "./formats.ts";

export interface SharedOperand {
  /** Row of the descriptors. */
  readonly row: number;
  readonly format: Format;
  readonly major: Major;
  /** Elements along m or n, and along k. */
  readonly extent: number;
  readonly k: number;
  /** Distances in the matrix of the workspace between neighbours along m or n, and along k. */
  readonly alongExtent: number;
  readonly alongK: number;
}

/** Reads the operand into a matrix of the workspace. */
export type OperandReader = (views: Views, out: Float64Array) => void;

/**
 * Finds the rows from `firstRow` on by the descriptors in the registers, as they are now. Their bytes are in flight
 * with
 * `reads`, if that is given.
 */
export type OperandLocator = (
  views: Views,
  w: number,
  firstRow: number,
  reads: PendingCopy | undefined,
) => OperandReader;

/** The descriptor must be the same in all lanes. */
function checkUniform(context: HandlerContext, { u32 }: Views, first: number): void {
  for (let lane = 1; lane < LANES; lane++) {
    if (u32[first + 2 * lane] !== u32[first] || u32[first + 2 * lane + 1] !== u32[first + 1]) {
      throw new Fault(
        "illegal instruction",
        "wgmma needs the same matrix descriptor in all lanes",
        lane,
        context.site,
      );
    }
  }
}

/** Checks reads of the warp at the given locations, as many at a time as it has lanes. */
function checkLocations(access: Access, check: CheckedAccess, locations: Uint32Array): void {
  const { reach } = access;
  for (let first = 0; first < locations.length; first += LANES) {
    const batch = locations.subarray(first, first + LANES);
    reach.locations.set(batch);
    reach.kind = KIND.shared;
    reach.remote = 0;
    reach.low = batch.reduce((least, location) => Math.min(least, location), Infinity);
    reach.high = batch.reduce((most, location) => Math.max(most, location), 0);
    reach.bits = batch.reduce((bits, location) => bits | location, 0);
    checkAccess(access, check, -1 >>> (LANES - batch.length) | 0);
  }
}

export function sharedReader(context: HandlerContext, operand: SharedOperand): OperandLocator {
  const { machine, site } = context;
  const { row, format, major, extent, k, alongExtent, alongK } = operand;
  const read = chunkReader(format);
  const perChunk = CHUNK_BYTES * 8 / format.bits;
  const [lines, chunks] = major === "k" ? [extent, k / perChunk] : [k, extent / perChunk];
  const [alongLines, alongChunk] = major === "k" ? [alongExtent, alongK] : [alongK, alongExtent];
  const access = accessOf(machine);
  const check = checkedAccess(access, {
    verb: "load",
    bytes: CHUNK_BYTES,
    align: CHUNK_BYTES,
    reads: true,
    writes: false,
    strong: false,
    carries: false,
  }, site);
  return (views, w, firstRow, reads) => {
    const locations = new Uint32Array(lines * chunks);
    const first = (w + row) >>> 2;
    if (machine.checks) checkUniform(context, views, first);
    const matrix = readDescriptor(views.u32[first] ?? 0, views.u32[first + 1] ?? 0, major);
    const firstLine = major === "k" ? firstRow : 0;
    const firstChunk = major === "k" ? 0 : firstRow / perChunk;
    const { shared } = machine.block;
    for (let line = 0, i = 0; line < lines; line++) {
      for (let chunk = 0; chunk < chunks; chunk++) {
        locations[i++] = shared + chunkAddress(matrix, firstLine + line, firstChunk + chunk);
      }
    }
    if (reads !== undefined) {
      checkLocations(access, check, locations);
      for (const location of locations) {
        checkProxy(machine, machine.block, location - shared, CHUNK_BYTES, { site, lane: 0 });
        markPending(machine.block, location, CHUNK_BYTES, reads, machine.warp, 0);
      }
    }
    return (current, out) => {
      for (let line = 0, i = 0; line < lines; line++) {
        for (let chunk = 0; chunk < chunks; chunk++) {
          const at = line * alongLines + chunk * perChunk * alongChunk;
          read(current, locations[i++] ?? 0, out, at, alongChunk);
        }
      }
    };
  };
}
