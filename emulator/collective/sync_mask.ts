/** Which lanes an instruction waits for. */
import type { Operand } from "../../compiler/ptx/func.ts";
import type { Match } from "../../compiler/ptx/match.ts";

/** Instructions with a membermask, their last operand. */
const MASKED: ReadonlySet<string> = new Set([
  "shfl.sync",
  "vote.sync",
  "match",
  "redux.sync",
  "elect.sync",
  "bar.warp.sync",
]);

/**
 * The operand that names the lanes which carry out an instruction together; "all" where every lane that has not exited
 * must come (`.sync.aligned`); undefined where lanes need not meet. Barriers of blocks and clusters are not meant.
 */
export function syncMask(match: Match): Operand | "all" | undefined {
  if (MASKED.has(match.opcode)) return match.operands.at(-1)?.operand;
  if (/^bar(?:rier)?(?:\.|$)/.test(match.opcode)) return undefined;
  const words = [...match.opcode.split("."), ...match.modifiers];
  return words.includes("sync") && words.includes("aligned") ? "all" : undefined;
}
