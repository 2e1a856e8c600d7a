/**
 * Dots of warp groups (`wgmma`): four warps multiply matrices that lie in shared memory, 64 rows of the result at a time,
 * 16 to each warp. Which dots are done so, how their warps divide the result, and where their operands lie.
 *
 * The sums of a warp are fragments as of `mma` with 16 rows, so a dot that was laid out for warp groups and whose
 * operands turn out not to be in shared memory is done by `mma` instead, in the same layout.
 * Source: PTX ISA 9.0, 9.7.15.5 "Asynchronous wgmma.mma_async: register fragments, shared memory matrix layout".
 */
import { type Func, isOp, type OpOf, type Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { bytesOf, type IrType, isPointer } from "../ir/types.ts";
import { walkOps } from "../ir/walk.ts";
import { axisShifts, log2 } from "../linear/linear.ts";
import type { SharedLayout } from "../linear/shared_layout.ts";
import { must } from "../support/bug.ts";
import type { ScalarName } from "../support/scalar.ts";
import type { Target } from "../targets.ts";

/** Warps of a group, and rows of the result that each has of an instruction. */
const GROUP_WARPS = 4;
const WARP_ROWS = 16;
/** Rows of the result that one instruction computes, the most columns, and the depth for elements of two bytes. */
export const GROUP_ROWS = GROUP_WARPS * WARP_ROWS;
export const MOST_COLUMNS = 256;
export const DEPTH = 16;

/** Elements that may lie in either order, along k or across it. */
const ELEMENTS: Partial<Record<ScalarName, string>> = { float16: "f16", bfloat16: "bf16" };

/** How the instruction spells the type of an operand; undefined if it is not among those that go either way. */
export function groupType(value: Value): string | undefined {
  const { element } = value.type;
  return isPointer(element) ? undefined : ELEMENTS[element];
}

/** Whether a value is a tile as a load brings it, maybe permuted. */
function isLoaded(value: Value): boolean {
  let { def } = value;
  while (isOp(def, "permute") || isOp(def, "convert_layout")) ({ def } = operandsOf(def).value);
  return isOp(def, "load") && operandsOf(def).other === undefined;
}

/** Whether a dot's warps are to be divided for warp groups: its operands can come through shared memory. */
export function suitsWarpGroups(dot: OpOf<"dot">, numWarps: number, target: Target): boolean {
  const { a, b } = operandsOf(dot);
  if (a.type.shape.length !== 2) return false;
  const [m = 0, k = 0] = a.type.shape;
  const n = b.type.shape[1] ?? 0;
  const columns = columnsOf(m, n, numWarps);
  return numWarps >= GROUP_WARPS && m >= GROUP_ROWS && k >= DEPTH && columns !== undefined &&
    groupType(a) !== undefined &&
    groupType(a) === groupType(b) && resultOf(dot).type.element === "float32" &&
    isLoaded(a) && isLoaded(b) && target.warpGroups;
}

/** Columns that a warp group has of the result; undefined if there are more groups than parts for them. */
function columnsOf(m: number, n: number, numWarps: number): number | undefined {
  const groups = numWarps / GROUP_WARPS;
  const columns = n / Math.max(1, groups / (m / GROUP_ROWS));
  return columns >= LINE_ELEMENTS ? columns : undefined;
}

/** Bits of the rows that tell the warps of a group apart. */
export const WARP_BITS: readonly number[] = [log2(WARP_ROWS), log2(WARP_ROWS) + 1];

/** Elements of two bytes in the widest line of a swizzle, 128 bytes; and in a chunk, 16 bytes. */
const LINE_ELEMENTS = 64;
const CHUNK_BITS = 3;
/** Lines after which a swizzle repeats. */
const SWIZZLE_LINES = 8;

/**
 * Where the elements of an operand lie: in panels as wide as a line, whose lines go along the axis `inner`. The chunks
 * of a line are exchanged by exclusive or with the line's number, which is the bit above 128 bytes for each width of a line:
 * offset bit 6 + j is an element's line bit and chunk bit 3 + j.
 */
export function groupLayout({ shape }: IrType, inner: 0 | 1): SharedLayout | undefined {
  const shifts = axisShifts(shape);
  const bitsOf = (axis: number): number[] =>
    Array.from(
      { length: log2(must(shape[axis], "extent")) },
      (_, bit) => 1 << (must(shifts[axis], "shift of an axis") + bit),
    );
  const [along, across] = [bitsOf(inner), bitsOf(1 - inner)];
  const lineBits = Math.min(along.length, log2(LINE_ELEMENTS));
  if (lineBits <= CHUNK_BITS || across.length < log2(SWIZZLE_LINES)) return undefined;
  const columns = [...along.slice(0, lineBits), ...across, ...along.slice(lineBits)];
  for (let bit = CHUNK_BITS; bit < lineBits; bit++) {
    const above = must(columns[bit + CHUNK_BITS], "line bit");
    columns[bit + CHUNK_BITS] = above ^ must(columns[bit], "chunk bit");
  }
  return { shape, columns, vectorBits: CHUNK_BITS };
}

/** What swizzles repeat after: the address of a buffer with one must be a multiple of it (PTX ISA 9.0, 9.7.15.5.1). */
const SWIZZLE_BYTES = 1024;

/** What the addresses of buffers must be multiples of for the dots of warp groups that read them; 1 without any. */
export function swizzleAlignment({ body }: Func): number {
  let alignment = 1;
  walkOps(body, ({ name }) => {
    if (name === "warp_group_dot") alignment = SWIZZLE_BYTES;
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

/** Swizzling modes by log2 of the elements of a line. */
const SWIZZLES: ReadonlyMap<number, bigint> = new Map([[6, 1n], [5, 2n], [4, 3n]]);

/** An operand in a layout of {@linkcode groupLayout}; `depthAxis` is the axis of its tile that is k. */
export function groupOperand(type: IrType, depthAxis: number): GroupOperand {
  const { shape, shared } = type;
  const shifts = axisShifts(shape);
  const first = must(shared?.columns[0], "buffer of an operand");
  const inner = shape.findIndex((_, axis) => first === 1 << must(shifts[axis], "shift of an axis"));
  const bytes = bytesOf(type.element);
  const line = Math.min(must(shape[inner], "extent"), LINE_ELEMENTS);
  const lineBytes = line * bytes;
  const panelBytes = must(shape[1 - inner], "extent") * lineBytes;
  const isTransposed = inner !== depthAxis;
  const units = (value: number): bigint => BigInt(value >> 4);
  return {
    descriptor: must(SWIZZLES.get(log2(line)), "swizzle") << 62n |
      units(SWIZZLE_LINES * lineBytes) << 32n |
      (isTransposed ? units(panelBytes) : 1n) << 16n,
    isTransposed,
    offset: (across, k) => {
      const [along, lines] = isTransposed ? [across, k] : [k, across];
      return Math.floor(along / line) * panelBytes + lines * lineBytes + (along % line) * bytes;
    },
  };
}
