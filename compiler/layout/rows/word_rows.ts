/**
 * wordRows: a transposition of bytes or halves whose rows may start anywhere reads and writes memory by words of four.
 *
 * What one access of a byte costs, one of a word costs too. Where a row starts is known at run time only, so
 *   - a load of four elements reads the two aligned words (of bytes) or pairs of words (of halves) that these lie in, and
 *     shifts them into one;
 *   - a store has its rows rotated (rotate.ts) such that the words of its positions are aligned. One word of each row has
 *     elements of both its ends, and is stored byte by byte.
 * Words of a load may begin before a row's part in the tile: in the same words as its first element, so in the same
 * allocation. They may also end after it, and are read only where that is there: where other programs read the elements
 * that follow in the row, or the row below, which begins later (next_tiles.ts). So the load has an operand `inside`, a
 * scalar that says whether that is so, and is done element by element elsewhere. `inside` of a store says that its rows do
 * not end in the tile; elsewhere the mask decides of each word. Where `inside` holds, what is left of the mask is which rows
 * there are: the operand `rows`.
 *
 * On an H200 a kernel of CUDA of this kind made 0.90 of a copy where bytes made 0.82; see tests/gpu/results/transposition.md.
 */
import {
  type Attrs,
  type Func,
  newUncheckedOp,
  type Op,
  type OpOf,
  setAttrs,
  type Value,
} from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import type { TileOp } from "../../ir/ops.ts";
import { rootsOf } from "../../ir/pointer_roots.ts";
import { type IrType, isPointer, pointeeBytes, scalarType } from "../../ir/types.ts";
import { usersOf, walkOps } from "../../ir/walk.ts";
import { product } from "../../linear/linear.ts";
import { must } from "../../support/bug.ts";
import { SCALARS } from "../../support/scalar.ts";
import type { Span } from "../../support/source.ts";
import { fitsShared } from "../../targets.ts";
import type { AxisFacts } from "../../tile/axis.ts";
import type { Pass, TargetContext } from "../../tile/pass.ts";
import { LOADED_AT_ONCE, storesReached, vectorAlong, WORD_BYTES } from "../anchors.ts";
import { nextTiles } from "./next_tiles.ts";
import { LEAST_ACCESSES, rotatedBytes } from "./rotate.ts";
import {
  pointerIndex,
  pointerStride,
  type RowBounds,
  rowBounds,
  type RowEnd,
  type RowIndex,
} from "./row_bounds.ts";

/** Sizes of elements that words hold several of. */
const ELEMENT_BYTES: readonly number[] = [1, 2];

/** What a warp loads at once, of one row, and what it stores. */
const WARP_ELEMENTS = 32 * LOADED_AT_ONCE;
const WARP_BYTES = 32 * WORD_BYTES;

export const wordRows: Pass<TargetContext> = {
  name: "word-rows",
  doc: "transpositions of bytes and halves in unaligned rows access memory by words",
  run: (func, context) => {
    // Rows of several blocks are not rotated.
    if (context.numCtas > 1) return false;
    const found = turnedRows(func, context);
    if (found.size === 0) return false;
    rewrite(func, func.body.ops, found);
    walkOps(func.body, (op) => {
      for (const region of op.regions) rewrite(func, region.ops, found);
    });
    return true;
  },
};

/** An access that may be by words. */
interface WordAccess {
  /** Along which its rows lie. */
  readonly axis: number;
  readonly bounds: RowBounds;
  /** Of a load, who reads what is around. */
  readonly next?: NextTiles;
}

interface NextTiles {
  /** The axis of the grid along which programs read what follows in the tile's rows. */
  readonly gridAxis: number;
  /** Who reads the rows that follow; undefined where that is not known. */
  readonly rows: NextRows | undefined;
}

interface NextRows {
  readonly gridAxis: number;
  readonly extent: number;
  /** Which rows there are. */
  readonly ends: RowBounds["ends"];
  readonly index: RowIndex;
  /** Elements from a row to the next one. */
  readonly stride: Value;
}

/** Elements after a row's part in the tile that a load by words may read too. */
const MARGIN = LOADED_AT_ONCE;

/** The loads and stores between which rows become columns. */
function turnedRows(func: Func, context: TargetContext): ReadonlyMap<Op, WordAccess> {
  const found = new Map<Op, WordAccess>();
  const loads = func.body.ops.flatMap((op) => {
    const access = op.name === "load" ? loadByWords(func, op, context) : undefined;
    return op.name === "load" && access !== undefined ? [{ load: op, access }] : [];
  });
  if (loads.length === 0) return found;
  const users = usersOf(func);
  const writes = writtenRoots(func);
  for (const { load, access } of loads) {
    if (writes.mayWrite(load)) continue;
    for (const { store, order } of storesReached(load, users)) {
      const stored = storeByWords(store, context);
      if (stored === undefined || order[stored.axis] === access.axis) continue;
      found.set(load, access);
      found.set(store, stored);
    }
  }
  return found;
}

/** An access whose rows along one axis are long enough and may start anywhere. */
function unalignedRows(
  op: OpOf<"load" | "store">,
  { numWarps, axisInfo }: Pick<TargetContext, "numWarps" | "axisInfo">,
): { readonly axis: number; readonly bounds: RowBounds } | undefined {
  const { pointer, mask } = operandsOf(op);
  const { shape } = pointer.type;
  if (op.attrs.modifiers.length > 0 || shape.length < 2) return undefined;
  const bytes = pointeeBytes(pointer);
  if (!ELEMENT_BYTES.includes(bytes)) return undefined;
  // A thread loads from as many rows as a word has elements.
  if (product(shape) < (WORD_BYTES / bytes) * WARP_ELEMENTS * numWarps) return undefined;
  const facts = axisInfo();
  const { contiguity } = facts(pointer);
  const axis = shape.findIndex((extent, d) =>
    extent >= WARP_ELEMENTS && (contiguity[d] ?? 1) >= extent &&
    vectorAlong(op, d, facts) === 1
  );
  const bounds = axis < 0 ? undefined : rowBounds(mask, axis, facts);
  return bounds === undefined ? undefined : { axis, bounds };
}

function loadByWords(
  func: Func,
  load: OpOf<"load">,
  context: TargetContext,
): WordAccess | undefined {
  const { pointer, other } = operandsOf(load);
  const found = other === undefined ? unalignedRows(load, context) : undefined;
  if (found === undefined || load.attrs.beside === true) return undefined;
  const { axis, bounds } = found;
  const value = pointerIndex(pointer, axis, context.axisInfo());
  const end = bounds.ends.find(({ index }) => index.value === value);
  const tiles = end && nextTiles(func, load, end.index);
  return tiles && {
    axis,
    bounds,
    next: { ...tiles, rows: nextRows(func, load, axis, context.axisInfo()) },
  };
}

/** The programs that read the rows after those of a tile of two axes, at multiples of a stride. */
function nextRows(
  func: Func,
  load: OpOf<"load">,
  axis: number,
  axisInfo: AxisFacts,
): NextRows | undefined {
  const { pointer, mask } = operandsOf(load);
  const { shape } = pointer.type;
  const across = 1 - axis;
  const ends = shape.length === 2 ? rowBounds(mask, across, axisInfo)?.ends : undefined;
  for (const { index } of ends ?? []) {
    const stride = pointerStride(pointer, across, index.value, axisInfo);
    const tiles = stride?.type.element === "int32" ? nextTiles(func, load, index) : undefined;
    if (stride === undefined || tiles === undefined || ends === undefined) continue;
    return { ...tiles, extent: must(shape[across], "extent"), ends, index, stride };
  }
  return undefined;
}

function storeByWords(store: OpOf<"store">, context: TargetContext): WordAccess | undefined {
  const found = unalignedRows(store, context);
  if (found === undefined) return undefined;
  const { pointer } = operandsOf(store);
  const { shape } = pointer.type;
  const bytes = pointeeBytes(pointer);
  const isLong = must(shape[found.axis], "extent") * bytes >= LEAST_ACCESSES * WARP_BYTES;
  return isLong && fitsShared(context.target, rotatedBytes(shape, found.axis, bytes))
    ? found
    : undefined;
}

/** What the function writes: words must not be read of what other programs may be writing. */
function writtenRoots(func: Func): { readonly mayWrite: (load: OpOf<"load">) => boolean } {
  const rootOf = rootsOf(func, new Set(func.params));
  const roots = new Set<Value | undefined>();
  walkOps(func.body, (op) => {
    if (op.name === "store" || op.name === "atomic" || op.name === "atomic_cas") {
      roots.add(op.operands[0] && rootOf(op.operands[0]));
    }
  });
  return {
    mayWrite: (load) => {
      const root = rootOf(operandsOf(load).pointer);
      return root === undefined || roots.has(undefined) || roots.has(root);
    },
  };
}

/** Gives the accesses of a list what says where they may be by words. */
function rewrite(func: Func, ops: Op[], found: ReadonlyMap<Op, WordAccess>): void {
  for (let at = 0; at < ops.length; at++) {
    const op = must(ops[at], "operation");
    const access = found.get(op);
    if (access === undefined || (op.name !== "load" && op.name !== "store")) continue;
    const made: NewOps = { func, span: op.span, ops: [] };
    const inside = insideOf(made, op, access);
    const { pointer, mask } = operandsOf(op);
    const type: IrType = { element: "bool", shape: pointer.type.shape };
    const always = (): Value => constant(made, 1, type);
    const [firstRow, ...otherRows] = access.bounds.rows;
    const rows = otherRows.reduce<Value | undefined>(
      (a, b) => a && make(made, "and", [a, b], type),
      firstRow,
    );
    const given = op.name === "load"
      ? [pointer, mask ?? always(), constant(made, 0, resultOf(op).type)]
      : [pointer, operandsOf(op).value, mask ?? always()];
    op.operands.splice(
      0,
      op.operands.length,
      ...given,
      inside,
      ...rows === undefined ? [] : [rows],
    );
    setAttrs(op, { words: access.axis });
    ops.splice(at, 0, ...made.ops);
    at += made.ops.length;
  }
}

/** Whether no row ends in the tile, and of a load, whether what follows of its rows is there. */
function insideOf(
  into: NewOps,
  op: OpOf<"load" | "store">,
  { axis, bounds: { ends }, next }: WordAccess,
): Value {
  const extent = must(operandsOf(op).pointer.type.shape[axis], "extent");
  const isWhole = allOf(into, ends.flatMap((end) => reaches(into, end, extent)));
  if (next === undefined) return isWhole;
  const rowsGoOn = allOf(into, [
    ...ends.flatMap((end) => reaches(into, end, extent + MARGIN)),
    isBefore(into, next.gridAxis),
  ]);
  if (next.rows === undefined) return rowsGoOn;
  const isThere = make(into, "or", [rowsGoOn, areRowsBelow(into, next.rows)], scalarType("bool"));
  return allOf(into, [isWhole, isThere]);
}

/** Whether so many elements from the start of a tile on are before an end. */
function reaches(into: NewOps, { index: { start, first }, bound }: RowEnd, count: number): Value[] {
  const bool = scalarType("bool");
  const begin = plus(into, start, first);
  const last = plus(into, start, first + BigInt(count - 1));
  return [
    make(into, "lt", [last, bound], bool),
    // The sum has not wrapped.
    make(into, "lt", [begin, last], bool),
  ];
}

/**
 * Whether each row of the tile is followed by another one, which some program reads and which begins after what words cover
 * of this one: what lies between the two is there.
 */
function areRowsBelow(into: NewOps, { gridAxis, extent, ends, index, stride }: NextRows): Value {
  const [bool, long] = [scalarType("bool"), scalarType("int64")];
  const below = plus(into, index.start, index.first + BigInt(extent));
  const [wide, step] = [below, stride].map((value) => make(into, "convert", [value], long));
  const product = make(into, "mul", [must(wide, "row"), must(step, "stride")], long);
  return allOf(into, [
    ...ends.flatMap((end) => reaches(into, end, extent + 1)),
    isBefore(into, gridAxis),
    make(into, "le", [constant(into, MARGIN, scalarType("int32")), stride], bool),
    // Rows begin at 32-bit multiples.
    make(into, "le", [product, constant(into, 2n ** 31n - 1n, long)], bool),
  ]);
}

function allOf(into: NewOps, conditions: readonly Value[]): Value {
  const bool = scalarType("bool");
  const [one, ...others] = conditions;
  return others.reduce(
    (all, next) => make(into, "and", [all, next], bool),
    one ?? constant(into, 1, bool),
  );
}

/** Operations that are made for an access, in order, and what they are made with. */
interface NewOps {
  readonly func: Func;
  readonly span: Span;
  readonly ops: Op[];
}

/** Adds an operation with one result, and returns that. */
function make(
  { func, span, ops }: NewOps,
  name: TileOp,
  operands: readonly Value[],
  type: IrType,
  attrs: Attrs = {},
): Value {
  const op = newUncheckedOp(func, name, operands, [type], span, attrs);
  ops.push(op);
  return resultOf(op);
}

function constant(into: NewOps, value: number | bigint, type: IrType): Value {
  const isFloat = !isPointer(type.element) && SCALARS[type.element].class === "float";
  return make(into, "constant", [], type, { value: isFloat ? Number(value) : BigInt(value) });
}

/** Whether there is a program after this one along an axis of the grid. */
function isBefore(into: NewOps, axis: number): Value {
  const int = scalarType("int32");
  const program = make(into, "program_id", [], int, { axis });
  const programs = make(into, "num_programs", [], int, { axis });
  return make(into, "lt", [plus(into, program, 1n), programs], scalarType("bool"));
}

function plus(into: NewOps, start: Value | undefined, count: bigint): Value {
  const type = scalarType("int32");
  if (start === undefined) return constant(into, count, type);
  return count === 0n ? start : make(into, "add", [start, constant(into, count, type)], type);
}
