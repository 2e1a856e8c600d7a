/** Instructions that change no value: fences, and hints for caches (PTX ISA 9.0, 9.7.9 and 9.7.13). */
import type { Match } from "../../compiler/ptx/match.ts";
import { acquire, fenceReleases } from "../check/order.ts";
import { fenceProxies } from "../check/proxies.ts";
import { LANES } from "../register_file.ts";
import type { HandlerContext, WarpFunction } from "../machine.ts";
import { elementRows, operandOf } from "./element.ts";
import { orderingOf } from "./spelling.ts";
import { accessOf } from "./state.ts";

/** The emulator has no caches. */
export function nothing(): WarpFunction {
  return () => {};
}

/** Memory is always up to date; what fences order is only remembered for the detection of races. */
export function fence(match: Match, context: HandlerContext): WarpFunction {
  const { machine } = context;
  const { order } = accessOf(machine);
  const { acquires, releases, scope } = orderingOf(match);
  const both = acquires === releases;
  const between = match.modifiers.includes("proxy") && match.modifiers.includes("async") &&
    !match.modifiers.includes("global");
  const initialised = match.modifiers.includes("mbarrier_init");
  return (_w, mask) => {
    if (!machine.checks) return;
    if (between) fenceProxies(machine, mask);
    else if (initialised) fenceProxies(machine, mask, "mbarrier");
    if (both || releases) fenceReleases(order, machine, scope);
    if (both || acquires) acquire(order, machine, scope);
  };
}

/** Cache policies are opaque and without effect here: one that means nothing. */
export function cachePolicy(match: Match, context: HandlerContext): WarpFunction {
  const { machine } = context;
  const rows = elementRows(context, operandOf(match, "d"));
  return (w, mask) => {
    const { u32 } = machine.views;
    for (const { row, words } of rows) {
      const base = (w + row) >>> 2;
      for (let lane = 0; lane < LANES; lane++) {
        if (((mask >>> lane) & 1) !== 0) {
          u32.fill(0, base + words * lane, base + words * (lane + 1));
        }
      }
    }
  };
}
