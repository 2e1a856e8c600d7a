/** How many threads the processor runs at once, on Deno, Node and Bun. */

/** The global object; Node has `navigator` from version 21 on. */
interface Host {
  readonly navigator?: { readonly hardwareConcurrency: number };
  readonly process?: { getBuiltinModule(name: "node:os"): typeof import("node:os") };
}

/** The number of threads that run at once; 1 where nobody tells. */
export function processorThreads(): number {
  const { navigator, process }: Host = globalThis;
  return navigator?.hardwareConcurrency ??
    process?.getBuiltinModule("node:os").availableParallelism() ?? 1;
}
