/** shfl: values of other lanes (PTX ISA 9.0, 9.7.9.5 and 9.7.9.6). */
import type { Match } from "../../compiler/ptx/match.ts";
import { LANES } from "../register_file.ts";
import type { HandlerContext, WarpFunction } from "../machine.ts";
import { modifiersOf, scalarDestinations, scalarSources } from "../lanes/shape.ts";
import { carryAbsent } from "../shadow/memory.ts";

/** Where a lane reads from, before it is known whether that is in range. */
type SourceLane = (lane: number, b: number, segment: number) => number;

const SOURCE_LANE: Readonly<Record<string, SourceLane>> = {
  up: (lane, b) => lane - b,
  down: (lane, b) => lane + b,
  bfly: (lane, b) => lane ^ b,
  idx: (lane, b, segment) => (lane & segment) | (b & ~segment),
};

/**
 * Lanes whose source is out of range keep their own value. Where the source takes no part the ISA leaves the result
 * open: it is undefined, and 0 as on an H200.
 */
export function shuffle(match: Match, context: HandlerContext): WarpFunction {
  const modifiers = modifiersOf(match);
  const mode = ["up", "down", "bfly", "idx"].find((name) => modifiers.has(name)) ?? "idx";
  const sourceLane: SourceLane = SOURCE_LANE[mode] ?? ((lane) => lane);
  const [a = 0, b = 0, c = 0] = scalarSources(match)
    .map(({ operand, type }) => context.row(operand, type));
  const destinations = scalarDestinations(match);
  const [d = 0, p] = destinations.map(({ operand, type }) => context.row(operand, type));
  const { machine } = context;
  const [target] = destinations;
  const shadow = target === undefined || !machine.checks
    ? undefined
    : context.shadow(target.operand);
  const absent = shadow === undefined ? undefined : carryAbsent(context, shadow);
  const values = new Uint32Array(LANES);
  return (w, mask) => {
    const { i32, u32 } = machine.views;
    const at = (row: number): number => (w + row) >>> 2;
    values.set(u32.subarray(at(a), at(a) + LANES));
    let inRange = 0;
    let lost = 0;
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      const control = i32[at(c) + lane] ?? 0;
      const segment = (control >>> 8) & 31;
      const limit = (lane & segment) | (control & 31 & ~segment);
      const source = sourceLane(lane, (i32[at(b) + lane] ?? 0) & 31, segment);
      const within = mode === "up" ? source >= limit : source <= limit;
      if (within) inRange |= 1 << lane;
      const from = within ? source : lane;
      const isHere = ((mask >>> from) & 1) === 1;
      u32[at(d) + lane] = isHere ? values[from] ?? 0 : 0;
      if (!isHere) lost |= 1 << lane;
    }
    if (lost !== 0) absent?.(w, lost);
    if (p !== undefined) i32[at(p)] = ((i32[at(p)] ?? 0) & ~mask) | inRange;
  };
}
