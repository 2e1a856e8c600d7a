/** Handlers of mbarrier.*: arrivals, announced bytes, and waits (PTX ISA 9.0, 9.7.13.15). */
import type { Match } from "../../compiler/ptx/match.ts";
import { Fault } from "../fault.ts";
import type { Handler, HandlerContext } from "../machine.ts";
import {
  arriveAtBarrier,
  type BarrierUse,
  completeBytes,
  expectBytes,
  initBarrier,
  invalidateBarrier,
  isDelayed,
  isPhaseOver,
  OBJECT_BYTES,
  seePhaseEnd,
  tokenParity,
  tokenPending,
} from "./barrier.ts";
import { addressAt, eachLane, findOperand, operandOf, sharedRange, wordAt } from "./reach.ts";

/** What finds the barrier that operand `name` names for a lane; of another block too with `.shared::cluster`. */
export function barrierOperand(
  match: Match,
  context: HandlerContext,
  name: string,
  space: "shared::cta" | "shared::cluster" | "generic",
): (w: number, lane: number) => BarrierUse {
  const { machine, site } = context;
  const ref = context.address(operandOf(match, name));
  const cluster = space !== "shared::cta";
  const generic = space === "generic" && ref.symbol === undefined;
  const demand = { what: "mbarrier", generic, cluster, align: OBJECT_BYTES };
  return (w, lane) => {
    const address = addressAt(machine, w, ref, lane);
    const range = sharedRange(machine, address, OBJECT_BYTES, demand, lane, site);
    return { machine, range, lane, site };
  };
}

/** The space that the modifiers of an mbarrier instruction name. */
function spaceOf(match: Match): "shared::cta" | "shared::cluster" | "generic" {
  const named = match.bound.get("SHARED") ?? match.bound.get("CTASPACE") ??
    match.bound.get("shared::cluster");
  if (named === undefined) return "generic";
  return named === "shared::cluster" ? named : "shared::cta";
}

/** An instruction that does something to the barrier at `a` with the count `n`. */
function counting(act: (use: BarrierUse, count: number) => void): Handler {
  return (match, context) => {
    const { machine } = context;
    const barrier = barrierOperand(match, context, "a", spaceOf(match));
    const count = findOperand(match, "n");
    const row = count === undefined ? undefined : context.row(count, "u32");
    return (w, mask) =>
      eachLane(mask, (lane) => {
        act(barrier(w, lane), row === undefined ? 1 : wordAt(machine, w, row, lane));
      });
  };
}

function arriving(drop: boolean): Handler {
  return (match, context) => {
    const { machine } = context;
    const barrier = barrierOperand(match, context, "a", spaceOf(match));
    const token = findOperand(match, "d");
    const tokenRow = token === undefined ? undefined : context.row(token, "b64");
    const number = findOperand(match, "n");
    const numberRow = number === undefined ? undefined : context.row(number, "u32");
    const announces = match.bound.has("expect_tx");
    const noComplete = match.bound.has("noComplete");
    return (w, mask) =>
      eachLane(mask, (lane) => {
        const use = barrier(w, lane);
        const value = numberRow === undefined ? 1 : wordAt(machine, w, numberRow, lane);
        if (announces) expectBytes(use, value);
        const count = announces ? 1 : value;
        const [low, high] = arriveAtBarrier(use, { count, drop, noComplete });
        if (tokenRow === undefined) return;
        const at = ((w + tokenRow) >>> 2) + 2 * lane;
        machine.views.u32[at] = low;
        machine.views.u32[at + 1] = high;
      });
  };
}

/** test_wait and try_wait: both answer at once; a loop around them lets others run. */
const waiting: Handler = (match, context) => {
  const { machine, site } = context;
  const barrier = barrierOperand(match, context, "a", spaceOf(match));
  const byParity = match.bound.has("parity");
  const stateRow = context.row(operandOf(match, "s"), byParity ? "u32" : "b64");
  const answer = context.predicate(operandOf(match, "d")).row;
  return (w, mask) => {
    let over = 0;
    const ended = new Map<number, { readonly use: BarrierUse; lanes: number }>();
    eachLane(mask, (lane) => {
      const parity = byParity ? wordAt(machine, w, stateRow, lane) : tokenParity(
        wordAt(machine, w, stateRow, 2 * lane),
        wordAt(machine, w, stateRow, 2 * lane + 1),
      );
      if (parity === undefined) {
        throw new Fault("barrier misuse", "the state is no token of an arrival", lane, site);
      }
      if (parity > 1) {
        throw new Fault("barrier misuse", `parity ${parity} is neither 0 nor 1`, lane, site);
      }
      const use = barrier(w, lane);
      if (!isPhaseOver(use, parity)) return;
      over |= 1 << lane;
      const known = ended.get(use.range.location);
      if (known === undefined) ended.set(use.range.location, { use, lanes: 1 << lane });
      else known.lanes |= 1 << lane;
    });
    for (const { use, lanes } of ended.values()) {
      if (isDelayed(use)) over &= ~lanes;
      else seePhaseEnd(use, lanes);
    }
    const at = (w + answer) >>> 2;
    machine.views.i32[at] = ((machine.views.i32[at] ?? 0) & ~mask) | over;
    if (over !== mask) machine.yield();
  };
};

const pendingCount: Handler = (match, context) => {
  const { machine, site } = context;
  const result = context.row(operandOf(match, "d"), "u32");
  const token = context.row(operandOf(match, "a"), "b64");
  return (w, mask) =>
    eachLane(mask, (lane) => {
      const pending = tokenPending(
        wordAt(machine, w, token, 2 * lane),
        wordAt(machine, w, token, 2 * lane + 1),
      );
      if (pending === undefined) {
        throw new Fault("barrier misuse", "the state is no token of an arrival", lane, site);
      }
      machine.views.u32[((w + result) >>> 2) + lane] = pending;
    });
};

export const MBARRIER: Readonly<Record<string, Handler>> = {
  "mbarrier.init": counting(initBarrier),
  "mbarrier.inval": counting(invalidateBarrier),
  "mbarrier.expect_tx": counting(expectBytes),
  "mbarrier.complete_tx": counting((use, bytes) => completeBytes(use, bytes)),
  "mbarrier.arrive": arriving(false),
  "mbarrier.arrive_drop": arriving(true),
  "mbarrier.test_wait": waiting,
  "mbarrier.try_wait": waiting,
  "mbarrier.pending_count": pendingCount,
};
