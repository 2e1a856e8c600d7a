/** A load as a box of a tensor: the elements of a tile are those of the tensor from its origin on. */
import type { Poly } from "../contract/poly.ts";
import type { WindowsPlan } from "../options.ts";
import type { ContractExpr, Requirement } from "../contract/types.ts";
import type { Value } from "../ir/func.ts";
import type { ScalarName } from "../support/scalar.ts";

export interface TensorView {
  /** A pointer parameter: the address of element 0. */
  readonly param: Value;
  readonly element: ScalarName;
  /** One to five, innermost first; its stride is 1. */
  readonly axes: readonly ViewAxis[];
  /** Under which the tile is that box, and zero where the box is outside of the tensor. */
  readonly when: readonly Requirement[];
  /** Of windows: runs along axis 0 are zero where one of these is more than 0. */
  readonly gates?: readonly Poly[];
}

export interface ViewAxis {
  /** Elements from one to the next. */
  readonly stride: ContractExpr;
  readonly extent: ContractExpr;
  /** The axis of the tile that runs along it; undefined: the tile has one element of it. */
  readonly tile: number | undefined;
  /** The coordinate of the tile's first element, or of the first one of each run: never negative, and an int32. */
  readonly origin: Poly;
  /** Elements of the tile that follow each other in the tensor (run_starts.ts); undefined: all do. */
  readonly run?: number;
  /** Where windows begin along the axis; the origin is that of the tile's first one. */
  readonly windows?: WindowsPlan;
  /** Which element of its window each run along axis 0 has. */
  readonly offset?: Poly;
}
