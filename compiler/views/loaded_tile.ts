/** What a load reads, as a sum of indices times strides. */
import type { AffineAnalysis } from "../contract/affine.ts";
import type { Observation } from "../contract/affine_rules.ts";
import { wholeElements } from "../contract/accesses.ts";
import type { Poly } from "../contract/poly.ts";
import type { OpOf, Value } from "../ir/func.ts";
import { constantOf, madeBy, operandsOf, resultOf } from "../ir/op.ts";
import { bytesOf, isPointer } from "../ir/types.ts";
import { type ScalarName, SCALARS } from "../support/scalar.ts";
import { noView } from "./no_view.ts";

export interface LoadedTile {
  /** A pointer parameter. */
  readonly param: Value;
  readonly element: ScalarName;
  readonly shape: readonly number[];
  /** The address, in elements. */
  readonly elements: Poly;
  readonly observed: readonly Observation[];
  readonly mask: Value | undefined;
}

export function loadedTile(load: OpOf<"load">, analysis: AffineAnalysis): LoadedTile {
  const { pointer, mask, other } = operandsOf(load);
  const { element } = resultOf(load).type;
  if (load.attrs.modifiers.length > 0) noView(`it is ${load.attrs.modifiers.join(", ")}`);
  if (!isZero(other)) noView("masked-off elements are not zero");
  const address = analysis.pointer(pointer);
  if (address === undefined) return noView("its address is not a sum of indices times strides");
  if (isPointer(element) || SCALARS[element].bits < 8) {
    return noView("its elements are not numbers");
  }
  const pointee = address.param.type.element;
  if (!isPointer(pointee) || pointee.pointee !== element) {
    return noView("its elements are not those of the parameter");
  }
  const elements = wholeElements(address.bytes, bytesOf(element));
  if (elements === undefined) return noView("its address is not a whole number of elements");
  const { shape } = pointer.type;
  return { param: address.param, element, shape, elements, observed: address.observed, mask };
}

function isZero(other: Value | undefined): boolean {
  if (other === undefined) return true;
  const splat = madeBy(other, "splat");
  const value = constantOf(splat === undefined ? other : operandsOf(splat).value);
  return value === 0n || Object.is(value, 0);
}
