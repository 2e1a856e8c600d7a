/**
 * The lowest PTX version that kernels need: drivers take only versions up to their own, so the lowest one runs on
 * the most machines. It follows from the `since` columns of PTX_OPS and SPECIAL_REGISTERS.
 */
import type { Instruction, PtxKernel } from "./func.ts";
import { matchInstruction } from "./match.ts";
import { specialRegister } from "./special.ts";

/** What an instruction asks for by its special registers. */
function specialVersion(instruction: Instruction): number {
  return instruction.operands.reduce(
    (version, operand) =>
      Math.max(
        version,
        operand.kind === "special" ? specialRegister(operand.name)?.since?.ptx ?? 0 : 0,
      ),
    0,
  );
}

/**
 * Version times ten that the kernels need, at least `oldest` (what the target itself needs). Instructions that the
 * table does not have count for nothing here; the verifier reports them.
 */
export function requiredVersion(kernels: readonly PtxKernel[], oldest: number): number {
  let version = Math.max(60, oldest);
  const seen = new Set<string>();
  for (const kernel of kernels) {
    for (const item of kernel.body) {
      if (item.kind !== "instruction") continue;
      version = Math.max(version, specialVersion(item));
      const key = [item.opcode, ...item.modifiers, item.operands.length].join(".");
      if (seen.has(key)) continue;
      seen.add(key);
      const match = matchInstruction(item);
      if (typeof match !== "string") version = Math.max(version, match.since.ptx);
    }
  }
  return version;
}
