/**
 * The lowest PTX version that kernels need: drivers take only versions up to their own, so the lowest one runs on
 * the most machines. It follows from the `since` columns of PTX_OPS and SPECIAL_REGISTERS.
 */
import type { Instruction, PtxKernel } from "./func.ts";
import { matchInstruction } from "./match.ts";
import { perSpelling } from "./per_spelling.ts";
import { specialRegister } from "./special.ts";

/** The oldest version that we write, times ten. */
const OLDEST = 60;

/** What an instruction asks for by its special registers. */
function specialVersion({ operands }: Instruction): number {
  let version = 0;
  for (const operand of operands) {
    if (operand.kind !== "special") continue;
    version = Math.max(version, specialRegister(operand.name)?.since?.ptx ?? 0);
  }
  return version;
}

/** Version times ten that the kernels need, at least `oldest` (what the target itself needs). */
export function requiredVersion(kernels: readonly PtxKernel[], oldest: number): number {
  return Math.max(OLDEST, oldest, ...kernels.map(neededVersion));
}

/**
 * Version times ten that a kernel needs. Instructions that the table does not have count for nothing here; the
 * verifier reports them.
 */
export function neededVersion(kernel: PtxKernel): number {
  let version = OLDEST;
  /** By spelling: numbers of operands that have been looked at: forms of different versions differ in nothing else. */
  const countsSeen = perSpelling(() => new Set<number>());
  for (const item of kernel.body) {
    if (item.kind !== "instruction") continue;
    version = Math.max(version, specialVersion(item));
    const seen = countsSeen(item);
    if (seen.has(item.operands.length)) continue;
    seen.add(item.operands.length);
    const match = matchInstruction(item);
    if (typeof match !== "string") version = Math.max(version, match.since.ptx);
  }
  return version;
}
