/** What computed operands are made of, loaded an iteration ahead: an iteration would wait for memory while no dot is under way. */
import { loopOf } from "../../ir/flow.ts";
import type { Func, Op, OpOf, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { sourcesFirst } from "../../ir/order.ts";
import { bytesOf } from "../../ir/types.ts";
import { registerCount } from "../../layout/tiles.ts";
import { loadIntoRegisters } from "../loads_ahead/in_registers.ts";
import { addressState } from "../pipeline/prefetch.ts";

/** Registers of a thread for what the next iteration's operand is made of. */
const MOST_AHEAD = 32;

/** The loads that an operand is made of, if threads have room for those of two iterations and copies need none of them. */
export function loadsAhead(
  loop: OpOf<"while">,
  made: Value,
  copied: readonly OpOf<"load">[],
): readonly OpOf<"load">[] {
  const { body } = loopOf(loop);
  const inBody = new Set(body.ops);
  const isOutside = ({ def }: Value): boolean => def === undefined || !inBody.has(def);
  const needed = new Set(
    copied.flatMap(({ operands }) => operands)
      .flatMap((value) => sourcesFirst(value, isOutside)).map(({ def }) => def),
  );
  const loads = sourcesFirst(made, isOutside).flatMap(({ def }) =>
    def?.name === "load" && resultOf(def).type.shape.length > 0 ? [def] : []
  );
  const words = loads.reduce((sum, load) => sum + registersOf(resultOf(load)), 0);
  return words <= MOST_AHEAD && loads.every((load) => !needed.has(load)) ? loads : [];
}

const registersOf = (value: Value): number =>
  registerCount(value) * bytesOf(value.type.element) / 4;

/** Lets a loop load what its dot's left operand is made of so, beside boxes; gives what comes before the loop. */
export function loadLeftAhead(func: Func, loop: OpOf<"while">, dot: OpOf<"dot">): readonly Op[] {
  const loads = loadsAhead(loop, operandsOf(dot).a, []);
  const carried = addressState(loop, loads.flatMap(({ operands }) => operands));
  if (loads.length === 0 || carried === undefined) return [];
  return loadIntoRegisters(func, { loop, loads, carried }).filter((op) => op !== loop);
}
