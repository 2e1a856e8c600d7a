/** Atomic changes of memory that workers of the host share. */
import { LOCK_LOCATION } from "../heap.ts";
import type { Views } from "../memory.ts";
import type { LongUpdate, Update } from "./atomic_ops.ts";

/** Changes a value of 16 or 32 bits; returns what was there. */
export function updateWord(
  view: Uint16Array | Uint32Array,
  index: number,
  by: number,
  update: Update,
): number {
  for (;;) {
    const old = Atomics.load(view, index);
    if (Atomics.compareExchange(view, index, old, update(old, by)) === old) return old;
  }
}

/** Changes a value of 64 bits; returns what was there. */
export function updateLong(
  view: BigUint64Array,
  index: number,
  by: bigint,
  update: LongUpdate,
): bigint {
  for (;;) {
    const old = Atomics.load(view, index);
    if (Atomics.compareExchange(view, index, old, update(old, by)) === old) return old;
  }
}

/** What the host cannot change in one step is changed under a lock that all workers share; it is held briefly. */
export function lockMemory({ i32 }: Views): void {
  while (Atomics.compareExchange(i32, LOCK_LOCATION >>> 2, 0, 1) !== 0);
}

export function unlockMemory({ i32 }: Views): void {
  Atomics.store(i32, LOCK_LOCATION >>> 2, 0);
}
