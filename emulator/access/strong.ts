/**
 * Moves that other workers of the host see whole: of volatile, relaxed and stronger accesses. Each element is moved
 * in one step, vectors are not (PTX ISA 9.0, 8.2.2 "Vector Data-types").
 */
import { LANES } from "../register_file.ts";
import { lockMemory, unlockMemory } from "./atomic_memory.ts";
import { type Element, loadMove, type Move, storeMove } from "./element.ts";

export function strongLoadMove(element: Element): Move {
  const plain = loadMove(element);
  const { row: { row, words }, bytes, at } = element;
  if (bytes === 4 && words === 1) {
    return ({ i32 }, locations, mask, w) => {
      const base = (w + row) >>> 2;
      for (let lane = 0; lane < LANES; lane++) {
        if (((mask >>> lane) & 1) === 0) continue;
        i32[base + lane] = Atomics.load(i32, ((locations[lane] ?? 0) + at) >>> 2);
      }
    };
  }
  if (bytes === 8 && words === 2) {
    return ({ i64 }, locations, mask, w) => {
      const base = (w + row) >>> 3;
      for (let lane = 0; lane < LANES; lane++) {
        if (((mask >>> lane) & 1) === 0) continue;
        i64[base + lane] = Atomics.load(i64, ((locations[lane] ?? 0) + at) >>> 3);
      }
    };
  }
  if (bytes < 16) return plain;
  return (views, locations, mask, w) => {
    lockMemory(views);
    plain(views, locations, mask, w);
    unlockMemory(views);
  };
}

export function strongStoreMove(element: Element): Move {
  const plain = storeMove(element);
  const { row: { row, words }, bytes, at } = element;
  if (bytes === 4) {
    return ({ i32 }, locations, mask, w) => {
      const base = (w + row) >>> 2;
      for (let lane = 0; lane < LANES; lane++) {
        if (((mask >>> lane) & 1) === 0) continue;
        Atomics.store(i32, ((locations[lane] ?? 0) + at) >>> 2, i32[base + lane * words] ?? 0);
      }
    };
  }
  if (bytes === 8 && words === 2) {
    return ({ i64 }, locations, mask, w) => {
      const base = (w + row) >>> 3;
      for (let lane = 0; lane < LANES; lane++) {
        if (((mask >>> lane) & 1) === 0) continue;
        Atomics.store(i64, ((locations[lane] ?? 0) + at) >>> 3, i64[base + lane] ?? 0n);
      }
    };
  }
  if (bytes < 16) return plain;
  return (views, locations, mask, w) => {
    lockMemory(views);
    plain(views, locations, mask, w);
    unlockMemory(views);
  };
}
