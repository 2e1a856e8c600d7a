/**
 * Axis analysis: what is known of the elements of a value along each axis, for vector accesses (axis_rules.ts).
 *
 * Of what a loop carries, first everything is assumed that holds before it; then iterations are analysed until one
 * leaves all of it true. What comes out of branches is known as far as all of them agree.
 */
import { branchOf, type Loop, loopOf } from "../ir/flow.ts";
import type { Func, OpOf, Value } from "../ir/func.ts";
import type { TileOp } from "../ir/ops.ts";
import { inputsOf, sourcesFirst } from "../ir/order.ts";
import { bytesOf, isPointer } from "../ir/types.ts";
import { definedIn, walkOps } from "../ir/walk.ts";
import { must } from "../support/bug.ts";
import { zip } from "../support/zip.ts";
import { type Divisions, type Rule, RULES } from "./axis_rules.ts";
import { nonNegative } from "./non_negative.ts";
import { type AxisInfo, either, powerOfTwoIn, scalarInfo, unknown } from "./axis_info.ts";

export { type AxisInfo, MOST, powerOfTwoIn } from "./axis_info.ts";

/** What axis analysis has found about a value. */
export type AxisFacts = (value: Value) => AxisInfo;

const sameInfo = (a: AxisInfo, b: AxisInfo): boolean =>
  (["contiguity", "divisibility", "constancy"] as const).every((name) =>
    a[name].every((value, d) => value === b[name][d])
  );

/** Facts of every value of a function, computed on demand. */
export const axisAnalysis = (func: Func): AxisFacts => analysed(func, false);

/** What is likely where divisors are large: the axis along which `X[i % N]` follows its neighbours, whatever N is. */
export const likelyAxes = (func: Func): AxisFacts => analysed(func, true);

function analysed(func: Func, areLong: boolean): AxisFacts {
  const analysis = new Analysis(areLong);
  func.params.forEach((param, i) => {
    const element = param.type.element;
    const natural = isPointer(element) ? bytesOf(element.pointee) : 1;
    analysis.known.set(
      param,
      scalarInfo(Math.max(natural, powerOfTwoIn(func.paramFacts[i]?.multipleof ?? 1))),
    );
  });
  walkOps(func.body, (op) => {
    if (op.name !== "while") return;
    for (const { params } of op.regions) {
      for (const param of params) analysis.loops.set(param, op);
    }
  });
  return (value) => analysis.of(value);
}

class Analysis {
  readonly known = new Map<Value, AxisInfo>();
  /** The loop of each parameter of a region. */
  readonly loops = new Map<Value, OpOf<"while">>();
  readonly #divisions: Divisions;
  /** What is being computed. */
  readonly #open = new Set<Value>();
  readonly #used = new Map<OpOf<"while">, readonly Value[]>();
  /** What was found for parameters of loops, weaker with each iteration of an outer one. */
  readonly #solved = new Map<Value, AxisInfo>();

  constructor(areLong: boolean) {
    this.#divisions = { isNonNegative: nonNegative(this.loops), areLong };
  }

  of(value: Value): AxisInfo {
    const found = this.known.get(value);
    if (found !== undefined) return found;
    const isKnown = (one: Value): boolean => this.known.has(one);
    for (const one of sourcesFirst(value, isKnown, (at) => this.#sourcesOf(at))) {
      // Passes ask about functions that they are changing, where what is computed may lead back to itself.
      if (this.#open.has(one)) {
        this.known.set(one, unknown(one));
        continue;
      }
      this.#open.add(one);
      const loop = one.def === undefined ? this.loops.get(one) : undefined;
      if (loop !== undefined && !this.known.has(one)) this.#solve(loop);
      // Solving a loop may have found it.
      this.known.set(one, this.known.get(one) ?? this.#compute(one));
      this.#open.delete(one);
    }
    return must(this.known.get(value), "facts");
  }

  /** What must be known before a value: of a loop all that it uses, so that solving it needs nothing outside. */
  #sourcesOf(value: Value): readonly Value[] {
    const { def } = value;
    const loop = def === undefined ? this.loops.get(value) : def.name === "while" ? def : undefined;
    if (loop !== undefined) return this.#usedBy(loop);
    return def?.name === "if" ? yieldedFor(def, value) : inputsOf(value);
  }

  /** Values from outside of a loop. */
  #usedBy(loop: OpOf<"while">): readonly Value[] {
    let used = this.#used.get(loop);
    if (used === undefined) {
      const inside = definedIn(...loop.regions);
      const all = new Set(loop.operands);
      for (const region of loop.regions) {
        walkOps(region, ({ operands }) => operands.forEach((operand) => all.add(operand)));
      }
      used = [...all].filter((value) => !inside.has(value));
      this.#used.set(loop, used);
    }
    return used;
  }

  #compute(value: Value): AxisInfo {
    const { def } = value;
    if (def === undefined) return unknown(value);
    if (def.name === "while") {
      return this.of(must(loopOf(def).leaving[def.results.indexOf(value)], "carried value"));
    }
    if (def.name === "if") {
      const [then, otherwise] = yieldedFor(def, value);
      return either(value, this.of(then), this.of(otherwise));
    }
    return this.#byRule(def) ?? unknown(value);
  }

  #byRule<N extends TileOp>(op: OpOf<N>): AxisInfo | undefined {
    const rule: Rule<N> | undefined = RULES[op.name];
    return rule?.(op, (operand) => this.of(operand), this.#divisions);
  }

  /**
   * Finds what holds of a loop's parameters in every iteration. While an outer loop is solved, what is known outside of
   * this one only gets weaker, so what was found before bounds what will be found: without that, each of n nested
   * loops would be solved from the start for every iteration of the next outer one, 2^n times.
   */
  #solve(op: OpOf<"while">): void {
    const loop = loopOf(op);
    const { test, body } = loop;
    let entering = zip(test.params, loop.initial).map(([param, value]) => {
      const initial = this.of(value);
      const before = this.#solved.get(param);
      return before === undefined ? initial : either(param, before, initial);
    });
    for (;;) {
      this.#forget(loop);
      for (const [param, info] of zip(test.params, entering)) this.known.set(param, info);
      for (const [param, value] of zip(body.params, loop.leaving)) {
        this.known.set(param, this.of(value));
      }
      const next = zip(zip(test.params, entering), loop.repeated).map(([[param, info], value]) =>
        either(param, info, this.of(value))
      );
      if (zip(next, entering).every(([after, before]) => sameInfo(after, before))) break;
      entering = next;
    }
    for (const [param, info] of zip(test.params, entering)) this.#solved.set(param, info);
  }

  /** What was computed inside a loop holds no longer. */
  #forget({ test, body }: Loop): void {
    for (const value of definedIn(test, body)) this.known.delete(value);
  }
}

/** What the two branches yield for a result. */
function yieldedFor(op: OpOf<"if">, result: Value): readonly [Value, Value] {
  const { thenValues, otherwiseValues } = branchOf(op);
  const index = op.results.indexOf(result);
  return [must(thenValues[index], "then value"), must(otherwiseValues[index], "else value")];
}
