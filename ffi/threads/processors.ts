/** How many threads the processor runs at once, on Deno, Node and Bun. */
import { hostProcess } from "../runtime/builtin.ts";

/** The global object; Node has `navigator` from version 21 on. */
interface Host {
  readonly navigator?: { readonly hardwareConcurrency: number };
}

/** The number of threads that run at once; 1 where that is not known. */
export function processorThreads(): number {
  const { navigator }: Host = globalThis;
  return navigator?.hardwareConcurrency ??
    hostProcess()?.getBuiltinModule("node:os").availableParallelism() ?? 1;
}
