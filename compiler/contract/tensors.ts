/**
 * Pointer parameters seen as tensors: `X + rm[:, newaxis] * ldx + rn[newaxis, :]` under
 * `rm < M && rn < N` is a tensor of extents [M, N] and strides [ldx, 1]. In a loop over k `X + k + r` under `r < N - k` is
 * one of extent N. `X + get_program_id(0)` is one of as many elements as the grid has programs.
 */
import { pointeeBytes } from "../ir/types.ts";
import type { Span } from "../support/source.ts";
import type { Value } from "../ir/func.ts";
import { type MemoryAccess, nameOf, wholeElements } from "./accesses.ts";
import { apply } from "./expr.ts";
import { type Bound, type Form, type Group, groupOffset } from "./groups.ts";
import { extentOf } from "./interval.ts";
import { normalKey, sameExpr } from "./normal.ts";
import { addPoly, constantOf, type Poly, polyExpr, polyOf } from "./poly.ts";
import type { ContractExpr } from "./types.ts";

/** One axis of a pointer parameter seen as a tensor. */
export interface InferredAxis {
  readonly stride: ContractExpr;
  /** Absent where no mask bounds the index. */
  readonly extent?: ContractExpr;
  /** The index is a program id that no mask bounds: which. It gets as far as that axis of the grid. */
  readonly program?: number;
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
  axes.map(({ stride, extent, program = "" }) =>
    `${normalKey(stride)}:${extent === undefined ? `@${program}` : normalKey(extent)}`
  ).join(";");

/**
 * Axes of one access. What the offset has beside its indices moves the one along which elements follow each other, where a
 * mask says how far both get: `X + r + 1` under `r + 1 < N`. Otherwise it does not start at the tensor's first element.
 */
function axesOf(param: Value, access: MemoryAccess): readonly InferredAxis[] | undefined {
  const bytes = pointeeBytes(param);
  const elements = wholeElements(access.bytes, bytes);
  const offset = elements && groupOffset(elements, access.bounds);
  if (offset === undefined || access.width !== bytes) return undefined;
  const { rest } = offset;
  const groups = [...offset.groups].sort((a, b) => orderOf(a) - orderOf(b));
  // Two indices along one stride are no tensor that we could name.
  if (new Set(groups.map((group) => normalKey(polyExpr(group.coefficient)))).size < groups.length) {
    return undefined;
  }
  const axes = shownExtents(groups.map((group) => reachOf(group, isUnit(group) ? rest : ZERO)));
  if (rest.size > 0 && !groups.some(isUnit)) return undefined;
  // How often a loop runs is not known: only a mask says how far its index gets.
  return groups.every((group, axis) =>
      axes[axis]?.extent !== undefined || !(isIterated(group) || (isUnit(group) && rest.size > 0))
    )
    ? axes
    : undefined;
}

const ZERO: Poly = polyOf(0);

const isUnit = ({ coefficient }: Group): boolean => constantOf(coefficient) === 1n;

const isIterated = ({ form }: Group): boolean =>
  form.parts.some(({ atom }) => atom.kind === "iteration");

/** Unit stride last, otherwise the order of the tile's axes; what is not in the tile comes first. */
function orderOf(group: Group): number {
  if (isUnit(group)) return Number.MAX_SAFE_INTEGER;
  return group.form.parts.reduce(
    (last, { atom }) => atom.kind === "lane" ? Math.max(last, atom.axis) : last,
    -1,
  );
}

/** An axis and how far masks, or else the grid, let its index get. */
interface Reach {
  readonly stride: ContractExpr;
  readonly limit?: ContractExpr;
  readonly program?: number;
}

/** Of an index that is moved by `rest`. */
function reachOf({ form, coefficient, bounds }: Group, rest: Poly): Reach {
  const stride = polyExpr(coefficient);
  const [upper, ...others] = bounds.filter((bound) => bound.upper);
  const program = upper === undefined ? programOf(form) : undefined;
  if (program !== undefined) return { stride, program };
  return upper === undefined || others.length > 0
    ? { stride }
    : { stride, limit: limitOf(upper, rest) };
}

function limitOf(bound: Bound, rest: Poly): ContractExpr {
  return bound.divisor === 1n
    ? extentOf({ ...bound, limit: addPoly(bound.limit, rest) })
    : apply("+", extentOf(bound), polyExpr(rest));
}

/** The axis of the grid, where the form is a program id by itself. */
function programOf({ parts }: Form): number | undefined {
  const [only, ...others] = parts;
  return only?.atom.kind === "pid" && others.length === 0 ? only.atom.axis : undefined;
}

/**
 * A limit is an extent if it is a parameter or a constant, or if the next index begins where this one ends. Others say where the
 * code stops, not how large the tensor is.
 */
function shownExtents(axes: readonly Reach[]): readonly InferredAxis[] {
  return axes.map(({ stride, limit, program }) => {
    if (program !== undefined) return { stride, program };
    const isExtent = limit !== undefined && (limit.op === "param" || limit.op === "const" ||
      axes.some((outer) => sameExpr(outer.stride, apply("*", limit, stride))));
    return isExtent ? { stride, extent: limit } : { stride };
  });
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
