/**
 * Special registers that change while a thread runs: clocks. They count what the host's clock counts; while someone looks
 * on they count steps, so that the launch is the same each time.
 */
import { observedOf } from "../debug/observer.ts";
import type { WarpFunction } from "../machine.ts";
import type { Machine } from "../machine.ts";

const nowOf = (machine: Machine): number =>
  observedOf(machine)?.at.number ?? Math.round(performance.now() * 1e6);

/** Nanoseconds count as cycles. */
const CLOCKS: ReadonlyMap<string, { readonly wide: boolean; readonly high: boolean }> = new Map([
  ["clock", { wide: false, high: false }],
  ["clock_hi", { wide: false, high: true }],
  ["clock64", { wide: true, high: false }],
  ["globaltimer", { wide: true, high: false }],
  ["globaltimer_lo", { wide: false, high: false }],
  ["globaltimer_hi", { wide: false, high: true }],
]);

/** Reads a clock into a row; undefined if the register is none. */
export function clockRead(machine: Machine, name: string, row: number): WarpFunction | undefined {
  const facts = CLOCKS.get(name);
  if (facts === undefined) return undefined;
  return (w, mask) => {
    const { i32 } = machine.views;
    const now = nowOf(machine);
    const low = now | 0;
    const high = Math.floor(now / 2 ** 32) | 0;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = 31 - Math.clz32(m & -m);
      if (facts.wide) {
        i32[((w + row) >> 2) + 2 * lane] = low;
        i32[((w + row) >> 2) + 2 * lane + 1] = high;
      } else i32[((w + row) >> 2) + lane] = facts.high ? high : low;
    }
  };
}
