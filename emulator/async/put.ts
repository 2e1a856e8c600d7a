/**
 * Handlers of st.async and red.async: values of registers that go to shared memory of the cluster (PTX ISA 9.0,
 * 9.7.9.12).
 */
import type { Match } from "../../compiler/ptx/match.ts";
import { TYPES } from "../../compiler/ptx/types.ts";
import { bug } from "../../compiler/support/bug.ts";
import { Fault } from "../fault.ts";
import type { Handler, HandlerContext, WarpFunction } from "../machine.ts";
import { copier } from "./bulk.ts";
import { combiner } from "./combine.ts";
import { barrierOperand } from "./mbarrier.ts";
import { addressAt, eachLane, operandOf, sharedRange } from "./reach.ts";
import { REDUCED_TYPES, reductionOf, typeOf } from "./reduce.ts";

/** Refuses the forms that go to global memory. */
function checkForm({ opcode, bound }: Match, { site }: HandlerContext): void {
  if (bound.has("mbarrier::complete_tx::bytes")) return;
  throw new Fault("unsupported instruction", `${opcode} to global memory`, undefined, site);
}

/** Moves a value from a register's location to its own. */
type Put = (to: number, from: number) => void;

function putting(
  match: Match,
  context: HandlerContext,
  effect: "writes" | "combines",
  put: Put,
): WarpFunction {
  const { machine, site } = context;
  const type = typeOf(match);
  const size = TYPES[type].bits / 8;
  const rows = context.rows(operandOf(match, "b"), type);
  const bytes = rows.length * size;
  const named = match.bound.has("shared::cluster");
  const to = context.address(operandOf(match, "a"));
  const barrierOf = barrierOperand(match, context, "x", named ? "shared::cluster" : "generic");
  const generic = !named && to.symbol === undefined;
  const demand = { what: "destination", generic, cluster: true, align: bytes };
  // The registers may hold something else when a thread waits.
  const copy = copier(context, effect, "at once");
  return (w, mask) =>
    eachLane(mask, (lane) => {
      const range = sharedRange(
        machine,
        addressAt(machine, w, to, lane),
        bytes,
        demand,
        lane,
        site,
      );
      copy([{ range, barrier: barrierOf(w, lane) }], bytes, lane, ({ location }) => {
        rows.forEach((row, i) => put(location + i * size, w + row + lane * size));
      });
    });
}

const store: Handler = (match, context) => {
  checkForm(match, context);
  const size = TYPES[typeOf(match)].bits / 8;
  return putting(match, context, "writes", (to, from) => {
    context.machine.views.u8.copyWithin(to, from, from + size);
  });
};

const reduce: Handler = (match, context) => {
  checkForm(match, context);
  const reduction = reductionOf(match);
  const type = REDUCED_TYPES[typeOf(match)] ?? bug(`type of ${match.opcode}`);
  const combine = combiner(reduction, type) ?? bug(`${match.opcode}.${reduction}.${type}`);
  return putting(match, context, "combines", (to, from) => combine(context.machine, to, from));
};

export const PUT: Readonly<Record<string, Handler>> = { "st.async": store, "red.async": reduce };
