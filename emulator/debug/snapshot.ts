/** What a launch may change, kept so that it can run again. */
import type { Heap } from "../heap.ts";
import type { Machine } from "../machine.ts";

/** Copies all live device memory; the result puts it back. */
export function snapshot(machine: Machine, heap: Heap): () => void {
  const kept = heap.allocations().all().filter(({ freed }) => !freed)
    .map(({ location, bytes }) => ({
      location,
      contents: machine.views.u8.slice(location, location + bytes),
    }));
  return () => {
    for (const { location, contents } of kept) machine.views.u8.set(contents, location);
  };
}
