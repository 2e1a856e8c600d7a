/** What an element of an operation's result is, once more: from elements of its operands, or not at all. */
import type { Op, OpOf, Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import type { TileOp } from "../ir/ops.ts";
import { bytesOf, isPointer } from "../ir/types.ts";
import { product } from "../linear/linear.ts";
import type { ScalarValue } from "../support/arith.ts";
import { applyRule, FOLDABLE } from "../tile/fold.ts";

/** Where an operation is repeated. */
export interface Surroundings {
  readonly program: readonly number[];
  readonly grid: readonly number[];
  /** An element of an operand, by its row-major index. */
  readonly at: (value: Value, index: number) => ScalarValue | undefined;
  /** What a load gives, if memory is still what it was. */
  readonly load: (op: Op, address: bigint) => ScalarValue | undefined;
}

/** Undefined: it cannot be repeated. */
type Element = ScalarValue | undefined;

/** An element of the result. */
type Rule<N extends TileOp> = (
  op: OpOf<N>,
  index: number,
  around: Surroundings,
) => Element;

const FOLDS: ReadonlySet<string> = new Set(FOLDABLE);

/** The operations whose elements are not made from the same elements of all operands. */
const RULES: { readonly [N in TileOp]?: Rule<N> } = {
  constant: ({ attrs }) => attrs.value,
  range: ({ attrs: { lo } }, index) => BigInt(lo) + BigInt(index),
  program_id: ({ attrs: { axis } }, _index, { program }) => BigInt(program[axis] ?? 0),
  num_programs: ({ attrs: { axis } }, _index, { grid }) => BigInt(grid[axis] ?? 1),
  select(op, index, { at }): Element {
    const { condition, then, otherwise } = operandsOf(op);
    const decides = at(condition, index);
    return decides === undefined ? undefined : at(decides === 0n ? otherwise : then, index);
  },
  offset(op, index, { at }): Element {
    const { pointer, count } = operandsOf(op);
    const [base, steps] = [at(pointer, index), at(count, index)];
    const { element } = pointer.type;
    if (typeof base !== "bigint" || typeof steps !== "bigint" || !isPointer(element)) {
      return undefined;
    }
    return BigInt.asUintN(64, base + steps * BigInt(bytesOf(element.pointee)));
  },
  splat: (op, _index, { at }) => at(operandsOf(op).value, 0),
  broadcast(op, index, { at }): Element {
    const { value } = operandsOf(op);
    return at(value, narrowed(index, resultOf(op).type.shape, value.type.shape));
  },
  permute(op, index, { at }): Element {
    const { value } = operandsOf(op);
    return at(value, permuted(index, value.type.shape, op.attrs.order));
  },
  load(op, index, { at, load }): Element {
    const { pointer, mask, other } = operandsOf(op);
    const reads = mask === undefined ? 1n : at(mask, index);
    if (reads === 0n) return other && at(other, index);
    const address = reads === undefined ? undefined : at(pointer, index);
    return typeof address === "bigint" ? load(op, address) : undefined;
  },
  // What approximations give is not what rounding would give.
  math: () => undefined,
};

/** An element of the result of an operation; undefined where it cannot be repeated. */
export function repeat<N extends TileOp>(
  op: OpOf<N>,
  index: number,
  around: Surroundings,
): ScalarValue | undefined {
  const rule: Rule<N> | undefined = RULES[op.name];
  if (rule !== undefined) return rule(op, index, around);
  if (!FOLDS.has(op.name)) return undefined;
  const values: ScalarValue[] = [];
  for (const operand of op.operands) {
    const element = around.at(operand, index);
    if (element === undefined) return undefined;
    values.push(element);
  }
  return applyRule(op, values);
}

/** The index of the element that is repeated, in the operand of a broadcast. */
function narrowed(index: number, shape: readonly number[], from: readonly number[]): number {
  let [rest, result, stride] = [index, 0, 1];
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const [extent, own] = [shape[axis] ?? 1, from[axis] ?? 1];
    result += stride * (own === 1 ? 0 : rest % extent);
    stride *= own;
    rest = Math.floor(rest / extent);
  }
  return result;
}

/** The index in the operand of a permutation; axis d of its result is axis `order[d]` of the operand. */
function permuted(index: number, from: readonly number[], order: readonly number[]): number {
  const strides = from.map((_, axis) => product(from.slice(axis + 1)));
  let [rest, result] = [index, 0];
  for (const source of order.toReversed()) {
    const extent = from[source] ?? 1;
    result += (rest % extent) * (strides[source] ?? 1);
    rest = Math.floor(rest / extent);
  }
  return result;
}
