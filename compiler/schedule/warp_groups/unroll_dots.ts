/**
 * Unrolls loops around a dot of warp groups that is apart, so that the last part of a dot is under way while the first one of
 * the next begins. Of two iterations:
 *
 *     while (test) {                       while (test) {
 *       start the dot                        start the dot; …
 *       …                                    finish all of it but the last part
 *       finish it                            if (!test) { add that part; break }
 *     }                                      start the next dot; add that part; …
 *                                            finish it
 *                                          }
 *
 * Operations and sums keep their order, so results keep their bits, whatever the number of iterations. A part may be under
 * way at a branch, but not at the end of the loop: ptxas 13.0 then lets the instructions wait for each other (C7514). Lowering
 * makes the copies (lower/control.ts).
 *
 * Not unrolled are loops that free a slot before the next dot has begun, and those whose threads read a from its slot: two
 * sets of fragments leave too few registers.
 */
import { loopOf } from "../../ir/flow.ts";
import { type Func, type Op, type OpOf, setAttrs, type Value } from "../../ir/func.ts";
import { madeBy, operandsOf, resultOf } from "../../ir/op.ts";
import { isRotated } from "../../ir/rotated_loop.ts";
import { rowOf } from "../../ir/table.ts";
import { countUses, walkOps } from "../../ir/walk.ts";
import type { PlainPass } from "../../tile/pass.ts";

/** Iterations that follow each other. Two gain most of what more do, and four 1 % more (tests/gpu/results/products.md). */
const ITERATIONS = 4;

export const unrollDots: PlainPass = {
  name: "unroll-dots",
  doc: "iterations follow each other while the last part of a dot of warp groups is under way",
  run: (func: Func) => {
    const uses = countUses(func);
    let isChanged = false;
    walkOps(func.body, (op) => {
      if (op.name !== "while" || !endsWithDot(op, uses)) return;
      setAttrs(op, { unrolled: ITERATIONS });
      isChanged = true;
    });
    return isChanged;
  },
};

/** Whether a loop finishes a dot that adds to a sum which it carries, and the next iteration may begin before that is done. */
function endsWithDot(loop: OpOf<"while">, uses: ReadonlyMap<Value, number>): boolean {
  const { test, body: { ops, params }, leaving, repeated } = loopOf(loop);
  const finish = ops.find((op) => op.name === "finish_dot");
  const dot = finish && madeBy(operandsOf(finish).dot, "warp_group_dot");
  if (finish === undefined || dot === undefined || dot.attrs.registers === true) return false;
  const { sum } = operandsOf(dot);
  const entered = leaving[params.indexOf(sum)];
  const isCarried = entered !== undefined && uses.get(sum) === 1 &&
    repeated[test.params.indexOf(entered)] === resultOf(finish);
  return isCarried && isRotated(test) && ops.slice(0, ops.indexOf(dot)).every(keepsSlots) &&
    ops.slice(ops.indexOf(finish) + 1, -1).every(keepsSlots);
}

/** Lets no thread and no copy write to a slot that a dot may still read. */
function keepsSlots(op: Op): boolean {
  return op.name === "mbarrier_wait" || rowOf(op).effect === "pure";
}
