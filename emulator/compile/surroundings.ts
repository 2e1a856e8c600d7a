/** What messages about an instruction say of its kernel and its module. */
import type { Operand, PtxKernel, PtxModule } from "../../compiler/ptx/func.ts";
import { isRecursive } from "../../compiler/ptx/inline.ts";
import type { Surroundings } from "../machine.ts";

/** Where a cooperative launch leaves the address of its barrier: cooperative groups read the two halves. */
const GRID_BARRIER: ReadonlySet<string> = new Set(["envreg1", "envreg2"]);

const readsGridBarrier = (operand: Operand): boolean =>
  operand.kind === "special" && GRID_BARRIER.has(operand.name);

export function surroundingsOf(kernel: PtxKernel, module: PtxModule): Surroundings {
  return {
    callee: (name) => {
      const fn = module.functions.find((each) => each.name === name);
      const isAlias = module.aliases?.some((alias) => alias.name === name) === true;
      if (fn === undefined && !isAlias) return "unknown";
      if (isRecursive(module, name)) return "recursive";
      return fn?.code === undefined && !isAlias ? "declared" : "expanded too often";
    },
    wantsGridBarrier: () =>
      kernel.body.some((item) =>
        item.kind === "instruction" && item.operands.some(readsGridBarrier)
      ),
    registers: () => {
      const valueOf = (directive: string): number | undefined =>
        kernel.directives.find(({ name }) => name === directive)?.values[0];
      return {
        most: valueOf("maxnreg"),
        blocks: valueOf("minnctapersm") ?? 1,
        isBlockSizeKnown: (valueOf("reqntid") ?? valueOf("maxntid")) !== undefined,
      };
    },
  };
}
