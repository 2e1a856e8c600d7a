/**
 * Operands of warp groups' dots in rows that start anywhere: asynchronous copies bring the aligned chunks of memory that a
 * row lies in, as they lie there, and threads then put the row where the dot reads it
 * (schedule/warp_groups/chunked_loop.ts).
 *
 * A row of n chunks that starts inside a chunk lies in n + 1 of them. Of the last one, only what belongs to the row is
 * read. Of the first one, what lies before the row is read too, which nothing uses: it is in the same 16 bytes as the
 * row's first element, so it is in the same allocation.
 *
 * Where an iteration goes on in each row where the one before ended, the last chunk of one is the first chunk of the
 * next. Then slots lie side by side in each row, and each chunk is copied once; only that after the last slot, which is
 * the first one again, is copied twice.
 */
import { loopOf } from "../../ir/flow.ts";
import { type Func, isOp, type Op, type OpOf, type Value } from "../../ir/func.ts";
import { constantOf, madeBy, operandsOf, resultOf } from "../../ir/op.ts";
import { isLookup } from "../../ir/table.ts";
import { bytesOf, type IrType, pointeeBytes } from "../../ir/types.ts";
import { walkOps } from "../../ir/walk.ts";
import { axisShifts, type LinearLayout, product } from "../../linear/linear.ts";
import { fitsShared, type Target } from "../../targets.ts";
import type { AxisFacts } from "../../tile/axis.ts";
import { type AccessGroup, groupRegisters } from "../access_groups.ts";
import { vectorAlong } from "../anchors.ts";
import { fillsMultiprocessor, tileBytes } from "../tiles.ts";
import { suitsWarpGroups } from "../warp_group.ts";
import { type RowBounds, rowBounds } from "./row_bounds.ts";
import { times } from "../../support/times.ts";

/** What one asynchronous copy brings, and what a thread then has of a row side by side. */
export const CHUNK_BYTES = 16;

/** Elements that warp groups take in either order. */
const ELEMENT_BYTES = 2;

/** Elements of a chunk. */
export const CHUNK = CHUNK_BYTES / ELEMENT_BYTES;

/** The rows of a load that may be brought by chunks. */
export interface ChunkRows {
  /** Along which they lie. */
  readonly axis: number;
  readonly bounds: RowBounds;
  /** The pointers of the first iteration; rows of later ones start as far inside a chunk. */
  readonly first: Value;
  /** Each iteration begins in all rows where the one before ended. */
  readonly isContinued: boolean;
}

/** Bytes of all banks. */
const BANK_BYTES = 128;

/** Where the chunks of a tile's rows lie in a ring of slots. */
export interface ChunkPlaces {
  /** Bytes between the starts of rows. */
  readonly pitch: number;
  /** Bytes between slots. */
  readonly slot: number;
  readonly bytes: number;
}

/**
 * Places of chunks. Rows that have all slots side by side begin half of the banks after each other: words at the same
 * place in chunks of neighbouring rows lie in different banks, and such rows start at different places in theirs.
 */
export function chunkPlaces(
  shape: readonly number[],
  { axis, isContinued }: Pick<ChunkRows, "axis" | "isContinued">,
  slots: number,
): ChunkPlaces {
  const extent = shape[axis] ?? 1;
  const rows = product(shape) / extent;
  const row = extent * ELEMENT_BYTES;
  if (!isContinued) {
    const slot = rows * (row + CHUNK_BYTES);
    return { pitch: row + CHUNK_BYTES, slot, bytes: slots * slot };
  }
  const half = BANK_BYTES / 2;
  const pitch = Math.ceil((slots * row + CHUNK_BYTES - half) / BANK_BYTES) * BANK_BYTES + half;
  return { pitch, slot: row, bytes: rows * pitch };
}

/** A thread's registers, a chunk's worth at a time; undefined if it does not hold so much side by side. */
export function chunkGroups(layout: LinearLayout, axis: number): AccessGroup[] | undefined {
  const shift = axisShifts(layout.shape)[axis] ?? 0;
  const bits = times(Math.log2(CHUNK), (bit) => layout.register.indexOf(1 << (shift + bit)));
  return bits.some((bit) => bit < 0) ? undefined : groupRegisters(layout, bits);
}

/** How the rows of a load of a loop may be brought by chunks, if they may. */
export function chunkRowsOf(
  loop: OpOf<"while">,
  load: OpOf<"load">,
  axisInfo: AxisFacts,
): ChunkRows | undefined {
  const { pointer, mask, other } = operandsOf(load);
  const { shape } = pointer.type;
  const isPlain = load.attrs.modifiers.length === 0 && other === undefined && !isLookup(load);
  if (!isPlain || shape.length !== 2 || pointeeBytes(pointer) !== ELEMENT_BYTES) return undefined;
  const { contiguity } = axisInfo(pointer);
  const axis = shape.findIndex((extent, d) =>
    extent >= 2 * CHUNK && (contiguity[d] ?? 1) >= extent
  );
  const bounds = axis < 0 ? undefined : rowBounds(mask, axis, axisInfo);
  const carried = carriedBy(loop, pointer);
  if (bounds === undefined || bounds.ends.length > 1 || carried === undefined) return undefined;
  // Each iteration moves by whole chunks.
  const step = madeBy(carried.next, "offset");
  if (step === undefined || operandsOf(step).pointer !== pointer) return undefined;
  const { count } = operandsOf(step);
  if (!axisInfo(count).divisibility.every((most) => most % CHUNK === 0)) return undefined;
  const extent = BigInt(shape[axis] ?? 0);
  const isContinued = constantIn(count) === extent && isSameRows(loop, bounds) &&
    bounds.ends.every(({ bound }) => isLessBy(loop, bound, extent));
  return { axis, bounds, first: carried.first, isContinued };
}

/** What a loop carries as a parameter of its body: before the first iteration, and from each to the next one. */
function carriedBy(
  loop: OpOf<"while">,
  param: Value,
): { readonly first: Value; readonly next: Value } | undefined {
  const { test, body, initial, leaving, repeated } = loopOf(loop);
  const passed = leaving[body.params.indexOf(param)];
  const place = passed === undefined ? -1 : test.params.indexOf(passed);
  const [first, next] = [initial[place], repeated[place]];
  return first === undefined || next === undefined ? undefined : { first, next };
}

/** The value in every element, if that is a constant. */
function constantIn(value: Value): ReturnType<typeof constantOf> {
  const splat = madeBy(value, "splat");
  return constantOf(splat === undefined ? value : operandsOf(splat).value);
}

/** Whether all iterations have the same rows. */
function isSameRows(loop: OpOf<"while">, { rows, ends }: RowBounds): boolean {
  const { body } = loopOf(loop);
  const isOutside = ({ def }: Value): boolean => def !== undefined && !body.ops.includes(def);
  return rows.every(isOutside) && ends.every(({ index: { value } }) => isOutside(value));
}

/** Whether a scalar is less by so much in each iteration than in the one before. */
function isLessBy(loop: OpOf<"while">, scalar: Value, amount: bigint): boolean {
  const next = carriedBy(loop, scalar)?.next;
  const step = madeBy(next, "sub") ?? madeBy(next, "add");
  if (step === undefined) return false;
  const { left, right } = operandsOf(step);
  return left === scalar && constantOf(right) === (step.name === "sub" ? amount : -amount);
}

const WARP_THREADS = 32;

/** What decides whether warp groups do a dot. */
interface Options {
  readonly target: Target;
  readonly numWarps: number;
  readonly numCtas: number;
}

/** Slots that dots read: one is under way, one waits, and one is filled (schedule/warp_groups/chunked_loop.ts). */
export const DOT_SLOTS = 3;
/**
 * Slots for chunks, at least: those that threads move, the first ones of the next iteration, and two iterations that are
 * under way. With one less, products on an H200 took a quarter more (tests/gpu/results/products.md).
 */
export const LEAST_CHUNK_SLOTS = 4;

/** An operand's tile in memory. */
export interface ChunkedTile {
  readonly type: IrType;
  readonly rows: ChunkRows;
}

/** Bytes of the slots of operands, and of the rings of their chunks. */
export const chunkedBytes = (tiles: readonly ChunkedTile[], slots: number): number =>
  tiles.reduce((sum, { type, rows }) => {
    const ring = slots * chunkSlotBytes(type.shape, rows, slots);
    return sum + DOT_SLOTS * tileBytes(type) + ring;
  }, 0);

/** A slot's share of a ring of chunks, in whole rows of banks. */
export const chunkSlotBytes = (shape: readonly number[], rows: ChunkRows, slots: number): number =>
  Math.ceil(chunkPlaces(shape, rows, slots).bytes / slots / BANK_BYTES) * BANK_BYTES;

/**
 * The loads of operands of which a thread should have a whole chunk side by side: those of a loop with one dot, which warp
 * groups can do, where not all are aligned. Where several blocks fit a multiprocessor, one computes while another one
 * waits for what it loads, and rings of chunks would take their shared memory.
 */
export function chunkedLoads(
  func: Func,
  { target, numWarps, numCtas }: Options,
  axisInfo: AxisFacts,
): ReadonlySet<Op> {
  const found = new Set<Op>();
  if (numCtas > 1) return found;
  walkOps(func.body, (op) => {
    if (op.name !== "while") return;
    const { ops } = loopOf(op).body;
    const [dot, ...others] = ops.filter((one) => isOp(one, "dot"));
    if (dot === undefined || others.length > 0) return;
    const { a, b } = operandsOf(dot);
    if (bytesOf(a.type.element) !== ELEMENT_BYTES) return;
    const sums = product(resultOf(dot).type.shape) / (WARP_THREADS * numWarps);
    const isSuited = suitsWarpGroups(dot, numWarps, target, [false, false]) &&
      fillsMultiprocessor(sums, numWarps, target);
    if (!isSuited) return;
    const loads = [a, b].flatMap((operand) => loadOf(operand) ?? []);
    const isAny = loads.some((load) => vectorOf(load, axisInfo) < CHUNK);
    const tiles = loads.flatMap((load): ChunkedTile[] => {
      const rows = ops.includes(load) ? chunkRowsOf(op, load, axisInfo) : undefined;
      return rows === undefined ? [] : [{ type: resultOf(load).type, rows }];
    });
    if (!isAny || tiles.length < 2) return;
    const fits = fitsShared(target, chunkedBytes(tiles, LEAST_CHUNK_SLOTS));
    if (fits) { for (const load of loads) found.add(load); }
  });
  return found;
}

/** The load of a tile, maybe permuted. */
function loadOf(value: Value): OpOf<"load"> | undefined {
  let { def } = value;
  while (isOp(def, "permute")) ({ def } = operandsOf(def).value);
  return isOp(def, "load") ? def : undefined;
}

/** Elements that one access of a load covers. */
const vectorOf = (load: OpOf<"load">, axisInfo: AxisFacts): number =>
  Math.max(...operandsOf(load).pointer.type.shape.map((_, d) => vectorAlong(load, d, axisInfo)));
