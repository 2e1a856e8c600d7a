/**
 * The left operand of a dot of warp groups in registers: fragments that threads have computed, or that they read from a
 * slot where elements lie across k (layout/operands/register_operand.ts). Elements of four bytes are read as they are. Of those of
 * one byte `ldmatrix` reads pairs across k, transposed as if they were elements of two bytes, and each register of the
 * fragment gets four bytes of two words. The rows of such a matrix are two of each four lines (0, 1, 4, 5, 8, 9, 12, 13),
 * so that two of them share banks in a swizzle that repeats after eight lines, and an access takes two passes.
 * Source: PTX ISA 9.0, 9.7.15.5.1.1 and 9.7.14.5.15.
 */
import type { OpOf, Value } from "../../ir/func.ts";
import { operandsOf } from "../../ir/op.ts";
import { bytesOf, type IrType } from "../../ir/types.ts";
import { leftFragments } from "../../layout/operands/register_operand.ts";
import { layoutOf } from "../../layout/tiles.ts";
import { depthOf, GROUP_ROWS, GROUP_WARPS } from "../../layout/warp_group.ts";
import { type LinearLayout, ofAxis } from "../../linear/linear.ts";
import type { Operand } from "../../ptx/func.ts";
import type { LowerContext, Lowered } from "../context.ts";
import { packAccess } from "../element.ts";
import { readPairs } from "../memory/paired_bytes.ts";
import { slotOf } from "../memory/shared_buffer.ts";
import { readSharedTile, type SharedTile } from "../memory/shared_tile.ts";
import { lowered, ofRegister } from "../values.ts";
import { times } from "../../support/times.ts";

/** What instructions take as a: a descriptor, or the registers of a fragment. */
export interface Left {
  readonly at: (across: number, k: number) => Operand;
  /** Whether elements lie across k; undefined: they are in registers. */
  readonly isTransposed: boolean | undefined;
  /** Reads fragments from a slot, of elements along k from one to another, which `at` then gives. */
  readonly read?: (from: number, to: number) => void;
}

/** Lanes of a warp that hold a fragment. */
const LANES = 32;

/** A thread's elements of a fragment: m64 has 16 rows in each warp, as a fragment of `mma` has. */
const elementsOf = (type: IrType): number => depthOf(type) * GROUP_ROWS / GROUP_WARPS / LANES;

function fragment(cx: LowerContext, values: Lowered, type: IrType, index: number): Operand {
  const count = elementsOf(type);
  const refs = times(count, (i) => values(index * count + i));
  const words = packAccess(cx.emitter, refs, type.element);
  return { kind: "vector", elements: words.map((word) => cx.emitter.inRegister(word, "b32")) };
}

export function fragmentsOf(cx: LowerContext, value: Value): Left {
  const { type } = value;
  const fragments = times(
    ofAxis(type.shape, 1) / depthOf(type),
    (index) => fragment(cx, lowered(cx, value), type, index),
  );
  return {
    at: (_, k) => ofRegister(fragments, k / depthOf(type)),
    isTransposed: undefined,
  };
}

/** The fragments of one step along k of an operand, by the first row of each, computed here. */
export function computeStep(
  cx: LowerContext,
  value: Value,
  rows: readonly number[],
  k: number,
): ReadonlyMap<number, Operand> {
  const { type } = value;
  const steps = ofAxis(type.shape, 1) / depthOf(type);
  const values = lowered(cx, value);
  return new Map([...new Set(rows)].map((row) => {
    const index = row / GROUP_ROWS * steps + k / depthOf(type);
    return [row, fragment(cx, values, type, index)];
  }));
}

/** Fragments that threads read from the slot of a. */
export function readFragments(cx: LowerContext, op: OpOf<"warp_group_dot">): Left {
  const { sum, a, a_slot } = operandsOf(op);
  const { type } = a;
  const layout = leftFragments(type, op.attrs.a_depth, layoutOf(sum));
  const tile = slotOf(cx, { buffer: a, slot: a_slot });
  const values = bytesOf(type.element) === 1
    ? readPairs(cx, layout, tile, WORD_BITS).values
    : readVectors(cx, layout, tile);
  const step = depthOf(type);
  const depth = ofAxis(type.shape, op.attrs.a_depth);
  const rows = (1 << layout.register.length) * step / (depth * elementsOf(type));
  const indexOf = (row: number, k: number): number => (row * depth + k) / step;
  const known: Operand[] = [];
  return {
    at: (across, k) => ofRegister(known, indexOf(across / GROUP_ROWS, k)),
    isTransposed: undefined,
    read: (from, to) => {
      for (let row = 0; row < rows; row++) {
        for (let k = from; k < to; k += step) {
          const index = indexOf(row, k);
          known[index] = fragment(cx, values, type, index);
        }
      }
    },
  };
}

function readVectors(cx: LowerContext, layout: LinearLayout, tile: SharedTile): Lowered {
  const { columns } = tile.plan;
  const vectorBits = columns.findIndex((column) => !layout.register.includes(column));
  return readSharedTile(cx, layout, { ...tile, plan: { columns, vectorBits } }).values;
}

/** Bits of a register's number: elements of a word along k, above which is the pair of rows. */
const WORD_BITS = 2;
