/**
 * Axis analysis: what is known of the elements of a value along each axis, for vector accesses (axis_rules.ts).
 *
 * Of what a loop carries, first everything is believed that holds before it; then rounds are looked at until one
 * leaves all of it true. What comes out of branches is known as far as all of them agree.
 */
import type { Func, Op, Value } from "../ir/func.ts";
import { operandsOf, sourcesFirst } from "../ir/order.ts";
import { bytesOf, isPointer } from "../ir/types.ts";
import { terminatorOf, walkOps } from "../ir/walk.ts";
import { must } from "../support/bug.ts";
import { type AxisInfo, either, powerOfTwoIn, RULES, scalarInfo, unknown } from "./axis_rules.ts";

export { type AxisInfo, MOST, powerOfTwoIn } from "./axis_rules.ts";

/** What axis analysis knows of a value. */
export type AxisFacts = (value: Value) => AxisInfo;

const sameInfo = (a: AxisInfo, b: AxisInfo): boolean =>
  (["contiguity", "divisibility", "constancy"] as const).every((name) =>
    a[name].every((value, d) => value === b[name][d])
  );

/** Facts of every value of a function, computed on demand. */
export function axisAnalysis(func: Func): AxisFacts {
  const analysis = new Analysis();
  func.params.forEach((param, i) => {
    const element = param.type.element;
    const natural = isPointer(element) ? bytesOf(element.pointee) : 1;
    analysis.known.set(
      param,
      scalarInfo(Math.max(natural, powerOfTwoIn(func.paramFacts[i]?.multipleof ?? 1))),
    );
  });
  walkOps(func.body, (op) => {
    for (const { params } of op.regions) {
      for (const param of params) analysis.loops.set(param, op);
    }
  });
  return (value) => analysis.of(value);
}

class Analysis {
  readonly known = new Map<Value, AxisInfo>();
  /** The loop of each parameter of a region. */
  readonly loops = new Map<Value, Op>();
  readonly #used = new Map<Op, readonly Value[]>();
  /** What was found for parameters of loops, weaker with each iteration of an outer one. */
  readonly #solved = new Map<Value, AxisInfo>();

  of(value: Value): AxisInfo {
    const isKnown = (one: Value): boolean => this.known.has(one);
    for (const one of sourcesFirst(value, isKnown, (at) => this.#sourcesOf(at))) {
      const loop = one.def === undefined ? this.loops.get(one) : undefined;
      if (loop !== undefined && !this.known.has(one)) this.#solve(loop);
      // Solving a loop may have found it.
      this.known.set(one, this.known.get(one) ?? this.#compute(one));
    }
    return must(this.known.get(value), "facts");
  }

  /** What must be known before a value: of a loop all that it uses, so that solving it asks for nothing outside. */
  #sourcesOf(value: Value): readonly Value[] {
    const { def } = value;
    const loop = def === undefined ? this.loops.get(value) : def.name === "while" ? def : undefined;
    if (loop !== undefined) return this.#usedBy(loop);
    if (def?.name !== "if") return operandsOf(value);
    const index = def.results.indexOf(value);
    return def.regions.map((region) => must(terminatorOf(region).operands[index], "yielded value"));
  }

  /** Values from outside of a loop. */
  #usedBy(loop: Op): readonly Value[] {
    let used = this.#used.get(loop);
    if (used === undefined) {
      const inside = new Set<Value>();
      const all = new Set(loop.operands);
      for (const region of loop.regions) {
        region.params.forEach((param) => inside.add(param));
        walkOps(region, (op) => {
          op.operands.forEach((operand) => all.add(operand));
          op.results.forEach((result) => inside.add(result));
          op.regions.forEach(({ params }) => params.forEach((param) => inside.add(param)));
        });
      }
      used = [...all].filter((value) => !inside.has(value));
      this.#used.set(loop, used);
    }
    return used;
  }

  #compute(value: Value): AxisInfo {
    const { def } = value;
    if (def === undefined) return unknown(value);
    if (def.name === "if" || def.name === "while") return this.#ofControl(def, value);
    return RULES[def.name]?.(def, (operand) => this.of(operand)) ?? unknown(value);
  }

  #ofControl(op: Op, value: Value): AxisInfo {
    const index = op.results.indexOf(value);
    const [first, second] = op.regions;
    if (first === undefined || second === undefined) return unknown(value);
    if (op.name === "while") {
      return this.of(must(terminatorOf(first).operands[index + 1], "carried value"));
    }
    const [then, otherwise] = [first, second].map((region) =>
      this.of(must(terminatorOf(region).operands[index], "yielded value"))
    );
    return either(value, must(then, "then"), must(otherwise, "else"));
  }

  /**
   * Finds what holds of a loop's parameters in every iteration. While an outer loop is solved, what is known outside of
   * this one only gets weaker, so what was found before bounds what will be found: without that, each of n nested
   * loops would be solved from the start for every iteration of the next outer one, 2^n times.
   */
  #solve(loop: Op): void {
    const [test, body] = [must(loop.regions[0], "test"), must(loop.regions[1], "body")];
    let entering = test.params.map((param, i) => {
      const initial = this.of(must(loop.operands[i], "initial value"));
      const before = this.#solved.get(param);
      return before === undefined ? initial : either(param, before, initial);
    });
    for (;;) {
      this.#forget(loop);
      test.params.forEach((param, i) => this.known.set(param, must(entering[i], "facts")));
      body.params.forEach((param, i) =>
        this.known.set(
          param,
          this.of(must(terminatorOf(test).operands[i + 1], "carried value")),
        )
      );
      const next = test.params.map((param, i) =>
        either(
          param,
          must(entering[i], "facts"),
          this.of(must(terminatorOf(body).operands[i], "yielded value")),
        )
      );
      if (next.every((info, i) => sameInfo(info, must(entering[i], "facts")))) break;
      entering = next;
    }
    test.params.forEach((param, i) => this.#solved.set(param, must(entering[i], "facts")));
  }

  /** What was computed inside a loop holds no longer. */
  #forget(loop: Op): void {
    for (const region of loop.regions) {
      for (const param of region.params) this.known.delete(param);
      walkOps(region, (op) => {
        for (const result of op.results) this.known.delete(result);
        for (const inner of op.regions) {
          for (const param of inner.params) this.known.delete(param);
        }
      });
    }
  }
}
