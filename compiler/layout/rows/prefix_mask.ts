/** Masks of rows that are set up to some element of each row, and from there on not. */
import type { Value } from "../../ir/func.ts";
import { madeBy, operandsOf } from "../../ir/op.ts";
import { hasTrait } from "../../ir/table.ts";
import type { AxisFacts } from "../../tile/axis.ts";

/** What such a mask is made of. */
export interface MaskTerms {
  /** Masks that are the same all along a row. */
  readonly rows: readonly Value[];
  /** A scalar: the index of an element is less. Absent: all elements of the tile. */
  readonly bound?: Value;
}

/** The terms of a mask whose rows lie along the last axis; undefined for other masks. */
export function maskTerms(mask: Value | undefined, axisInfo: AxisFacts): MaskTerms | undefined {
  if (mask === undefined) return { rows: [] };
  const { constancy } = axisInfo(mask);
  if ((constancy.at(-1) ?? 1) >= (mask.type.shape.at(-1) ?? 1)) return { rows: [mask] };
  const { def } = mask;
  if (def?.name === "broadcast") {
    const terms = maskTerms(operandsOf(def).value, axisInfo);
    // Rows of another shape would have to be broadcast too.
    return terms?.rows.length === 0 ? terms : undefined;
  }
  if (def?.name === "and") {
    const { left, right } = operandsOf(def);
    const [a, b] = [maskTerms(left, axisInfo), maskTerms(right, axisInfo)];
    if (a === undefined || b === undefined) return undefined;
    if (a.bound !== undefined && b.bound !== undefined) return undefined;
    return { rows: [...a.rows, ...b.rows], ...boundOf(a.bound ?? b.bound) };
  }
  const { left: index, right: limit } = def?.name === "lt"
    ? operandsOf(def)
    : def?.name === "gt"
    ? { left: operandsOf(def).right, right: operandsOf(def).left }
    : {};
  const bound = scalarOf(limit);
  return bound !== undefined && isIndex(index) && bound.type.element === "int32"
    ? { rows: [], bound }
    : undefined;
}

const boundOf = (bound: Value | undefined): Partial<MaskTerms> =>
  bound === undefined ? {} : { bound };

/** The scalar that a tile has everywhere. */
function scalarOf(value: Value | undefined): Value | undefined {
  const splat = madeBy(value, "splat");
  if (splat !== undefined) return operandsOf(splat).value;
  const broadcast = madeBy(value, "broadcast");
  return broadcast && scalarOf(operandsOf(broadcast).value);
}

/** Whether elements are their indices along the last axis. */
function isIndex(value: Value | undefined): boolean {
  const def = value?.def;
  if (def?.name === "range") return Number(def.attrs.lo) === 0;
  return def !== undefined && hasTrait(def, "reshapes") && def.name !== "permute" &&
    def.operands.every(isIndex) && value?.type.shape.at(-1) === def.operands[0]?.type.shape.at(-1);
}
