/** How results get to memory: the layouts of stores, and the exchanges before them. */
import type { AxisInfo } from "../tile/axis.ts";
import type { Op, OpOf, Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import type { AttrsOf } from "../ir/ops.ts";
import { bytesOf } from "../ir/types.ts";
import { type LinearLayout, sameLayout } from "../linear/linear.ts";
import { fitsShared, query, type Target } from "../targets.ts";
import { type CarriedData, isTile } from "./carried_data.ts";
import { planConversion, separateWarps } from "./conversion.ts";
import type { DotsOfFunction } from "./function_dots.ts";
import { reducedLayout } from "./reduce.ts";
import { holdsWords, rotatedBytes, type Rotation, rotationOf } from "./rows/rotate.ts";
import { sliceLayout } from "./slices.ts";
import { withWarpsOf } from "./beside/warp_local.ts";

/** Whether a layout is that of a dot's result, or of a slice of it. */
function isPartOf(result: LinearLayout, data: LinearLayout): boolean {
  if (result.shape.length !== data.shape.length) return false;
  const part = sameLayout(result, data) ? result : sliceLayout(result, data.shape);
  return part !== undefined && sameLayout(part, data);
}

/** What is known of the function whose stores these are. */
export interface StoredFunction {
  readonly target: Target;
  readonly numCtas: number;
  readonly axisInfo: (value: Value) => AxisInfo;
  /** Where accesses want their tiles. */
  readonly anchors: ReadonlyMap<Op, LinearLayout>;
  readonly dots: DotsOfFunction;
  readonly data: CarriedData;
  /** Exchanges follow each other (slice_results.ts). */
  readonly hasSlices: boolean;
  /** The layout in which a value is made. */
  readonly layoutOf: (value: Value) => LinearLayout;
}

/** Layouts of stores follow from those of their data. */
export class StoreLayouts {
  readonly #func: StoredFunction;

  constructor(func: StoredFunction) {
    this.#func = func;
  }

  /** The layout that a store takes from its data; undefined: that of the access. */
  layoutOf(op: OpOf<"store">): LinearLayout | undefined {
    return this.#ofRowsStore(op) ?? this.#ofDotStore(op);
  }

  /** How the rows of a store should be rotated; only where its data is exchanged through shared memory anyway. */
  rotationOf(op: OpOf<"store">): Rotation | undefined {
    const layout = this.#func.anchors.get(op);
    // A row may belong to several blocks.
    if (layout === undefined || this.#func.numCtas > 1) return undefined;
    const { value } = operandsOf(op);
    if (!this.#func.data.isData(value) || this.#ofRowsStore(op) !== undefined) return undefined;
    const bytes = bytesOf(value.type.element);
    const source = this.#func.layoutOf(value);
    if (planConversion(source, layout, bytes).kind !== "shared") return undefined;
    const rotation = rotationOf(op, layout, this.#func.axisInfo);
    if (rotation?.words === true && !holdsWords(source, rotation.axis, bytes)) return undefined;
    const fits = rotation !== undefined &&
      fitsShared(this.#func.target, rotatedBytes(layout.shape, rotation.axis, bytes));
    return fits ? rotation : undefined;
  }

  /**
   * For a store of one element for each row of a chained dot's result, as of sums of rows: the threads that have it store
   * it. An exchange would have the warps wait for each other.
   */
  #ofRowsStore(op: OpOf<"store">): LinearLayout | undefined {
    const { value } = operandsOf(op);
    if (value.type.shape.length !== 1 || !this.#func.data.isData(value)) return undefined;
    for (const dot of this.#func.dots.chained) {
      const rows = reducedLayout(this.#func.dots.of(dot).result, 1);
      if (rows.shape[0] !== value.type.shape[0]) continue;
      const data = this.#func.layoutOf(value);
      if (sameLayout(rows, data)) return data;
    }
    return undefined;
  }

  /** For a store of a dot's result, maybe after element-wise operations: the warps that have it store it. */
  #ofDotStore(op: OpOf<"store">): LinearLayout | undefined {
    const anchor = this.#func.anchors.get(op);
    const { value } = operandsOf(op);
    if (anchor === undefined || !isTile(value) || !this.#func.data.isData(value)) return undefined;
    const data = this.#func.layoutOf(value);
    const isOfDot = [...this.#func.dots.found].some(({ result }) => isPartOf(result, data));
    if (!isOfDot || this.rotationOf(op) !== undefined) return undefined;
    return withWarpsOf(anchor, data);
  }

  /** How a conversion of a value uses shared memory: whether it stores fragments as matrices, and apart for each warp. */
  exchangeOf(
    value: Value,
    layout: LinearLayout,
  ): Pick<AttrsOf<"convert_layout">, "matrices" | "by_warp"> {
    if (this.#func.numCtas > 1) return {};
    const bytes = bytesOf(value.type.element);
    const from = this.#func.layoutOf(value);
    const matrices = planConversion(from, layout, bytes, { matrices: "store" });
    const isStored = matrices.kind === "shared" && matrices.matrices !== undefined &&
      query(this.#func.target, ({ stmatrix }) => stmatrix);
    const plan = isStored ? matrices : planConversion(from, layout, bytes);
    const isByWarp = this.#func.hasSlices && plan.kind === "shared" &&
      separateWarps(plan, from, bytes) !== undefined;
    return { ...isStored ? { matrices: true } : {}, ...isByWarp ? { by_warp: true } : {} };
  }
}
