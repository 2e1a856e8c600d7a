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

/** By spelling, what forms with so many operands ask for: forms of different versions differ in nothing else. */
const formVersions = perSpelling(() => new Map<number, number>());

function formVersion(instruction: Instruction): number {
  const known = formVersions(instruction);
  const count = instruction.operands.length;
  let version = known.get(count);
  if (version === undefined) {
    const match = matchInstruction(instruction);
    known.set(count, version = typeof match === "string" ? 0 : match.since.ptx);
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
  for (const item of kernel.body) {
    if (item.kind === "instruction") {
      version = Math.max(version, specialVersion(item), formVersion(item));
    }
  }
  return version;
}
