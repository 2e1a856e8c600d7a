/**
 * Which results may take the memory of which arguments: `softmax(x, { out: x })`.
 *
 * A program is sequential and compiled for pointers that may meet, unless something promises that they do not. So a result
 * may take the place of an argument if no program reads what another one writes, and none reads what it has written
 * itself. Here both tensors are the same memory with the same shape and strides; that is the caller's part. Then two
 * accesses meet only where their indices agree on every axis, and what an index says of its program or iteration
 * decides:
 *
 *     row = pid.0 * 4 + 0 … 4     agrees with itself in program pid.0 only
 *     col = 4096 * iteration + 0 … 4096     agrees with itself in that iteration only
 *     row = 256 * iteration + pid.0         agrees with itself in both, if the grid has at most 256 programs there
 *
 * What this does not show is not allowed.
 */
import { type Func, isOp, type Op, type OpOf, type Region, type Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { must } from "../support/bug.ts";
import { isMemoryOp, rowOf } from "../ir/table.ts";
import { bytesOf, isPointer, pointeeBytes } from "../ir/types.ts";
import { nameOf, wholeElements } from "./accesses.ts";
import { AffineAnalysis } from "./affine.ts";
import { normalForm, sameExpr } from "./normal.ts";
import { addPoly, type Atom, constantOf, type Poly, polyOf, subPoly } from "./poly.ts";
import { Roots } from "./reach.ts";
import type { ContractExpr, ContractParam, TensorContract } from "./types.ts";

/** What the merged contract says, without what this module adds. */
export interface PlainContract {
  readonly params: readonly ContractParam[];
  readonly grid: readonly ContractExpr[] | null;
  readonly tensors: readonly TensorContract[];
}

/** The arguments whose memory each result may take, by name; results that may take none are absent. */
export function inPlaceParams(
  func: Func,
  { params, grid, tensors }: PlainContract,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  const tensorOf = new Map(tensors.map((tensor) => [tensor.param, tensor]));
  const promised = new Set(func.params.flatMap((param, position) => {
    const facts = func.paramFacts[position];
    return facts?.noalias === true || facts?.readonly === true || facts?.writeonly === true
      ? [nameOf(param)]
      : [];
  }));
  const candidates = params.flatMap((param) =>
    param.kind === "pointer" && !promised.has(param.name) && tensorOf.has(param.name) ? [param] : []
  );
  const results = candidates.filter(({ access }) => access === "out");
  const inputs = candidates.filter(({ access }) => access === "in");
  if (grid === null || results.length === 0 || inputs.length === 0) return found;
  const reader = accessReader(func);
  if (reader === undefined) return found;
  const programs = grid.map(mostOf);
  for (const result of results) {
    const names = inputs.filter((input) => {
      const [from, to] = [tensorOf.get(input.name), tensorOf.get(result.name)];
      return from !== undefined && to !== undefined && input.type === result.type &&
        areAlike(from, to) && reader(from, to, programs);
    }).map(({ name }) => name);
    if (names.length > 0) found.set(result.name, names);
  }
  return found;
}

/** Equal shapes are then equal extents, whatever names the strides have. */
function areAlike(a: TensorContract, b: TensorContract): boolean {
  return a.extents.length === b.extents.length &&
    a.extents.every((extent, axis) => sameExpr(extent, b.extents[axis] ?? extent));
}

/** How many programs there are at most along each axis of the grid; undefined: any number. */
type Programs = readonly (bigint | undefined)[];

function mostOf(extent: ContractExpr): bigint | undefined {
  if (extent.op === "const") return BigInt(extent.value);
  if (extent.op !== "min") return undefined;
  const known = extent.args.flatMap((arg) => mostOf(arg) ?? []);
  return known.reduce<bigint | undefined>(
    (least, one) => least === undefined || one < least ? one : least,
    undefined,
  );
}

/** A load or store of a tensor: its index along each axis, and where it is in the program. */
interface Access {
  readonly op: Op;
  /** By axis, with the span of what is in the tile. */
  readonly indices: readonly Index[];
  /** Its number in the order of the text. */
  readonly order: number;
  /** From the outermost: operations whose regions it is in, and which of them. */
  readonly path: readonly Step[];
}

interface Step {
  readonly op: Op;
  readonly region: Region;
}

/** An index: what counts programs or iterations, and the span of the rest. */
interface Index {
  readonly counters: readonly { readonly atom: Atom; readonly coefficient: bigint }[];
  /** Largest value without the counters; the smallest is 0 or more. */
  readonly span: bigint;
}

/** Whether, for two tensors, loads of the first and stores of the second may share memory. */
function accessReader(
  func: Func,
):
  | ((from: TensorContract, to: TensorContract, programs: Programs) => boolean)
  | undefined {
  const places = new Map<Op, Pick<Access, "order" | "path">>();
  let isKnown = true;
  const visit = (region: Region, path: readonly Step[]): void => {
    for (const op of region.ops) {
      // Operands of products are loaded ahead, and by copies that order nothing.
      if (op.name === "dot") isKnown = false;
      if (isMemoryOp(op)) places.set(op, { order: places.size, path });
      for (const inner of op.regions) visit(inner, [...path, { op, region: inner }]);
    }
  };
  visit(func.body, []);
  if (!isKnown) return undefined;
  const analysis = new AffineAnalysis(func, "program");
  const roots = new Roots(func);
  const params = new Set(func.params);
  const known = new Map<TensorContract, readonly Access[] | undefined>();
  const accessesOf = (tensor: TensorContract): readonly Access[] | undefined => {
    if (!known.has(tensor)) {
      known.set(tensor, readAccesses(tensor, { places, analysis, roots, func }));
    }
    return known.get(tensor);
  };
  return (from, to, programs) => {
    const [loads, stores] = [accessesOf(from), accessesOf(to)];
    return loads !== undefined && stores !== undefined &&
      loads.every((load) =>
        stores.every((store) => isOrdered(load, store, programs, (value) => params.has(value)))
      );
  };
}

interface Reading {
  readonly func: Func;
  readonly places: ReadonlyMap<Op, Pick<Access, "order" | "path">>;
  readonly analysis: AffineAnalysis;
  readonly roots: Roots;
}

/** All accesses of a parameter, if each of them is understood. */
function readAccesses(
  tensor: TensorContract,
  { func, places, analysis, roots }: Reading,
): readonly Access[] | undefined {
  const param = func.params.find((value) => nameOf(value) === tensor.param);
  if (param === undefined) return undefined;
  const found: Access[] = [];
  for (const [op, place] of places) {
    if (!isMemoryOp(op)) continue;
    const { pointer } = operandsOf(op);
    const from = roots.of(pointer);
    if (!from.includes(param)) continue;
    const address = analysis.pointer(pointer);
    const { element } = pointer.type;
    if (op.name !== "load" && op.name !== "store") return undefined;
    // Such loads may be moved past stores, and do not see them.
    if (op.name === "load" && op.attrs.modifiers.includes("nc")) return undefined;
    if (
      from.length !== 1 || address?.param !== param || !isPointer(element) ||
      bytesOf(element.pointee) !== pointeeBytes(param)
    ) return undefined;
    const elements = wholeElements(address.bytes, pointeeBytes(param));
    const { mask } = operandsOf(op);
    const bounds = mask === undefined ? [] : analysis.mask(mask).map(({ poly }) => poly);
    const indices = elements && indicesOf(elements, tensor, bounds, pointer.type.shape);
    if (indices === undefined) return undefined;
    found.push({ op, indices, ...place });
  }
  return found;
}

/** Index polynomials per axis: from 0, and below the extent by the mask. */
function indicesOf(
  elements: Poly,
  { extents, strides }: TensorContract,
  bounds: readonly Poly[],
  shape: readonly number[],
): readonly Index[] | undefined {
  const polys = splitByStride(elements, strides);
  return polys && allOf(polys, (poly, axis) => {
    const index = indexOf(poly, shape);
    const extent = normalForm(must(extents[axis], "extent"));
    if (index === undefined) return undefined;
    // poly <= extent - 1
    const isBounded = bounds.some((bound) => {
      const slack = constantOf(subPoly(bound, addPoly(subPoly(poly, extent), polyOf(1))));
      return slack !== undefined && slack >= 0n;
    });
    // A program's number by itself is as the grid says: the contract has the tensor's extent.
    const [counter] = index.counters;
    const isProgram = index.counters.length === 1 && counter?.atom.kind === "pid" &&
      counter.coefficient === 1n && index.span === 0n;
    return isBounded || isProgram || poly.size === 0 ? index : undefined;
  });
}

/** All results, or undefined where one is. */
function allOf<T, R>(
  items: readonly T[],
  map: (item: T, position: number) => R | undefined,
): readonly R[] | undefined {
  const results: R[] = [];
  for (const [position, item] of items.entries()) {
    const result = map(item, position);
    if (result === undefined) return undefined;
    results.push(result);
  }
  return results;
}

/** The polynomial of each axis; undefined where a term has no axis. Strides are names, or the number 1 once. */
function splitByStride(
  elements: Poly,
  strides: readonly ContractExpr[],
): readonly Poly[] | undefined {
  const keys = strides.map((stride) =>
    stride.op === "param"
      ? stride.name
      : stride.op === "const" && stride.value === 1
      ? ""
      : undefined
  );
  if (keys.includes(undefined) || new Set(keys).size < keys.length) return undefined;
  const polys: Poly[] = keys.map(() => polyOf(0));
  for (const { coefficient, atoms } of elements.values()) {
    const variables = atoms.filter(({ kind }) => kind !== "param");
    const stride = atoms.filter(({ kind }) => kind === "param").map(({ key }) => key).join("*");
    const axis = keys.indexOf(stride);
    if (axis < 0 || variables.length > 1) return undefined;
    const key = variables.map((atom) => atom.key).join();
    polys[axis] = addPoly(
      polys[axis] ?? polyOf(0),
      new Map([[key, { coefficient, atoms: variables }]]),
    );
  }
  return polys;
}

/** Takes an index apart: counters, and the span of constants and elements of the tile. */
function indexOf(poly: Poly, shape: readonly number[]): Index | undefined {
  const counters: { atom: Atom; coefficient: bigint }[] = [];
  let span = 0n;
  for (const { coefficient, atoms: [atom] } of poly.values()) {
    if (coefficient < 0n) return undefined;
    if (atom === undefined) span += coefficient;
    else if (atom.kind === "lane") span += coefficient * BigInt((shape[atom.axis] ?? 1) - 1);
    else if (atom.kind === "pid" || atom.kind === "iteration") counters.push({ atom, coefficient });
    else return undefined;
  }
  return { counters, span };
}

/** Whether the load sees nothing that the store writes, in any program and iteration. */
function isOrdered(
  load: Access,
  store: Access,
  programs: Programs,
  isParam: (value: Value) => boolean,
): boolean {
  const shared = sharedPath(load, store);
  const apart = branchApart(load, store, shared.length);
  if (apart !== undefined && isUniform(operandsOf(apart).condition, isParam)) return true;
  const agreed = load.indices.flatMap((index, axis) =>
    agreedOn(index, must(store.indices[axis], "index"), programs)
  );
  const areOwn = programs.every((most, axis) =>
    most === 1n || agreed.some((atom) => atom.kind === "pid" && atom.axis === axis)
  );
  const areIterations = shared.every(({ op }) =>
    op.name !== "while" || agreed.some((atom) => atom.kind === "iteration" && atom.loop === op)
  );
  return areOwn && areIterations && (apart !== undefined || load.order < store.order);
}

/**
 * The counters that are equal where the indices are: if both have the same with the same steps, each step larger than all
 * that smaller ones and the rest of an index come to, as the digits of a number.
 */
function agreedOn(one: Index, two: Index, programs: Programs): readonly Atom[] {
  const [ours, theirs] = [digitsOf(one), digitsOf(two)];
  if (ours.length !== theirs.length) return [];
  let span: bigint | undefined = one.span > two.span ? one.span : two.span;
  for (const [digit, { atom, coefficient }] of ours.entries()) {
    const other = must(theirs[digit], "digit");
    const isAlike = other.atom.key === atom.key && other.coefficient === coefficient;
    if (!isAlike || span === undefined || span >= coefficient) return [];
    const most = atom.kind === "pid" ? programs[atom.axis] : undefined;
    span = most === undefined ? undefined : span + coefficient * (most - 1n);
  }
  return ours.map(({ atom }) => atom);
}

/** An index's counters, that of the smallest step first. */
const digitsOf = ({ counters }: Index): Index["counters"] =>
  counters.toSorted((a, b) => a.coefficient < b.coefficient ? -1 : 1);

/** The regions that both are in. */
function sharedPath(a: Access, b: Access): readonly Step[] {
  const length = a.path.findIndex(({ region }, depth) => b.path[depth]?.region !== region);
  return length < 0 ? a.path : a.path.slice(0, length);
}

/** The branch of which one access is in the one region and the other in the other. */
function branchApart(a: Access, b: Access, depth: number): OpOf<"if"> | undefined {
  const op = a.path[depth]?.op;
  return op !== undefined && op === b.path[depth]?.op && isOp(op, "if") ? op : undefined;
}

/** Whether all programs compute the same: from parameters and constants alone. */
function isUniform(value: Value, isParam: (value: Value) => boolean): boolean {
  const seen = new Set<Value>();
  const pending = [value];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    const { def } = at;
    if (def === undefined) {
      if (!isParam(at)) return false;
      continue;
    }
    if (rowOf(def).effect !== "pure" || def.name === "program_id" || def.regions.length > 0) {
      return false;
    }
    pending.push(...def.operands);
  }
  return true;
}
