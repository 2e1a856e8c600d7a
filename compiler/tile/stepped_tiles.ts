/**
 * Tiles of integers that a loop with a dot moves by the same amount in each iteration are what they begin as, and a number that
 * the loop carries in their place:
 *
 *     rk = 0 ... 32                               rk = 0 ... 32
 *     while … (rk)                                while … (s)            s begins as 0
 *       a = load p, rk < K               ─▶         a = load p, rk + s < K
 *       rk = rk + 32                                s = s + 32
 *
 * A carried tile has one layout, so the masks of both operands would exchange it in each iteration; this one is computed where
 * it is needed. Sums that wrap are the same in any order.
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
import { constantOf, madeBy, operandsOf, resultOf } from "../ir/op.ts";
import { sourcesFirst } from "../ir/order.ts";
import { rowOf } from "../ir/table.ts";
import { isPointer, scalarType } from "../ir/types.ts";
import { countUses, definedIn, replaceUsesIn, walkOps } from "../ir/walk.ts";
import type { Span } from "../support/source.ts";
import { SCALARS } from "../support/scalar.ts";
import type { PlainPass } from "./pass.ts";

export const steppedTiles: PlainPass = {
  name: "stepped-tiles",
  doc: "tiles of integers that loops with dots move are what they begin as, and a number",
  run: (func) => {
    const loops: OpOf<"while">[] = [];
    walkOps(func.body, (op) => {
      if (op.name === "while" && loopOf(op).body.ops.some(({ name }) => name === "dot")) {
        loops.push(op);
      }
    });
    const uses = countUses(func);
    const moved = loops.map((loop) => {
      const tiles = steppedOf(loop, uses);
      tiles.forEach((tile) => moveScalar(func, loop, tile));
      return tiles.length > 0;
    });
    return moved.some((one) => one);
  },
};

interface Stepped {
  readonly initial: Value;
  readonly inTest: Value;
  readonly inBody: Value;
  /** A number from outside of the loop; or a constant. */
  readonly step: Value | bigint;
}

/** The tiles that a loop moves, and that nothing behind it takes. */
function steppedOf(loop: OpOf<"while">, uses: ReadonlyMap<Value, number>): readonly Stepped[] {
  const { test, body, initial, leaving, repeated } = loopOf(loop);
  const inside = definedIn(test, body);
  return test.params.flatMap((inTest, index): Stepped[] => {
    const { element, shape } = inTest.type;
    const isInt = !isPointer(element) && element !== "bool" && SCALARS[element].class === "int";
    const at = leaving.indexOf(inTest);
    const [inBody, result, begin, next] = [
      body.params[at],
      loop.results[at],
      initial[index],
      repeated[index],
    ];
    const isPassed = at >= 0 && leaving.lastIndexOf(inTest) === at;
    const sum = madeBy(next, "add");
    if (!isInt || shape.length === 0 || !isPassed || sum === undefined) return [];
    const { left, right } = operandsOf(sum);
    const step = left === inBody ? stepOf(right, inside) : undefined;
    const isLast = result === undefined || (uses.get(result) ?? 0) === 0;
    return begin !== undefined && inBody !== undefined && step !== undefined && isLast &&
        isComputed(begin)
      ? [{ initial: begin, inTest, inBody, step }]
      : [];
  });
}

/** The number that all elements of a tile are. */
function stepOf(value: Value, inside: ReadonlySet<Value>): Value | bigint | undefined {
  const constant = constantOf(value);
  if (typeof constant === "bigint") return constant;
  const splat = madeBy(value, "splat");
  const scalar = splat && operandsOf(splat).value;
  return scalar === undefined || inside.has(scalar) ? undefined : scalar;
}

/** Whether threads can compute a tile again: it depends on no memory, and no loop carries it. */
function isComputed(value: Value): boolean {
  return sourcesFirst(value, () => false).every(({ def, type: { shape } }) =>
    def === undefined
      ? shape.length === 0
      : rowOf(def).effect === "pure" && def.regions.length === 0
  );
}

/** Lets a loop carry how far a tile has moved; nothing takes what it carried before. */
function moveScalar(func: Func, loop: OpOf<"while">, tile: Stepped): void {
  const { initial, inTest, inBody, step } = tile;
  const { test, body, condition, end } = loopOf(loop);
  const { span } = loop;
  const type = scalarType(initial.type.element);
  const zero = newOp(func, "constant", [], [type], span, { value: 0n });
  const [entering, moved, result] = [
    newValue(func, type),
    newValue(func, type),
    newValue(func, type),
  ];
  result.def = loop;
  const before: Op[] = [zero];
  loop.operands.push(resultOf(zero));
  loop.results.push(result);
  test.params.push(entering);
  condition.operands.push(entering);
  body.params.push(moved);
  const inOrder: Op[] = [];
  const far = typeof step === "bigint"
    ? resultOf(put(inOrder, newOp(func, "constant", [], [type], span, { value: step })))
    : step;
  end.operands.push(resultOf(put(inOrder, newOp(func, "add", [moved, far], [type], span))));
  body.ops.splice(body.ops.length - 1, 0, ...inOrder);
  insertBefore(func, loop, before);
  for (const [region, param, by] of [[test, inTest, entering], [body, inBody, moved]] as const) {
    const [tileOf, ops] = movedTile(func, initial, by, span);
    takeNames(tileOf, param);
    const passed = region === test ? [...condition.operands] : undefined;
    replaceUsesIn(region, new Map([[param, tileOf]]));
    // The loop goes on to carry it, until it is found to be dead.
    if (passed !== undefined) condition.operands.splice(0, passed.length, ...passed);
    region.ops.unshift(...ops);
  }
}

/** The tile after it has moved. */
function movedTile(func: Func, initial: Value, by: Value, span: Span): [Value, readonly Op[]] {
  const { type } = initial;
  const spread = newOp(func, "splat", [by], [type], span);
  const sum = newOp(func, "add", [initial, resultOf(spread)], [type], span);
  return [resultOf(sum), [spread, sum]];
}

function put(ops: Op[], op: Op): Op {
  ops.push(op);
  return op;
}

/** Puts operations before another one. */
function insertBefore({ body }: Func, place: Op, ops: readonly Op[]): void {
  const insert = (region: { ops: Op[] }): boolean => {
    const at = region.ops.indexOf(place);
    if (at >= 0) region.ops.splice(at, 0, ...ops);
    return at >= 0 || region.ops.some((op) => op.regions.some(insert));
  };
  insert(body);
}
