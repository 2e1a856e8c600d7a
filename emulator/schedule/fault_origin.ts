/** Faults with the thread that they happened in. */
import { Fault, type FaultOrigin } from "../fault.ts";
import { LANES } from "../register_file.ts";
import type { Machine } from "../machine.ts";

/** A fault with the thread that it happened in. */
export function withOrigin(error: unknown, machine: Machine, kernel: string): unknown {
  const { block, warp } = machine;
  if (error instanceof WebAssembly.RuntimeError) {
    const fault = new Fault(
      "out of bounds",
      `${kernel} left the emulator's memory (${error.message}); run it with checks to see where`,
    );
    return withOrigin(fault, machine, kernel);
  }
  // Faults of workers have their origin already.
  if (!(error instanceof Fault) || error.origin !== undefined) return error;
  const { kind, detail, lane, site, hint } = error;
  const [x, y] = block.shape;
  const thread = LANES * warp.index + (lane ?? 0);
  const origin: FaultOrigin = {
    block: block.index,
    ...(lane === undefined
      ? {}
      : { thread: [thread % x, Math.floor(thread / x) % y, Math.floor(thread / (x * y))] }),
  };
  return new Fault(kind, detail, lane, site, origin, hint);
}
