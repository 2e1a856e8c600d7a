/** Loops that each thread leaves by itself; the threads of a warp meet after them. */
import type { Operand, Register } from "../ptx/func.ts";
import type { Bank } from "./body_register.ts";
import { type Emitter, int } from "./emitter.ts";

/** A loop around one register. */
export interface ThreadLoop {
  readonly bank: Bank;
  /** Gives the register its first value; threads that do not enter go to `end`. */
  readonly enter: (state: Register, end: Operand) => void;
  /** Changes the register; the result says whether the thread goes on. */
  readonly iterate: (state: Register) => Register;
}

/** The register after the loop. */
export function threadLoop(e: Emitter, { bank, enter, iterate }: ThreadLoop): Register {
  const { items, built: { state, again } } = e.nestedWith("loop", () => {
    const state = e.register(bank);
    return { state, again: iterate(state) };
  });
  e.settle([state]);
  const [start, end] = [e.newLabel(), e.newLabel()];
  enter(state, { kind: "symbol", name: end });
  e.label(start);
  e.append(items);
  e.emit("bra", [{ kind: "symbol", name: start }], { register: again, negated: false });
  e.label(end);
  e.emit("bar.warp.sync", [int(0xffffffffn)]);
  return state;
}
