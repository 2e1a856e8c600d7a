/** Instructions that do the same to each lane on its own. In: an instruction. Out: a function from bits to bits, and a loop over lanes. */
import type { Match } from "../../compiler/ptx/match.ts";
import { isTypeName, TYPES } from "../../compiler/ptx/types.ts";
import { floatOperation } from "../floats/mod.ts";
import type { LaneOperation } from "../machine.ts";
import { ARITHMETIC } from "./arithmetic.ts";
import { BIT_COUNT } from "./bit_count.ts";
import { BIT_FIELD } from "./bit_field.ts";
import { COMPARE } from "./compare.ts";
import { CONVERT } from "./convert.ts";
import { LOGIC } from "./logic.ts";
import { move } from "./move.ts";
import { SHIFT } from "./shift.ts";
import { VIDEO } from "./video.ts";
import { VIDEO_VECTOR } from "./video_vector.ts";

export { CARRY_HANDLERS } from "./carry.ts";
export { compileLanes, laneRows } from "./rows.ts";
export { type LaneSource, runLanes } from "./run.ts";

/** What floats have in these is bits that move, or comparisons. */
const SELECTIONS: Readonly<Record<string, (match: Match) => LaneOperation>> = {
  ...COMPARE,
  mov: move,
};

const INTEGERS: Readonly<Record<string, (match: Match) => LaneOperation>> = {
  ...ARITHMETIC,
  ...BIT_COUNT,
  ...BIT_FIELD,
  ...LOGIC,
  ...SHIFT,
  ...CONVERT,
  ...VIDEO,
  ...VIDEO_VECTOR,
};

/** Instructions of this folder; those on floats under the same names are made by `floatOperation`. */
export const LANE_OPCODES: readonly string[] = [
  ...Object.keys(SELECTIONS),
  ...Object.keys(INTEGERS),
];

const isFloat = (name: string): boolean => isTypeName(name) && TYPES[name].class === "float";

/** Whether a float type is among the modifiers or the operands of an instruction. */
function hasFloats(match: Match): boolean {
  return match.modifiers.some(isFloat) ||
    match.operands.some(({ type }) => isFloat(type));
}

/** What an instruction does to each lane; undefined if it is none that acts on lanes alone. */
export function laneOperation(match: Match): LaneOperation | undefined {
  const { opcode } = match;
  if (Object.hasOwn(SELECTIONS, opcode)) return SELECTIONS[opcode]?.(match);
  if (hasFloats(match)) return floatOperation(match);
  return Object.hasOwn(INTEGERS, opcode) ? INTEGERS[opcode]?.(match) : undefined;
}
