/**
 * Which values differ from an earlier one by the same amount in every element: `p += 64`, `r = r + i`. Such a
 * tile moves as a whole, through loops and branches too.
 */
import type { Func, Op, Region, Value } from "../ir/func.ts";
import { TILE_OPS } from "../ir/ops.ts";
import { sourcesFirst } from "../ir/order.ts";
import { terminatorOf, walkOps } from "../ir/walk.ts";

/** Element-wise operations that add their second operand. */
const ADDING: ReadonlySet<string> = new Set(["add", "sub", "offset"]);
const SHAPING: ReadonlySet<string> = new Set(["expand_dims", "broadcast", "reshape", "permute"]);

/** Tells which values are equal in all elements. */
function uniformity(): (value: Value) => boolean {
  const known = new Map<Value, boolean>();
  const isPlain = ({ def, type }: Value): boolean =>
    type.shape.length === 0 || def?.name === "splat" || def?.name === "constant";
  const sourcesOf = (value: Value): readonly Value[] => {
    const { def } = value;
    const isFollowed = def !== undefined && !isPlain(value) &&
      (SHAPING.has(def.name) || "elementwise" in TILE_OPS[def.name]);
    return isFollowed ? def.operands : [];
  };
  return (value) => {
    for (const one of sourcesFirst(value, (at) => known.has(at), sourcesOf)) {
      const sources = sourcesOf(one);
      known.set(one, isPlain(one) || (sources.length > 0 && sources.every((at) => known.get(at))));
    }
    return known.get(value) === true;
  };
}

/** For each value the one it steps from; itself where nothing is known. */
export function originsOf(func: Func): (value: Value) => Value {
  const origins = new Map<Value, Value>();
  const of = (value: Value): Value => origins.get(value) ?? value;
  const isUniform = uniformity();

  const visit = (op: Op): void => {
    const [a, b] = op.operands;
    const [result] = op.results;
    if (op.name === "if") {
      op.regions.forEach((region) => region.ops.forEach(visit));
      const [then, otherwise] = op.regions.map((region) => terminatorOf(region).operands.map(of));
      op.results.forEach((one, i) => {
        const origin = then?.[i];
        // An earlier look at a loop around it may have found them equal.
        if (origin !== undefined && origin === otherwise?.[i]) origins.set(one, origin);
        else origins.delete(one);
      });
    } else if (op.name === "while") visitLoop(op);
    else if (ADDING.has(op.name) && a !== undefined && b !== undefined && result !== undefined) {
      if (isUniform(b)) origins.set(result, of(a));
      else if (op.name === "add" && isUniform(a)) origins.set(result, of(b));
    }
  };

  /**
   * Carried values that have another origin in some iteration. While an outer loop is visited again and again, ever
   * fewer values have one origin, so what was found here stays found: each visit of n nested loops would else begin
   * anew for each of the next outer one, 2^n times.
   */
  const restless = new Set<Value>();
  const madeIn = new Map<Op, ReadonlySet<Value>>();

  /** A carried value steps from where the initial one does, unless a round gives it another origin. */
  const visitLoop = (op: Op): void => {
    const [test, body] = op.regions;
    if (test === undefined || body === undefined) return;
    const [leaving, yielded] = [terminatorOf(test).operands.slice(1), terminatorOf(body).operands];
    const ofRound = madeIn.get(op) ?? definedIn(test);
    madeIn.set(op, ofRound);
    for (let changed = true; changed;) {
      test.params.forEach((param, i) => {
        const value = op.operands[i];
        origins.set(param, value === undefined || restless.has(param) ? param : of(value));
      });
      test.ops.forEach(visit);
      body.params.forEach((param, i) => {
        const value = leaving[i];
        // What a round makes anew is no origin of what all rounds see.
        origins.set(param, value === undefined || ofRound.has(of(value)) ? param : of(value));
      });
      body.ops.forEach(visit);
      changed = false;
      test.params.forEach((param, i) => {
        const value = yielded[i];
        if (restless.has(param) || (value !== undefined && of(value) === of(param))) return;
        restless.add(param);
        changed = true;
      });
    }
    op.results.forEach((one, i) => {
      const value = leaving[i];
      if (value !== undefined) origins.set(one, of(value));
    });
  };

  func.body.ops.forEach(visit);
  return of;
}

function definedIn(region: Region): ReadonlySet<Value> {
  const values = new Set(region.params);
  walkOps(region, (op) => {
    op.results.forEach((value) => values.add(value));
    op.regions.forEach(({ params }) => params.forEach((value) => values.add(value)));
  });
  return values;
}
