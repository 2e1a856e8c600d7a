/**
 * The lowest PTX version that a module needs: drivers take only versions up to their own, so the lowest one runs
 * on the most machines. Source: "Release Notes" and "PTX ISA Notes" of each instruction, PTX ISA 9.0.
 */
import type { Instruction, PtxKernel } from "./func.ts";

interface Feature {
  /** Matches the full spelling, e.g. `ld.global.L1::no_allocate.v4.b32`. */
  readonly pattern: RegExp;
  /** PTX version times ten. */
  readonly since: number;
}

const FEATURES: readonly Feature[] = [
  { pattern: /\.sync\b/, since: 60 },
  { pattern: /^cvt\.rn\.bf16/, since: 70 },
  { pattern: /\.L1::|\.L2::/, since: 74 },
];

function spelling(instruction: Instruction): string {
  return [instruction.opcode, ...instruction.modifiers].join(".");
}

/** Version times ten that the kernels need, at least `oldest` (what the target itself needs). */
export function requiredVersion(kernels: readonly PtxKernel[], oldest: number): number {
  let version = Math.max(60, oldest);
  const seen = new Set<string>();
  for (const kernel of kernels) {
    for (const item of kernel.body) {
      if (item.kind !== "instruction") continue;
      const text = spelling(item);
      if (seen.has(text)) continue;
      seen.add(text);
      for (const { pattern, since } of FEATURES) if (since > version && pattern.test(text)) version = since;
    }
  }
  return version;
}
