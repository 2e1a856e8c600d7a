/** The context that is current: one for the whole thread. */
import type { CudaCalls } from "./calls.ts";

/** Whichever driver set it: programs with several GPUs have a driver for each. */
const thread = { current: 0n };

/** What is current now. */
export const currentContext = (): bigint => thread.current;

/** Makes a context current unless it is. */
export function makeCurrent(calls: CudaCalls, context: bigint): void {
  if (thread.current === context) return;
  calls.check(calls.cu.cuCtxSetCurrent(context), "cuCtxSetCurrent");
  thread.current = context;
}

/** The next context is set even if it has the address of the last. */
export function forgetContext(): void {
  thread.current = 0n;
}
