/** Which registers an instruction reads and writes. */
import type { Register } from "../../compiler/ptx/func.ts";
import { forEachRegister } from "../../compiler/ptx/operand.ts";
import type { Line } from "./lines.ts";

export interface Uses {
  readonly reads: readonly Register[];
  readonly writes: readonly Register[];
  /** Whether lanes that run the instruction have all that it writes afterwards, whatever was there before. */
  readonly kills: boolean;
}

/** What a line reads and writes; the guard is read. */
export function usesOf(line: Line): Uses {
  const { instruction, match } = line;
  const reads: Register[] = [];
  const writes: Register[] = [];
  const { guard } = instruction;
  if (guard !== undefined) reads.push(guard.register);
  if (typeof match === "string") return { reads, writes, kills: false };
  // What products of warp groups add to may be ignored, by an operand of theirs.
  const adds = match.opcode === "wgmma.mma_async";
  for (const { destination, operand } of match.operands) {
    forEachRegister(operand, (register) => (destination ? writes : reads).push(register));
  }
  return { reads, writes, kills: guard === undefined && !adds };
}
