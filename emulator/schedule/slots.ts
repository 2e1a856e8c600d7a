/** Memory for clusters that run, kept between launches of the same shape. */
import type { Program } from "../compile/program.ts";
import type { Machine } from "../machine.ts";
import type { Slot } from "./grid.ts";
import { makeSlot, poisonShared, SLOT_ALIGN, slotShape } from "./slot.ts";
import type { LaunchFacts } from "./specials.ts";

/** Clusters that may run at the same time; more would only wait longer. */
const MOST = 256;

type Allocate = (bytes: number, align: number) => number;

/** Slots of one launch. */
export interface Slots {
  acquire(): Slot | undefined;
  release(slot: Slot): void;
}

interface Kept {
  readonly key: string;
  readonly all: Slot[];
  readonly free: Slot[];
}

/** The slots of one kernel. */
export class SlotPool {
  readonly #machine: Machine;
  readonly #allocate: Allocate;
  readonly #give: (location: number) => void;
  #kept: Kept | undefined;
  #program: Program | undefined;

  constructor(machine: Machine, allocate: Allocate, give: (location: number) => void) {
    this.#machine = machine;
    this.#allocate = allocate;
    this.#give = give;
  }

  /** Slots for a launch; those of the launch before are reused if they fit. */
  for(program: Program, launch: LaunchFacts, localBytes: number): Slots {
    const shape = slotShape(launch, program.layout.bytes, localBytes);
    const key = JSON.stringify(shape);
    if (this.#kept?.key !== key || this.#program !== program) {
      this.reset();
      this.#kept = { key, all: [], free: [] };
      this.#program = program;
    }
    const kept = this.#kept;
    const make = (): Slot => {
      const start = this.#allocate(shape.bytes, SLOT_ALIGN);
      const slot = makeSlot(this.#machine.views.u8, start, shape, program.layout);
      kept.all.push(slot);
      return slot;
    };
    return {
      acquire: () => {
        const slot = kept.free.pop() ?? (kept.all.length < MOST ? make() : undefined);
        if (slot !== undefined) poisonShared(this.#machine.views.u8, slot, shape);
        return slot;
      },
      release: (slot) => {
        kept.free.push(slot);
      },
    };
  }

  /** Gives all memory back, also that of clusters that did not come to an end. */
  reset(): void {
    for (const { registerFiles } of this.#kept?.all ?? []) this.#give(registerFiles);
    this.#kept = undefined;
    this.#program = undefined;
  }
}
