/** How narrow a kernel's accesses are: races are found between pieces of memory of that size. */
import type { Instruction, PtxKernel } from "../../compiler/ptx/func.ts";
import { matchInstruction } from "../../compiler/ptx/match.ts";
import { isTypeName, TYPES } from "../../compiler/ptx/types.ts";

const WIDEST = 16;

/** Bytes of the narrowest access to shared and to global memory; generic accesses may be either. */
export function narrowestAccesses(
  kernel: PtxKernel,
): { readonly shared: number; readonly global: number } {
  const narrowest = { shared: WIDEST, global: WIDEST };
  for (const item of kernel.body) {
    if (item.kind !== "instruction") continue;
    const { modifiers } = item;
    const spaces = new Set(modifiers.map((name) => name.split("::")[0]));
    if (spaces.has("param") || spaces.has("local") || spaces.has("const")) continue;
    if (!item.operands.some(({ kind }) => kind === "address")) continue;
    const bytes = Math.min(WIDEST, bytesOf(item));
    const isShared = spaces.has("shared");
    const isGlobal = spaces.has("global");
    if (isShared || !isGlobal) narrowest.shared = Math.min(narrowest.shared, bytes);
    if (isGlobal || !isShared) narrowest.global = Math.min(narrowest.global, bytes);
  }
  return narrowest;
}

/** Bytes that an instruction accesses at once; vectors are aligned as a whole. */
function bytesOf(instruction: Instruction): number {
  const match = matchInstruction(instruction);
  if (typeof match === "string" || isCopy(match.opcode)) return 4;
  const modifiers = [...match.bound.values()];
  const type = modifiers.findLast(isTypeName);
  if (type === undefined) return 4;
  const vector = modifiers.find((name) => /^v\d$/.test(name));
  return Math.max(1, TYPES[type].bits / 8) * Number(vector?.slice(1) ?? 1);
}

/** Copies and matrices go by four bytes or more. */
function isCopy(opcode: string): boolean {
  return /^(?:cp|ldmatrix|stmatrix|wmma|wgmma|mbarrier|st\.async)\b/.test(opcode);
}

/** Whether a kernel accesses shared memory through the asynchronous proxy (PTX ISA 9.0, 9.7.9.25.2). */
export function hasAsyncProxy(kernel: PtxKernel): boolean {
  return kernel.body.some((item) => {
    if (item.kind !== "instruction" || !/^(?:cp|wgmma)\b/.test(item.opcode)) return false;
    const match = matchInstruction(item);
    return typeof match !== "string" &&
      (match.opcode === "wgmma.mma_async" || /^cp\.(?:reduce\.)?async\.bulk/.test(match.opcode));
  });
}
