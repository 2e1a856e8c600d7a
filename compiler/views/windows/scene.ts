/** What all questions about a load that gathers windows start from. */
import type { Poly } from "../../contract/poly.ts";
import type { Bounds } from "../bounds.ts";
import type { Demands } from "../demands.ts";
import type { Known } from "../find_view.ts";
import type { LoadedTile } from "../loaded_tile.ts";
import type { Along, Digits } from "./along.ts";

/** The largest int32: copies take no larger coordinates. */
export const MOST: bigint = (1n << 31n) - 1n;

/** A load, and what is known and demanded of it. */
export interface Scene {
  readonly tile: LoadedTile;
  readonly pixels: Along;
  readonly windows: Digits;
  readonly columns: Along;
  readonly known: Known;
  readonly demands: Demands;
  readonly bounds: Bounds;
  /** Whether lanes where `poly > 0` are masked off. */
  readonly isMasked: (poly: Poly) => boolean;
}
