/** How narrow a kernel's accesses are: races are found between pieces of memory of that size. */
import type { PtxKernel } from "../../../compiler/ptx/func.ts";
import { matchInstruction } from "../../../compiler/ptx/match.ts";
import { isTypeName, TYPES } from "../../../compiler/ptx/types.ts";

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
    const match = matchInstruction(item);
    const types = typeof match === "string" ? [] : [...match.bound.values()].filter(isTypeName);
    const bytes = isCopy(item.opcode) || types.length === 0
      ? 4
      : Math.max(1, ...types.slice(-1).map((type) => TYPES[type].bits / 8));
    const isShared = spaces.has("shared");
    const isGlobal = spaces.has("global");
    if (isShared || !isGlobal) narrowest.shared = Math.min(narrowest.shared, bytes);
    if (isGlobal || !isShared) narrowest.global = Math.min(narrowest.global, bytes);
  }
  return narrowest;
}

/** Copies and matrices go by four bytes or more. */
function isCopy(opcode: string): boolean {
  return /^(?:cp|ldmatrix|stmatrix|wmma|wgmma|mbarrier|st\.async)\b/.test(opcode);
}
