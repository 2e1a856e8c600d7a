/**
 * turnDots: a dot whose right operand warp groups can only take as a left one, from registers (register_operand.ts), or
 * compute there (computed_left.ts), becomes that of the operands transposed. The loop that adds to its sum carries the sum transposed:
 *
 *     while (sum) { sum + a @ b }    ─▶    transposed(while (transposed(sum)) { sum + transposed(b) @ transposed(a) })
 */
import { loopOf } from "../ir/flow.ts";
import {
  type Func,
  newOp,
  newValue,
  type Op,
  type OpOf,
  takeNames,
  type Value,
} from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import type { IrType } from "../ir/types.ts";
import { countUses, replaceUses, walkOps } from "../ir/walk.ts";
import { must } from "../support/bug.ts";
import type { Span } from "../support/source.ts";
import type { Pass, TargetContext } from "../tile/pass.ts";
import { isComputedRight, suitsComputedRight } from "./operands/computed_left.ts";
import { type DotUse, NO_USE } from "./dot.ts";
import { NaturalLayouts } from "./natural.ts";
import { suitsTurned } from "./operands/register_operand.ts";

export const turnDots: Pass<TargetContext> = {
  name: "turn-dots",
  doc: "transposes dots whose right operand warp groups could only take from registers",
  run: (func, context) => {
    let layouts: NaturalLayouts | undefined;
    const useOf = (dot: OpOf<"dot">): DotUse => {
      layouts ??= new NaturalLayouts(func, { ...context, axisInfo: context.axisInfo() });
      return layouts.dots.useOf(dot);
    };
    let isChanged = false;
    const visit = (ops: readonly Op[]): Op[] =>
      ops.flatMap((op) => {
        for (const region of op.regions) region.ops = visit(region.ops);
        const dot = op.name === "while" ? turnedDot(func, op, context, useOf) : undefined;
        if (op.name !== "while" || dot === undefined) return [op];
        isChanged = true;
        return turn(func, op, dot);
      });
    func.body.ops = visit(func.body.ops);
    return isChanged;
  },
};

/** The dot of a loop that is to be turned, and which of the values that the loop carries is its sum. */
interface TurnedDot {
  readonly dot: OpOf<"dot">;
  readonly index: number;
}

function turnedDot(
  func: Func,
  loop: OpOf<"while">,
  { numWarps, target }: TargetContext,
  useOf: (dot: OpOf<"dot">) => DotUse,
): TurnedDot | undefined {
  const { test, body, leaving, repeated } = loopOf(loop);
  const dots: OpOf<"dot">[] = [];
  walkOps(body, (op) => {
    if (op.name === "dot") dots.push(op);
  });
  const [dot] = dots;
  if (dot === undefined || dots.length > 1 || !body.ops.includes(dot)) return undefined;
  const computed = isComputedRight(dot);
  // Facts of loads and uses only for dots of such types; what the target has is asked last, so that others share the code.
  if (!computed && !suitsTurned(dot, numWarps, target, [true, false])) return undefined;
  const { sum } = operandsOf(dot);
  const index = body.params.indexOf(sum);
  const uses = countUses(func);
  const isCarried = index >= 0 && leaving[index] === test.params[index] &&
    repeated[index] === resultOf(dot) && uses.get(sum) === 1 && uses.get(resultOf(dot)) === 1 &&
    uses.get(must(test.params[index], "parameter")) === 1;
  const { chained, alongK, inWords } = isCarried ? useOf(dot) : NO_USE;
  const isTurned = !chained &&
    (computed
      ? suitsComputedRight(dot, numWarps, target, alongK[0])
      : inWords && suitsTurned(dot, numWarps, target, alongK));
  return isTurned ? { dot, index } : undefined;
}

const TURNED = [1, 0];

const turnedType = ({ element, shape }: IrType): IrType => ({ element, shape: shape.toReversed() });

function transposed(func: Func, value: Value, span: Span): Op {
  return newOp(func, "permute", [value], [turnedType(value.type)], span, { order: TURNED });
}

/** The loop with what comes before and after it. */
function turn(func: Func, loop: OpOf<"while">, { dot, index }: TurnedDot): Op[] {
  const { test, body, initial } = loopOf(loop);
  const { span } = dot;
  const replaced = new Map<Value, Value>();
  const put = (list: Value[]): Value => {
    const old = must(list[index], "carried value");
    const made = newValue(func, turnedType(old.type));
    takeNames(made, old);
    list[index] = made;
    replaced.set(old, made);
    return made;
  };
  const before = transposed(func, must(initial[index], "initial value"), span);
  loop.operands[index] = resultOf(before);
  put(test.params);
  const sum = put(body.params);
  const { a, b } = operandsOf(dot);
  const [left, right] = [transposed(func, b, span), transposed(func, a, span)];
  const operands = [resultOf(left), resultOf(right), sum];
  const product = newOp(func, "dot", operands, [sum.type], span, dot.attrs);
  takeNames(resultOf(product), resultOf(dot));
  replaced.set(resultOf(dot), resultOf(product));
  body.ops = body.ops.flatMap((op) => op === dot ? [left, right, product] : [op]);
  const result = must(loop.results[index], "result");
  const after = newOp(func, "permute", [result], [result.type], span, { order: TURNED });
  takeNames(resultOf(after), result);
  replaced.set(result, resultOf(after));
  replaceUses(func, replaced);
  result.type = turnedType(result.type);
  after.operands[0] = result;
  return [before, loop, after];
}
