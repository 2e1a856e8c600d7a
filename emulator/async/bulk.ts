/** Handlers of cp.async.bulk: copies of any multiple of 16 bytes, and their groups (PTX ISA 9.0, 9.7.9.25.4). */
import type { Match } from "../../compiler/ptx/match.ts";
import { Fault, type Site } from "../fault.ts";
import { accessOf } from "../access/state.ts";
import { announceSync } from "../debug/observer.ts";
import type { BlockState, Handler, HandlerContext, WarpFunction } from "../machine.ts";
import { checkProxy, noteAsyncWrite } from "../check/proxies.ts";
import { type BarrierUse, completeBytes, OBJECT_BYTES } from "./barrier.ts";
import { noteBulk, noteOutgoing } from "./flights.ts";
import { type GroupStore, openCopy } from "./groups.ts";
import { commitHandler, waitHandler } from "./group_handlers.ts";
import { barrierOperand } from "./mbarrier.ts";
import { markPending, pendingCopy } from "./pending.ts";
import {
  addressAt,
  eachLane,
  findOperand,
  globalLocation,
  noteRemote,
  operandOf,
  type SharedRange,
  sharedRange,
  wordAt,
} from "./reach.ts";
import { bulkTraffic } from "./traffic.ts";
import { watchFor } from "./watch.ts";

/** Sizes and addresses of bulk copies are multiples of this. */
const BULK_ALIGN = 16;

const store: GroupStore = new WeakMap();

/** Where a copy into shared memory goes, and the barrier that counts its bytes there. */
export interface Destination {
  readonly range: SharedRange;
  readonly barrier: BarrierUse;
}

/** Finds a lane's destinations; faults if there is no memory for so many bytes. */
export type FindDestinations = (w: number, lane: number, bytes: number) => readonly Destination[];

/** The destinations of a lane's copy: one, or with `.multicast::cluster` one in every block of a mask. */
export function destinations(
  match: Match,
  context: HandlerContext,
  align: number,
): FindDestinations {
  const { machine, site } = context;
  const to = context.address(operandOf(match, "x"));
  const cluster = match.bound.has("shared::cluster");
  const barrierOf = barrierOperand(
    match,
    context,
    "b",
    cluster ? "shared::cluster" : "shared::cta",
  );
  const blocks = findOperand(match, "m");
  const blocksRow = blocks === undefined ? undefined : context.row(blocks, "u16");
  const demand = { what: "destination", generic: false, cluster, align };
  return (w, lane, bytes) => {
    const range = sharedRange(machine, addressAt(machine, w, to, lane), bytes, demand, lane, site);
    const barrier = barrierOf(w, lane);
    if (blocksRow === undefined) return [{ range, barrier }];
    const mask = wordAt(machine, w, blocksRow, lane) & 0xffff;
    const { cluster } = machine.block;
    if (mask >>> cluster.length !== 0) {
      const detail = `blocks 0x${mask.toString(16)} of a cluster of ${cluster.length}`;
      throw new Fault("out of bounds", detail, lane, site);
    }
    const inBlock = (block: BlockState, { offset }: SharedRange): SharedRange => ({
      block,
      offset,
      location: block.shared + offset,
    });
    const targets = cluster.filter((_, rank) => ((mask >>> rank) & 1) !== 0);
    for (const block of targets) {
      if (block !== machine.block) noteRemote(machine, block, lane, site);
    }
    return targets.map((block) => ({
      range: inBlock(block, range),
      barrier: { ...barrier, range: inBlock(block, barrier.range) },
    }));
  };
}

/**
 * Copies into shared memory: `write` does it, for each destination; then the barriers count the bytes. While accesses are
 * checked, `write` runs late: when a thread has waited for the barrier.
 */
export type CopyInto = (
  destinations: readonly Destination[],
  bytes: number,
  lane: number,
  write: (range: SharedRange) => void,
  /** Bytes that the copy spans, if that is more than it copies. */
  extent?: number,
) => void;

/** Makes the function that copies into shared memory. */
export function copier(
  context: HandlerContext,
  effect: "writes" | "combines",
  time: "late" | "at once" = "late",
): CopyInto {
  const { machine, site } = context;
  const watch = watchFor(context);
  const at = (lane: number): { site: Site; lane: number } => ({ site, lane });
  return (destinations, bytes, lane, write, extent = bytes) => {
    if (!machine.checks) {
      for (const { range } of destinations) write(range);
      for (const { barrier } of destinations) completeBytes(barrier, bytes);
      return;
    }
    const { order } = accessOf(machine);
    const copy = pendingCopy(effect, site, order, "a wait on its mbarrier");
    announceSync(machine, { kind: "copy begins", copy, lanes: 1 << lane });
    for (const { range } of destinations) {
      watch.shared(range, extent, effect, lane);
      if (effect === "combines") checkProxy(machine, range.block, range.offset, extent, at(lane));
      else noteAsyncWrite(range.block, range.offset, extent);
      if (bytes > 0) markPending(range.block, range.location, extent, copy, machine.warp, lane);
    }
    noteBulk(machine, copy, lane);
    for (const { barrier, range } of destinations) {
      checkProxy(machine, barrier.range.block, barrier.range.offset, OBJECT_BYTES, at(lane));
      if (time === "at once") write(range);
      completeBytes(barrier, bytes, {
        copy,
        move: () => {
          if (time === "late") write(range);
        },
      });
    }
  };
}

/** Reads the source of copies out of the block's shared memory; what is there must stay until a wait for the group. */
export interface SharedSource {
  /** Where a lane's bytes are. */
  find(w: number, lane: number, bytes: number): SharedRange;
  /** Copies them by `move`; while accesses are checked late: when the lane waits for the group. */
  send(range: SharedRange, bytes: number, lane: number, move: () => void): void;
}

/** The source that an operand names. */
export function sharedSource(
  match: Match,
  context: HandlerContext,
  name: string,
  align: number,
): SharedSource {
  const { machine, site } = context;
  const from = context.address(operandOf(match, name));
  const demand = { what: "source", generic: false, cluster: false, align };
  const watch = watchFor(context);
  return {
    find(w, lane, bytes): SharedRange {
      const address = addressAt(machine, w, from, lane);
      const range = sharedRange(machine, address, bytes, demand, lane, site);
      watch.shared(range, bytes, "reads", lane);
      if (machine.checks) checkProxy(machine, range.block, range.offset, bytes, { site, lane });
      return range;
    },
    send({ block, location }, bytes, lane, move): void {
      if (!machine.checks || bytes === 0) return move();
      const copy = openCopy(store, context, lane, "reads", "cp.async.bulk.wait_group");
      markPending(block, location, bytes, copy, machine.warp, lane);
      copy.late.push(move);
      noteOutgoing(machine.block, copy);
    },
  };
}

/** The size operand of a bulk copy. */
function bulkSize(
  match: Match,
  context: HandlerContext,
): (w: number, lane: number) => number {
  const { machine, site } = context;
  const row = context.row(operandOf(match, "n"), "u32");
  return (w, lane) => {
    const bytes = wordAt(machine, w, row, lane);
    if (bytes % BULK_ALIGN === 0) return bytes;
    throw new Fault("misaligned", `size ${bytes} is not a multiple of ${BULK_ALIGN}`, lane, site);
  };
}

/** What a bulk instruction does with bytes of memory, at locations. */
export type Move = (to: number, from: number, bytes: number) => void;

/** A handler of transfers from the block's shared memory to global memory. */
export function outgoing(
  match: Match,
  context: HandlerContext,
  effect: "writes" | "combines",
  move: Move,
): WarpFunction {
  const { machine, site } = context;
  const size = bulkSize(match, context);
  const source = sharedSource(match, context, "a", BULK_ALIGN);
  const to = context.address(operandOf(match, "x"));
  const demand = { what: "destination", align: BULK_ALIGN };
  const watch = watchFor(context);
  const traffic = bulkTraffic(context);
  return (w, mask) =>
    eachLane(mask, (lane) => {
      const bytes = size(w, lane);
      const from = source.find(w, lane, bytes);
      const address = addressAt(machine, w, to, lane);
      const location = globalLocation(machine, address, bytes, demand, lane, site);
      watch.global(location, bytes, effect, lane);
      traffic.piece(location, bytes);
      traffic.end();
      source.send(from, bytes, lane, () => move(location, from.location, bytes));
    });
}

/** A handler of transfers from the block's shared memory to that of a block of the cluster. */
export function crossing(
  match: Match,
  context: HandlerContext,
  effect: "writes" | "combines",
  move: Move,
): WarpFunction {
  const size = bulkSize(match, context);
  const source = sharedSource(match, context, "a", BULK_ALIGN);
  const targets = destinations(match, context, BULK_ALIGN);
  const copy = copier(context, effect);
  return (w, mask) =>
    eachLane(mask, (lane) => {
      const bytes = size(w, lane);
      const from = source.find(w, lane, bytes);
      copy(targets(w, lane, bytes), bytes, lane, (to) => move(to.location, from.location, bytes));
    });
}

/** A handler of copies from global memory. */
function incoming(match: Match, context: HandlerContext, move: Move): WarpFunction {
  const { machine, site } = context;
  const size = bulkSize(match, context);
  const from = context.address(operandOf(match, "a"));
  const targets = destinations(match, context, BULK_ALIGN);
  const copy = copier(context, "writes");
  const demand = { what: "source", align: BULK_ALIGN };
  const watch = watchFor(context);
  const traffic = bulkTraffic(context);
  return (w, mask) =>
    eachLane(mask, (lane) => {
      const bytes = size(w, lane);
      const address = addressAt(machine, w, from, lane);
      const location = globalLocation(machine, address, bytes, demand, lane, site);
      watch.global(location, bytes, "reads", lane);
      traffic.piece(location, bytes);
      traffic.end();
      copy(targets(w, lane, bytes), bytes, lane, (to) => move(to.location, location, bytes));
    });
}

const copy: Handler = (match, context) => {
  const { machine } = context;
  const move: Move = (to, from, bytes) => machine.views.u8.copyWithin(to, from, from + bytes);
  if (match.bound.has("bulk_group")) return outgoing(match, context, "writes", move);
  if (!match.bound.has("global")) return crossing(match, context, "writes", move);
  return incoming(match, context, move);
};

const prefetch: Handler = (match, context) => {
  const { machine, site } = context;
  const size = bulkSize(match, context);
  const from = context.address(operandOf(match, "a"));
  const demand = { what: "source", align: BULK_ALIGN };
  return (w, mask) =>
    eachLane(mask, (lane) => {
      const address = addressAt(machine, w, from, lane);
      globalLocation(machine, address, size(w, lane), demand, lane, site);
    });
};

export const BULK: Readonly<Record<string, Handler>> = {
  "cp.async.bulk": copy,
  "cp.async.bulk.prefetch": prefetch,
  "cp.async.bulk.commit_group": commitHandler(store),
  // With `.read` only reading must be over, which is all that is kept of bulk groups.
  "cp.async.bulk.wait_group": waitHandler(store),
};
