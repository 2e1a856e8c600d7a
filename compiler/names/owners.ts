/** Which threads hold which elements of a tile: a layout the other way round. */
import { elementAt, layoutKey, type LinearLayout, product } from "../linear/linear.ts";

/** A register of a thread as a number: of the warp, the lane and the register index, the last one minor. */
export type Owner = number;

const LANES = 32;

/** Taken apart; `registers` is how many of the tile a thread has. */
export const warpOf = (owner: Owner, registers: number): number =>
  Math.floor(owner / (LANES * registers));
export const laneOf = (owner: Owner, registers: number): number =>
  Math.floor(owner / registers) % LANES;

export class Owners {
  readonly #known = new Map<string, readonly (readonly Owner[])[]>();

  /** By element, the lowest warp first. */
  of(layout: LinearLayout): readonly (readonly Owner[])[] {
    const key = layoutKey(layout);
    let found = this.#known.get(key);
    if (found === undefined) this.#known.set(key, found = ownersIn(layout));
    return found;
  }
}

function ownersIn(layout: LinearLayout): readonly (readonly Owner[])[] {
  const owners: Owner[][] = Array.from({ length: product(layout.shape) }, () => []);
  const registers = 1 << layout.register.length;
  const threads = LANES << layout.warp.length;
  for (let thread = 0; thread < threads; thread++) {
    const [warp, lane] = [Math.floor(thread / LANES), thread % LANES];
    for (let register = 0; register < registers; register++) {
      owners[elementAt(layout, register, lane, warp)]?.push(thread * registers + register);
    }
  }
  return owners;
}
