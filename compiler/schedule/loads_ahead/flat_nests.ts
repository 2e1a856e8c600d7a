/**
 * A loop around a loop that adds up tiles for a reduction behind both becomes one loop, so that loads of its next iterations
 * are under way where the inner loop ends.
 *
 *     for n < N                         n, j = 0, 0
 *       for j < M                 ─▶    while (n < N && 0 < M)
 *         s = s + load f(n, j)            s = s + load f(n, j)
 *                                         n, j = j + 1 < M ? (n, j + 1) : (n + 1, 0)
 *
 * The inner loop starts and ends alike in all iterations of the outer one, and nothing but the sums comes out of it.
 */
import { type Loop, loopOf } from "../../ir/flow.ts";
import { copyOps } from "../../ir/copy_ops.ts";
import {
  type Func,
  isOp,
  newOp,
  newValue,
  type Op,
  type OpOf,
  type Region,
  takeNames,
  type Value,
} from "../../ir/func.ts";
import { rowOf } from "../../ir/table.ts";
import { definedIn, holds } from "../../ir/walk.ts";
import { zip } from "../../support/zip.ts";
import { ScheduleBuilder } from "../builder.ts";

/** A loop and the one in it, which can be one. */
export interface Nest {
  readonly outer: OpOf<"while">;
  readonly inner: OpOf<"while">;
  /** The sums, by their places in the inner loop: those in the outer one. */
  readonly sums: ReadonlyMap<number, number>;
}

const isPure = (op: Op): boolean => rowOf(op).effect === "pure" && op.regions.length === 0;

/** Whether a loop's test passes on what it gets. */
const passes = ({ test: { params }, leaving }: Loop): boolean =>
  params.length === leaving.length && params.every((param, i) => param === leaving[i]);

/** The nest that a loop is the outer one of, where both can be one. */
export function nestOf(
  outer: OpOf<"while">,
  adds: (loop: OpOf<"while">) => boolean,
  uses: ReadonlyMap<Value, number>,
): Nest | undefined {
  const around = loopOf(outer);
  const [inner, ...others] = around.body.ops.filter((op) => op.name === "while");
  if (!isOp(inner, "while") || others.length > 0 || !adds(inner)) return undefined;
  const within = loopOf(inner);
  const beside = around.body.ops.filter((op) => op !== inner && op !== around.end);
  const isPlain = passes(around) && passes(within) && around.test.ops.slice(0, -1).every(isPure) &&
    within.test.ops.slice(0, -1).every(isPure) && beside.every(isPure);
  const isHinted = outer.attrs.num_stages !== undefined || outer.attrs.rolled === true;
  if (!isPlain || isHinted || !holds(within.body, LOADS)) return undefined;
  const inside = definedIn(around.test, around.body);
  const sums = new Map<number, number>();
  for (const [place, initial] of within.initial.entries()) {
    const at = around.body.params.indexOf(initial);
    const result = inner.results[place];
    const isSum = result !== undefined && at >= 0 && around.repeated[at] === result &&
      uses.get(initial) === 1 && uses.get(result) === 1;
    if (isSum) sums.set(place, at);
    else if (inside.has(initial) || isTile(initial) || uses.has(result ?? initial)) {
      return undefined;
    }
  }
  // The tests of both loops, and what the outer one counts, know nothing of the sums.
  const summed = new Set([...sums.values()]);
  const isKnown = around.initial.every((_, at) => {
    const [tested, result] = [around.test.params[at], outer.results[at]];
    return tested !== undefined && result !== undefined &&
      (summed.has(at) ? uses.get(tested) === 1 : !isTile(tested) && !uses.has(result));
  });
  const tested = new Set([...sums.keys()].map((place) => within.test.params[place]));
  const own = definedIn(within.test);
  const isAlike = within.test.ops.slice(0, -1).every(({ operands }) =>
    operands.every((value) => !tested.has(value) && (own.has(value) || !inside.has(value)))
  );
  const endsAlike = own.has(within.continues) || !inside.has(within.continues);
  return isKnown && isAlike && endsAlike ? { outer, inner, sums } : undefined;
}

const LOADS: ReadonlySet<Op["name"]> = new Set(["load"]);
const isTile = ({ type }: Value): boolean => type.shape.length > 0;

/** The one loop, whose first results are those of the outer one; and what comes before it. */
export function flatten(
  func: Func,
  { outer, inner, sums }: Nest,
): { readonly before: readonly Op[]; readonly loop: OpOf<"while"> } {
  const [around, within] = [loopOf(outer), loopOf(inner)];
  const before = new ScheduleBuilder(func, [], outer.span);
  /** Whether the inner loop goes on, of what it has. */
  const goesOn = (build: ScheduleBuilder, values: readonly Value[]): Value => {
    const known = new Map(zip(within.test.params, values));
    build.out.push(...copyOps(func, within.test.ops.slice(0, -1), known));
    return known.get(within.continues) ?? within.continues;
  };
  const runs = goesOn(before, within.initial);
  /** Places of what the inner loop carries beside the sums. */
  const counted = within.initial.flatMap((initial, place) =>
    sums.has(place) ? [] : [{ initial, place }]
  );
  const initial = [...around.initial, ...counted.map((one) => one.initial)];
  const like = [
    ...around.body.params,
    ...counted.flatMap(({ place }) => within.body.params[place] ?? []),
  ];
  const copies = (): Value[] =>
    like.map((value) => {
      const made = newValue(func, value.type);
      takeNames(made, value);
      return made;
    });
  const [entering, inBody] = [copies(), copies()];
  const test = new ScheduleBuilder(func, [], outer.span);
  const inTest = new Map(zip(around.test.params, entering.slice(0, around.initial.length)));
  test.out.push(...copyOps(func, around.test.ops.slice(0, -1), inTest));
  const continues = test.both(inTest.get(around.continues) ?? around.continues, runs);
  test.effect("condition", [continues, ...entering]);
  const body = new ScheduleBuilder(func, [], outer.span);
  const known = new Map(zip(around.body.params, inBody.slice(0, around.initial.length)));
  const valueOf = (value: Value): Value => known.get(value) ?? value;
  const beside = around.body.ops.filter((op) => op !== inner && op !== around.end);
  body.out.push(...copyOps(func, beside, known));
  for (const [place, at] of sums) {
    const [param, sum] = [within.body.params[place], inBody[at]];
    if (param !== undefined && sum !== undefined) known.set(param, sum);
  }
  for (const [{ place }, value] of zip(counted, inBody.slice(around.initial.length))) {
    const param = within.body.params[place];
    if (param !== undefined) known.set(param, value);
  }
  body.out.push(...copyOps(func, within.body.ops.slice(0, -1), known));
  const next = within.repeated.map(valueOf);
  const again = goesOn(body, next);
  const choose = (then: Value, otherwise: Value): Value =>
    body.value("select", [again, then, otherwise], then.type);
  const sumAt = new Map([...sums].map(([place, at]) => [at, place]));
  const yields = [
    ...zip(around.repeated, inBody.slice(0, around.initial.length)).map(([repeated, value], at) => {
      const sum = next[sumAt.get(at) ?? -1];
      return sum ?? choose(value, valueOf(repeated));
    }),
    ...counted.map(({ initial, place }) => choose(next[place] ?? initial, initial)),
  ];
  body.effect("yield", yields);
  const regions: Region[] = [
    { params: entering, ops: test.out },
    { params: inBody, ops: body.out },
  ];
  const types = like.map(({ type }) => type);
  const loop = newOp(func, "while", initial, types, outer.span, inner.attrs, regions);
  return { before: before.out, loop };
}
