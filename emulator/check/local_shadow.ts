/** The shadow of local memory: which of their bytes the threads of a warp have written. */
import { HEADER, LANES } from "../register_file.ts";
import type { Machine, WarpState } from "../machine.ts";
import type { WrittenBytes } from "./written.ts";

interface LocalShadow extends WrittenBytes {
  warp: WarpState;
}

/** Shadows that are kept; more locations than warps ever run at once are left from other launches. */
const MOST = 4096;

/** The shadows of warps, by the location of their register file: warps that follow each other there have the same. */
export class LocalShadows {
  readonly #shadows = new Map<number, LocalShadow>();
  #last: LocalShadow | undefined;

  clear(): void {
    this.#shadows.clear();
    this.#last = undefined;
  }

  /** The shadow of the warp that runs. */
  of(machine: Machine): WrittenBytes {
    const { warp } = machine;
    if (this.#last?.warp === warp) return this.#last;
    const laneBytes = machine.views.u32[(warp.registerFile + HEADER.localBytes) >>> 2] ?? 0;
    const words = (LANES * laneBytes + 3) >> 2;
    let shadow = this.#shadows.get(warp.registerFile);
    if (shadow?.written.length !== words) {
      if (this.#shadows.size >= MOST) this.clear();
      shadow = { written: new Uint8Array(words), warp };
      this.#shadows.set(warp.registerFile, shadow);
    } else if (shadow.warp !== warp) {
      shadow.written.fill(0);
      shadow.warp = warp;
    }
    this.#last = shadow;
    return shadow;
  }
}
