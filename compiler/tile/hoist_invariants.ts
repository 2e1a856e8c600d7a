/**
 * Moves pure operations whose operands do not change in a loop to before it. Nothing pure can fail, so it may
 * run even if the loop does not. Operations inside an `if` of the loop stay: they may be rare.
 */
import type { Func, Op, Region, Value } from "../ir/func.ts";
import { rowOf } from "../ir/table.ts";
import type { PlainPass } from "./pass.ts";

export const hoistInvariants: PlainPass = {
  name: "hoist-invariants",
  doc: "moves pure operations that do not change in a loop to before it",
  run,
};

function run(func: Func): boolean {
  const hoister = new Hoister();
  for (const param of func.params) hoister.depths.set(param, 0);
  hoister.region(func.body, 0);
  return hoister.changed;
}

class Hoister {
  changed = false;
  /** In how many loops each value is defined. */
  readonly depths = new Map<Value, number>();

  region(region: Region, depth: number): void {
    const ops: Op[] = [];
    for (const op of region.ops) {
      if (op.name === "while") {
        // Innermost first: what leaves an inner loop may leave this one next.
        for (const inner of op.regions) ops.push(...this.#loop(inner, depth + 1));
      } else {
        for (const inner of op.regions) this.region(inner, depth);
      }
      for (const result of op.results) this.depths.set(result, depth);
      ops.push(op);
    }
    region.ops = ops;
  }

  /** Gives the operations that may leave the loop. */
  #loop(region: Region, depth: number): Op[] {
    for (const param of region.params) this.depths.set(param, depth);
    this.region(region, depth);
    const left: Op[] = [];
    region.ops = region.ops.filter((op) => {
      const stays = rowOf(op).effect !== "pure" ||
        op.operands.some((value) => this.depths.get(value) === depth);
      if (stays) return true;
      for (const result of op.results) this.depths.set(result, depth - 1);
      left.push(op);
      return false;
    });
    this.changed ||= left.length > 0;
    return left;
  }
}
