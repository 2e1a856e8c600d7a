/** Handlers of cp.async without bulk: each thread copies 4, 8 or 16 bytes (PTX ISA 9.0, 9.7.9.25.3). */
import type { Match } from "../../compiler/ptx/match.ts";
import { accessOf } from "../access/state.ts";
import { release } from "../check/order.ts";
import { noteGenericWrite } from "../check/proxies.ts";
import { Fault } from "../fault.ts";
import type { Handler, HandlerContext } from "../machine.ts";
import { arriveAtBarrier, countCopies } from "./barrier.ts";
import {
  commitGroup,
  groupsOf,
  type GroupStore,
  openCopy,
  unfinished,
  waitGroups,
} from "./groups.ts";
import { watchGroups } from "./flights.ts";
import { commitHandler, waitHandler } from "./group_handlers.ts";
import { barrierOperand } from "./mbarrier.ts";
import { markPending } from "./pending.ts";
import { addressAt, eachLane, globalLocation, operandOf, sharedRange, wordAt } from "./reach.ts";
import { laneTraffic } from "./traffic.ts";
import { checksFor, orderBy } from "./watch.ts";

const store: GroupStore = new WeakMap();

/** Bytes that a lane reads; the rest are zeros. The operand is their number, or whether there are none. */
function sizeOperand(
  match: Match,
  context: HandlerContext,
  bytes: number,
): (w: number, lane: number) => number {
  const { machine } = context;
  const size = match.operands.find(({ name }) => name === "s");
  if (size === undefined) return () => bytes;
  if (size.type !== "pred") {
    const row = context.row(size.operand, "u32");
    return (w, lane) => wordAt(machine, w, row, lane);
  }
  const { row, invert } = context.predicate(size.operand);
  return (w, lane) => (((wordAt(machine, w, row, 0) ^ invert) >>> lane) & 1) === 0 ? bytes : 0;
}

const copy: Handler = (match, context) => {
  const { machine, site } = context;
  const to = context.address(operandOf(match, "x"));
  const from = context.address(operandOf(match, "a"));
  const bytes = Number(context.literal(operandOf(match, "n")));
  const sizeOf = sizeOperand(match, context, bytes);
  const toDemand = { what: "destination", generic: false, cluster: false, align: bytes };
  const fromDemand = { what: "source", align: bytes };
  const watch = checksFor(context);
  const traffic = laneTraffic(context);
  return (w, mask) => {
    traffic.begin();
    eachLane(mask, (lane) => {
      const range = sharedRange(
        machine,
        addressAt(machine, w, to, lane),
        bytes,
        toDemand,
        lane,
        site,
      );
      const read = sizeOf(w, lane);
      if (read > bytes) {
        const detail = `cp.async of ${bytes} bytes cannot read ${read}`;
        throw new Fault("illegal instruction", detail, lane, site);
      }
      const address = addressAt(machine, w, from, lane);
      const source = read === 0
        ? 0
        : globalLocation(machine, address, read, fromDemand, lane, site);
      if (read !== 0) watch.global(source, read, "reads", lane);
      watch.shared(range, bytes, "writes", lane);
      traffic.lane(lane, read === 0 ? undefined : source, range);
      const { u8 } = machine.views;
      u8.copyWithin(range.location, source, source + read);
      u8.fill(0, range.location + read, range.location + bytes);
      if (!machine.checks) return;
      const pending = openCopy(store, context, lane, "writes", "cp.async.wait_group");
      markPending(range.block, range.location, bytes, pending, machine.warp, lane);
      noteGenericWrite(machine, range.block, range.offset, bytes, lane);
    });
    if (machine.checks) {
      const groups = groupsOf(store, machine.warp);
      watchGroups(machine, (lane) => unfinished(groups, lane));
    }
    traffic.end(bytes);
  };
};

/** The same as a commit and a wait for all groups. */
const waitAll: Handler = (_match, { machine }) => (_w, mask) => {
  if (!machine.checks) return;
  const groups = groupsOf(store, machine.warp);
  const { now } = accessOf(machine).order;
  eachLane(mask, (lane) => {
    commitGroup(groups, lane, now);
    waitGroups(machine, groups, lane, 0);
  });
};

/**
 * Arrives when the copies so far are done, which they are. Without `.noinc` the barrier first expects one arrival
 * more in this phase, so that the counts stay as they are.
 */
const arrive: Handler = (match, context) => {
  const { machine } = context;
  const space = match.bound.has("SHARED") ? "shared::cta" : "generic";
  const barrier = barrierOperand(match, context, "a", space);
  const counts = match.bound.has("noinc");
  return (w, mask) =>
    eachLane(mask, (lane) => {
      const use = barrier(w, lane);
      const copies = machine.checks ? unfinished(groupsOf(store, machine.warp), lane) : [];
      countCopies(use, copies.map((copy) => ({ copy })));
      orderBy(machine, release);
      if (counts) arriveAtBarrier(use, { count: 1, drop: false, noComplete: false });
    });
};

export const COPY: Readonly<Record<string, Handler>> = {
  "cp.async": copy,
  "cp.async.commit_group": commitHandler(store),
  "cp.async.wait_group": waitHandler(store),
  "cp.async.wait_all": waitAll,
  "cp.async.mbarrier.arrive": arrive,
};
