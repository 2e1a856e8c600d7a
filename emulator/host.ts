/** A machine in one thread of the host: what runs there, and how far it got. */
import type { Meters } from "./compile/mod.ts";
import type { EarlyStop } from "./compile/program.ts";
import type { Machine } from "./machine.ts";
import { viewsOf } from "./memory.ts";
import { idleWarp } from "./schedule/idle.ts";

/** After so many instructions that may wait for others, others get their turn. */
const MANY_POLLS = 64;
const NOT_EARLY: EarlyStop = { kind: undefined, left: 0 };

/** A machine and its meters. */
export interface Host {
  readonly machine: Machine;
  readonly meters: Meters;
}

/** A machine on a memory, which it may share with those of other threads. */
export function newHost(memory: WebAssembly.Memory): Host {
  const fuel = new WebAssembly.Global({ value: "i32", mutable: true }, 0);
  const stoppedAt = new WebAssembly.Global({ value: "i32", mutable: true }, 0);
  let early: EarlyStop = NOT_EARLY;
  const stop = (kind: "yielded" | "polled"): void => {
    early = { kind, left: early.left + Math.max(0, fuel.value) };
    fuel.value = 0;
  };
  let polls = 0;
  const meters: Meters = {
    fuel,
    stoppedAt,
    poll: () => {
      if (++polls % MANY_POLLS === 0) stop("polled");
    },
    takeStop: () => {
      const taken = early;
      early = NOT_EARLY;
      return taken;
    },
  };
  const idle = idleWarp();
  const machine: Machine = {
    memory,
    views: viewsOf(memory),
    warp: idle,
    block: idle.block,
    checks: false,
    profile: false,
    yield: () => stop("yielded"),
  };
  return { machine, meters };
}
