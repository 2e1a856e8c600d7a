/**
 * Pointer parameters seen as tensors: `X + rm[:, newaxis] * ldx + rn[newaxis, :]` under
 * `rm < M && rn < N` is a tensor of extents [M, N] and strides [ldx, 1]. In a loop over k `X + k + r` under `r < N - k` is
 * one of extent N.
 */
import { pointeeBytes } from "../ir/types.ts";
import type { Span } from "../support/source.ts";
import type { Value } from "../ir/func.ts";
import { type MemoryAccess, nameOf, wholeElements } from "./accesses.ts";
import { type Bound, type Group, groupOffset } from "./groups.ts";
import { extentOf } from "./interval.ts";
import { normalKey } from "./normal.ts";
import { constantOf, polyExpr } from "./poly.ts";
import type { ContractExpr } from "./types.ts";

/** One axis of a pointer parameter seen as a tensor. */
export interface InferredAxis {
  readonly stride: ContractExpr;
  /** Absent where no mask bounds the index. */
  readonly extent?: ContractExpr;
}

export interface InferredTensor {
  readonly param: string;
  readonly axes: readonly InferredAxis[];
  /** A load or store through it. */
  readonly span: Span;
}

/** The parameter as a tensor, if all its accesses see the same one. */
export function inferTensor(
  param: Value,
  accesses: readonly MemoryAccess[],
): InferredTensor | undefined {
  let found: InferredTensor | undefined;
  for (const access of accesses) {
    const axes = axesOf(param, access);
    if (axes === undefined || axes.length === 0) return undefined;
    if (found === undefined) found = { param: nameOf(param), axes, span: access.op.span };
    else if (keyOf(found.axes) !== keyOf(axes)) return undefined;
  }
  return found;
}

const keyOf = (axes: readonly InferredAxis[]): string =>
  axes.map(({ stride, extent }) =>
    `${normalKey(stride)}:${extent === undefined ? "" : normalKey(extent)}`
  ).join(";");

/** Axes of one access. An offset with a constant part does not start at the tensor's first element. */
function axesOf(param: Value, access: MemoryAccess): readonly InferredAxis[] | undefined {
  const bytes = pointeeBytes(param);
  const elements = wholeElements(access.bytes, bytes);
  const offset = elements && groupOffset(elements, access.bounds);
  if (offset === undefined || offset.rest.size > 0 || access.width !== bytes) return undefined;
  const groups = [...offset.groups].sort((a, b) => orderOf(a) - orderOf(b));
  // Two indices along one stride are no tensor that we could name.
  if (new Set(groups.map((group) => normalKey(polyExpr(group.coefficient)))).size < groups.length) {
    return undefined;
  }
  const axes = groups.map(axisOf);
  // How often a loop runs is not known: only a mask says how far its index gets.
  return groups.every((group, axis) => !isIterated(group) || axes[axis]?.extent !== undefined)
    ? axes
    : undefined;
}

const isIterated = ({ form }: Group): boolean =>
  form.parts.some(({ atom }) => atom.kind === "iteration");

/** Unit stride last, otherwise the order of the tile's axes; what is not in the tile comes first. */
function orderOf({ form, coefficient }: Group): number {
  if (constantOf(coefficient) === 1n) return Number.MAX_SAFE_INTEGER;
  return form.parts.reduce(
    (last, { atom }) => atom.kind === "lane" ? Math.max(last, atom.axis) : last,
    -1,
  );
}

function axisOf({ coefficient, bounds }: Group): InferredAxis {
  const [upper, ...others] = bounds.filter((bound) => bound.upper);
  const extent = upper !== undefined && others.length === 0 ? plainExtent(upper) : undefined;
  const stride = polyExpr(coefficient);
  return extent === undefined ? { stride } : { stride, extent };
}

/** A bound that is a parameter or a constant; other bounds say where the code stops, not how large the tensor is. */
function plainExtent(bound: Bound): ContractExpr | undefined {
  const extent = extentOf(bound);
  return extent.op === "param" || extent.op === "const" ? extent : undefined;
}

/** The axes as a person would write them, `?` for what the code does not show. */
export function describeAxes(
  axes: readonly InferredAxis[],
  print: (expr: ContractExpr) => string,
): string {
  const extents = axes.map(({ extent }) => extent === undefined ? "?" : print(extent));
  return `[${extents.join(", ")}] strides [${axes.map(({ stride }) => print(stride)).join(", ")}]`;
}

/** The accesses of each parameter that are all affine. */
export function accessesByParam(
  accesses: readonly MemoryAccess[],
  vague: ReadonlySet<Value>,
): ReadonlyMap<Value, readonly MemoryAccess[]> {
  const groups = new Map<Value, MemoryAccess[]>();
  for (const access of accesses) {
    if (vague.has(access.param)) continue;
    const list = groups.get(access.param);
    if (list === undefined) groups.set(access.param, [access]);
    else list.push(access);
  }
  return groups;
}
