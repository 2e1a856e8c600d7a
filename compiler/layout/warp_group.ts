/**
 * Dots of warp groups (`wgmma`): four warps multiply matrices that lie in shared memory, 64 rows of the result at a time,
 * 16 to each warp. Which dots are done so, how their warps divide the result, and where their operands lie.
 *
 * The sums of a warp are fragments as of `mma` with 16 rows, so a dot that was laid out for warp groups and whose
 * operands turn out not to be in shared memory is done by `mma` instead, in the same layout.
 * Operands that the instruction does not take as they lie in memory: register_operand.ts.
 * Source: PTX ISA 9.0, 9.7.15.5 "Asynchronous wgmma.mma_async: register fragments, shared memory matrix layout".
 */
import { loopOf } from "../ir/flow.ts";
import { type Func, isOp, type Op, type OpOf, type Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { bytesOf, type IrType, isPointer } from "../ir/types.ts";
import { walkOps } from "../ir/walk.ts";
import { axisShifts, log2 } from "../linear/linear.ts";
import type { SharedLayout } from "../linear/shared_layout.ts";
import { must } from "../support/bug.ts";
import type { ScalarName } from "../support/scalar.ts";
import type { Target } from "../targets.ts";
import { computedOperand } from "./operands/computed_operand.ts";
import { fillsMultiprocessor, tileBytes } from "./tiles.ts";
import { times } from "../support/times.ts";

/** Warps of a group, and rows of the result that each has of an instruction. */
export const GROUP_WARPS = 4;
const WARP_ROWS = 16;
/** Rows of the result that one instruction computes, the most columns, and the bytes along k of both operands. */
export const GROUP_ROWS = GROUP_WARPS * WARP_ROWS;
export const MOST_COLUMNS = 256;
const DEPTH_BYTES = 32;

/** What the instruction does with elements of a type (PTX ISA 9.0, 9.7.15.2, 9.7.15.5.2). */
export interface GroupType {
  readonly spelling: string;
  readonly sum: "f32" | "s32";
  /** Types that the other operand may have. */
  readonly partners: readonly ScalarName[];
  /** Elements may lie in either order, along k or across it; else along k. */
  readonly isEitherOrder: boolean;
  /** Only when the program asks for this mode. */
  readonly mode?: "tf32";
  /** Sums have fewer bits than float (docs/emulator.md); mode `f32acc` adds those of short runs along k. */
  readonly isInexact?: true;
}

const FLOAT8: readonly ScalarName[] = ["float8e4", "float8e5"];

// deno-fmt-ignore: a row per type
const TYPES: Partial<Record<ScalarName, GroupType>> = {
  float16:  { spelling: "f16",  sum: "f32", partners: ["float16"],  isEitherOrder: true },
  bfloat16: { spelling: "bf16", sum: "f32", partners: ["bfloat16"], isEitherOrder: true },
  float32:  { spelling: "tf32", sum: "f32", partners: ["float32"],  isEitherOrder: false, mode: "tf32" },
  float8e4: { spelling: "e4m3", sum: "f32", partners: FLOAT8,       isEitherOrder: false, isInexact: true },
  float8e5: { spelling: "e5m2", sum: "f32", partners: FLOAT8,       isEitherOrder: false, isInexact: true },
  // Mixed signs need PTX 8.4.
  int8:     { spelling: "s8",   sum: "s32", partners: ["int8"],     isEitherOrder: false },
  uint8:    { spelling: "u8",   sum: "s32", partners: ["uint8"],    isEitherOrder: false },
};

const SUMS: Readonly<Record<GroupType["sum"], ScalarName>> = { f32: "float32", s32: "int32" };

/** The row of an operand's elements; undefined if the instruction does not take them. */
export function groupType({ type: { element } }: Value): GroupType | undefined {
  return isPointer(element) ? undefined : TYPES[element];
}

/** Elements along k that one instruction multiplies. */
export function depthOf({ element }: IrType): number {
  return DEPTH_BYTES / bytesOf(element);
}

/** The row of a dot's operand a, if the instruction multiplies it with b in the dot's mode. */
function typesOf(dot: OpOf<"dot">): GroupType | undefined {
  const { a, b } = operandsOf(dot);
  const row = groupType(a);
  if (row === undefined || (row.mode ?? dot.attrs.mode) !== dot.attrs.mode) return undefined;
  const fits = row.partners.some((partner) => partner === b.type.element) &&
    resultOf(dot).type.element === SUMS[row.sum];
  return fits ? row : undefined;
}

/** Whether a value is a loaded tile, possibly permuted. */
function isLoaded(value: Value): boolean {
  let { def } = value;
  while (isOp(def, "permute") || isOp(def, "convert_layout")) ({ def } = operandsOf(def).value);
  return isOp(def, "tensor_load") || (isOp(def, "load") && operandsOf(def).other === undefined);
}

/**
 * Whether a dot's warps are to be divided for warp groups: its operands can come through shared memory. `alongK`: whether
 * the elements of each operand are neighbours in memory along k.
 */
export function suitsWarpGroups(
  dot: OpOf<"dot">,
  numWarps: number,
  target: Target,
  alongK: readonly [boolean, boolean],
): boolean {
  const { a, b } = operandsOf(dot);
  const [m = 0] = a.type.shape;
  const isNamed = groupType(a)?.isEitherOrder === true || alongK.every((isAlong) => isAlong);
  return isNamed && dividesGroups(dot, [m, b.type.shape[1] ?? 0], numWarps, target);
}

/** The same where threads compute operands in their slots, from what they have copied there (computed_operand.ts). */
export function suitsComputed(dot: OpOf<"dot">, numWarps: number, target: Target): boolean {
  const { a, b } = operandsOf(dot);
  const [m = 0] = a.type.shape;
  const isStaged = (value: Value): boolean =>
    isLoaded(value) || computedOperand(value) !== undefined;
  return groupType(a)?.isEitherOrder === true &&
    dividesGroups(dot, [m, b.type.shape[1] ?? 0], numWarps, target, isStaged);
}

/** Whether a value is made by the operations of a region, and not just loaded. */
export function isMadeIn(region: ReadonlySet<Op>, value: Value): boolean {
  let { def } = value;
  while (isOp(def, "permute") || isOp(def, "convert_layout")) ({ def } = operandsOf(def).value);
  return def !== undefined && region.has(def) && def.name !== "load" && def.name !== "tensor_load";
}

/** The same where one operand is loaded, and threads store the other one, whatever it is made of, in slots of its own. */
export function suitsMade(dot: OpOf<"dot">, numWarps: number, target: Target): boolean {
  const { a, b } = operandsOf(dot);
  const [m = 0] = a.type.shape;
  return groupType(a)?.isEitherOrder === true && [a, b].some(isLoaded) &&
    dividesGroups(dot, [m, b.type.shape[1] ?? 0], numWarps, target, () => true);
}

/** Whether warp groups multiply the elements of a dot, and can divide its result of this shape among them. */
export function dividesGroups(
  dot: OpOf<"dot">,
  [m, n]: readonly [number, number],
  numWarps: number,
  target: Target,
  isStaged = isLoaded,
  leastColumns = LEAST_COLUMNS,
): boolean {
  const { a, b } = operandsOf(dot);
  const [, k = 0] = a.type.shape;
  return a.type.shape.length === 2 && typesOf(dot) !== undefined && numWarps >= GROUP_WARPS &&
    m >= GROUP_ROWS && k >= depthOf(a.type) && columnsOf(m, n, numWarps) >= leastColumns &&
    isStaged(a) && isStaged(b) && target.warpGroups;
}

/**
 * Whether warp groups can do a dot of a chain (chains.ts): b comes through shared memory, a does or is what threads have
 * computed. Each group has all columns of the rows of one instruction, so that rows stay within a warp.
 */
export function suitsChain(
  dot: OpOf<"dot">,
  numWarps: number,
  target: Target,
  alongK: readonly [boolean, boolean],
): boolean {
  const { a, b } = operandsOf(dot);
  if (a.type.shape.length !== 2) return false;
  const [m = 0, k = 0] = a.type.shape;
  const n = b.type.shape[1] ?? 0;
  const row = typesOf(dot);
  return row !== undefined && m * GROUP_WARPS === numWarps * GROUP_ROWS && k >= depthOf(a.type) &&
    n >= LEAST_COLUMNS && n <= MOST_COLUMNS &&
    (row.isEitherOrder || (isLoaded(a) && alongK.every((isAlong) => isAlong))) &&
    isLoaded(b) && target.warpGroups;
}

/** Programs that a block with partitions does at a time, and the registers of a thread for sums that leave room for no more. */
export const PARTITIONS = 2;
const PARTITION_SUMS = 128;
/**
 * Slots with which copies for a partition are under way while the other one ends: their iterations take half of the time of
 * those of a block without partitions.
 */
export const LEAST_PARTITION_SLOTS = 5;

/**
 * Bytes of the boxes of an iteration with which blocks have partitions unasked. With half as many three blocks of one program
 * each fit a multiprocessor, and short loops are faster so: 128 products of 1024 x 1024 x 64 in steps of 32 reach 148 and, by
 * partitions, 134 TFLOP/s, a convolution 224 and 191 (H100).
 */
const LEAST_BOX_BYTES = 32768;

/** What decides about partitions: registers of a thread for sums, the boxes of an iteration, the warps of a program. */
interface PartitionFacts {
  readonly sums: number;
  /** The slots that are asked for, if any are. */
  readonly slots: number | undefined;
  readonly boxBytes: number;
  readonly numWarps: number;
  readonly target: Target;
}

/** Whether blocks may have partitions, each of which does programs of its own (schedule/programs/loop_programs.ts). */
export function mayHavePartitions(
  { sums, slots, boxBytes, numWarps, target }: PartitionFacts,
): boolean {
  const areEnough = slots === undefined
    ? boxBytes >= LEAST_BOX_BYTES
    : slots >= LEAST_PARTITION_SLOTS;
  return numWarps === GROUP_WARPS && sums === PARTITION_SUMS && areEnough &&
    fillsMultiprocessor(sums, PARTITIONS * numWarps, target);
}

/** Bytes of the boxes that an iteration of a loop loads. */
export function boxBytes(loop: OpOf<"while">): number {
  let bytes = 0;
  for (const op of loopOf(loop).body.ops) {
    if (op.name === "tensor_load") bytes += tileBytes(resultOf(op).type);
  }
  return bytes;
}

/** Whether a value is a box of a tensor, maybe permuted. */
export function isBox(value: Value): boolean {
  let { def } = value;
  while (isOp(def, "permute") || isOp(def, "convert_layout")) ({ def } = operandsOf(def).value);
  return isOp(def, "tensor_load");
}

/** Whether a dot adds sums of short runs along k, so that they have the bits of float. */
export function isApart(dot: OpOf<"dot">): boolean {
  return dot.attrs.mode === "f32acc" && groupType(operandsOf(dot).a)?.isInexact === true;
}

/** Columns that a warp group has of the result. */
function columnsOf(m: number, n: number, numWarps: number): number {
  const groups = numWarps / GROUP_WARPS;
  return n / Math.max(1, groups / (m / GROUP_ROWS));
}

/** Bits of the rows that distinguish the warps of a group. */
export const WARP_BITS: readonly number[] = [log2(WARP_ROWS), log2(WARP_ROWS) + 1];

/** Columns of a group: a line of a swizzle across k, for elements of two bytes. */
const LEAST_COLUMNS = 64;

/** The widest line of a swizzle and a chunk of it, in bytes. */
const LINE_BYTES = 128;
const CHUNK_BYTES = 16;
/** Lines after which a swizzle repeats. */
const SWIZZLE_LINES = 8;

/**
 * Where the elements of an operand lie: in panels as wide as a line, whose lines go along the axis `inner`. The chunks
 * of a line are exchanged by exclusive or with the line's number, which is the bit above 128 bytes for each width of a line:
 * bit 7 + j of a byte's offset is a line bit and chunk bit 4 + j. Panels are no wider than `widest`, in elements.
 */
export function groupLayout(
  { shape, element }: IrType,
  inner: 0 | 1,
  widest: number = LINE_BYTES / bytesOf(element),
): SharedLayout | undefined {
  const shifts = axisShifts(shape);
  const bitsOf = (axis: number): number[] =>
    times(
      log2(must(shape[axis], "extent")),
      (bit) => 1 << (must(shifts[axis], "shift of an axis") + bit),
    );
  const [along, across] = [bitsOf(inner), bitsOf(1 - inner)];
  const chunkBits = log2(CHUNK_BYTES / bytesOf(element));
  const lineBits = Math.min(along.length, log2(widest), log2(LINE_BYTES / bytesOf(element)));
  if (lineBits <= chunkBits || across.length < log2(SWIZZLE_LINES)) return undefined;
  const columns = [...along.slice(0, lineBits), ...across, ...along.slice(lineBits)];
  const distance = log2(LINE_BYTES / CHUNK_BYTES);
  for (let bit = chunkBits; bit < lineBits; bit++) {
    const above = must(columns[bit + distance], "line bit");
    columns[bit + distance] = above ^ must(columns[bit], "chunk bit");
  }
  return { shape, columns, vectorBits: chunkBits };
}

/** Most elements of a box along an axis (PTX ISA 9.0, 5.5.2). */
const MOST_BOX = 256;

/** The boxes in which tensor copies load an operand in a layout of {@linkcode groupLayout}. */
export interface GroupBox {
  /** Elements of a box, by axis of the tile. */
  readonly extents: readonly number[];
  /** Bytes of a line. */
  readonly swizzle: 32 | 64 | 128;
  /** In the order in which they lie in memory: the first element of each by axis. */
  readonly origins: readonly (readonly number[])[];
}

/** The axis that lines of a layout of {@linkcode groupLayout} go along, and their elements. */
function linesOf({ shape, shared }: IrType): { readonly inner: number; readonly line: number } {
  const shifts = axisShifts(shape);
  const columns = must(shared, "buffer of an operand").columns;
  const inner = shape.findIndex((_, axis) =>
    columns[0] === 1 << must(shifts[axis], "shift of an axis")
  );
  const bits = log2(must(shape[inner], "extent"));
  let lineBits = 0;
  while (lineBits < bits && columns[lineBits] === must(columns[0], "column") << lineBits) {
    lineBits++;
  }
  return { inner, line: 1 << lineBits };
}

/** A box is a panel of the layout, or a part of one. `runs`: by axis, how many elements follow each other in the tensor. */
export function groupBox(type: IrType, runs: readonly number[]): GroupBox {
  const { shape, element } = type;
  const { inner, line } = linesOf(type);
  const across = 1 - inner;
  const swizzle = must(
    SWIZZLE_WIDTHS.find((bytes) => bytes === line * bytesOf(element)),
    "width of a line",
  );
  const lines = Math.min(MOST_BOX, must(runs[across], "run"));
  const indexOf = (along: number, other: number): number[] =>
    inner === 0 ? [along, other] : [other, along];
  const origins: number[][] = [];
  for (let along = 0; along < must(shape[inner], "extent"); along += line) {
    for (let other = 0; other < must(shape[across], "extent"); other += lines) {
      origins.push(indexOf(along, other));
    }
  }
  return { extents: indexOf(line, lines), swizzle, origins };
}

const SWIZZLE_WIDTHS = [32, 64, 128] as const;

/** What swizzles repeat after: the address of a buffer with one must be a multiple of it (PTX ISA 9.0, 9.7.15.5.1). */
const SWIZZLE_BYTES = 1024;

/** What the addresses of buffers must be multiples of for the dots of warp groups that read them; 1 without any. */
export function swizzleAlignment({ body }: Func): number {
  let alignment = 1;
  walkOps(body, ({ name }) => {
    if (name === "warp_group_dot" || name === "register_group_dot") alignment = SWIZZLE_BYTES;
  });
  return alignment;
}

/** Bits of a matrix descriptor (PTX ISA 9.0, 9.7.15.5.1.2.2), and what the instruction must know besides. */
export interface GroupOperand {
  /** All but the start address. */
  readonly descriptor: bigint;
  /** Whether elements lie along m or n. */
  readonly isTransposed: boolean;
  /** Bytes from the tile's start to the part at an element along m or n, and one along k. */
  readonly offset: (across: number, k: number) => number;
}

/** Swizzling modes by the bytes of a line. */
const SWIZZLES: ReadonlyMap<number, bigint> = new Map([[128, 1n], [64, 2n], [32, 3n]]);

/** An operand in a layout of {@linkcode groupLayout}; `depthAxis` is the axis of its tile that is k. */
export function groupOperand(type: IrType, depthAxis: number): GroupOperand {
  const { shape } = type;
  const { inner, line } = linesOf(type);
  const bytes = bytesOf(type.element);
  const lineBytes = line * bytes;
  const panelBytes = must(shape[1 - inner], "extent") * lineBytes;
  const isTransposed = inner !== depthAxis;
  const units = (value: number): bigint => BigInt(value >> 4);
  return {
    descriptor: must(SWIZZLES.get(lineBytes), "swizzle") << 62n |
      units(SWIZZLE_LINES * lineBytes) << 32n |
      (isTransposed ? units(panelBytes) : 1n) << 16n,
    isTransposed,
    offset: (across, k) => {
      const [along, lines] = isTransposed ? [across, k] : [k, across];
      return Math.floor(along / line) * panelBytes + lines * lineBytes + (along % line) * bytes;
    },
  };
}
