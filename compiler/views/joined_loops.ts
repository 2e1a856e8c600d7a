/**
 * Two loops one after the other, of which the second one does the same and masks some more, as causal attention has them:
 * blocks that all rows see, and those on the diagonal. They become one, whose masks are asked about from where the second
 * one began; then copies of operands run through both.
 *
 *     while (j < middle) { s = q @ k; … s … }                  while (j < end) {
 *     while (j < end) {                                           s = q @ k
 *       s = q @ k                                   ─▶            t = if (masked && j >= middle) { … } else { s }
 *       t = if (masked) { … } else { s }                          … t …
 *       … t …                                                  }
 *     }
 */
import { AffineAnalysis } from "../contract/affine.ts";
import { limitsOfType } from "../contract/magnitude.ts";
import { type Poly, subPoly } from "../contract/poly.ts";
import type { Requirement } from "../contract/types.ts";
import { branchOf, type Loop, loopOf } from "../ir/flow.ts";
import { type Func, newOp, type Op, type OpOf, type Value } from "../ir/func.ts";
import { constantOf, operandsOf, resultOf } from "../ir/op.ts";
import { rowOf } from "../ir/table.ts";
import { sameElement, sameShape, scalarType } from "../ir/types.ts";
import { countUses, definedIn, walkOps } from "../ir/walk.ts";
import { zip } from "../support/zip.ts";
import { axisAnalysis } from "../tile/axis.ts";
import { Bounds } from "./bounds.ts";
import { Demands } from "./demands.ts";
import { multipleOf } from "./find_view.ts";

const BOOL = scalarType("bool");

/** Whether a function has loops of dots one after the other. */
export const hasLoopsInRow = ({ body }: Func): boolean =>
  body.ops.filter((op) => op.name === "while" && hasDot(op)).length > 1;

function hasDot(op: Op): boolean {
  let found = false;
  for (const region of op.regions) walkOps(region, ({ name }) => found ||= name === "dot");
  return found;
}

/** Joins loops of a function's body; gives what is demanded of the launch so that both do what they did. */
export function joinLoops(func: Func): readonly Requirement[] {
  const demands = new Demands();
  for (let second = 1; second < func.body.ops.length; second++) {
    const op = func.body.ops[second];
    if (op?.name !== "while" || !hasDot(op)) continue;
    const first = func.body.ops.slice(0, second).findLast((one) => one.name === "while");
    if (first?.name === "while" && join(func, first, op, demands)) second--;
  }
  return demands.list();
}

function join(
  func: Func,
  first: OpOf<"while">,
  second: OpOf<"while">,
  demands: Demands,
): boolean {
  const { ops } = func.body;
  const between = ops.slice(ops.indexOf(first) + 1, ops.indexOf(second));
  if (!between.every(({ name }) => name !== "while") || !between.every(isPure)) return false;
  const [a, b] = [loopOf(first), loopOf(second)];
  const [counted, going] = [counterOf(a), counterOf(b)];
  if (counted === undefined || going === undefined || counted.step !== going.step) return false;
  if (b.initial[going.place] !== counted.end) return false;
  const places = placesOf(func, first, b, counted.place, going.place);
  const masks = places && masksAmong(a, b, places);
  if (masks === undefined || !isInStep(func, a, counted, going, demands)) return false;
  const { span } = second;
  const at = b.body.params[going.place];
  if (at === undefined) return false;
  const isSecond = newOp(func, "ge", [at, counted.end], [BOOL], span);
  b.body.ops.unshift(isSecond);
  for (const mask of masks) {
    const both = newOp(
      func,
      "and",
      [branchOf(mask).condition, resultOf(isSecond)],
      [BOOL],
      span,
    );
    b.body.ops.splice(b.body.ops.indexOf(mask), 0, both);
    mask.operands = [resultOf(both)];
  }
  second.operands = b.initial.map((_, i) => {
    const from = places?.indexOf(i) ?? -1;
    return a.initial[from] ?? b.initial[i] ?? at;
  });
  ops.splice(ops.indexOf(first), 1);
  return true;
}

const isPure = (op: Op): boolean => rowOf(op).effect === "pure" && op.regions.length === 0;

/** What a loop counts: `j < end`, and j grows by a constant. */
interface Counter {
  readonly place: number;
  readonly end: Value;
  readonly step: bigint;
}

function counterOf(loop: Loop): Counter | undefined {
  const { test, body, continues, leaving, repeated } = loop;
  if (leaving.some((value, i) => value !== test.params[i])) return undefined;
  if (continues.def?.name !== "lt" || test.ops.length !== 2) return undefined;
  const { left, right: end } = operandsOf(continues.def);
  const place = test.params.indexOf(left);
  const next = repeated[place]?.def;
  if (next?.name !== "add" || test.params.includes(end) || end.type.element !== "int32") {
    return undefined;
  }
  const [from, by] = next.operands;
  const step = by && constantOf(by);
  return from === body.params[place] && typeof step === "bigint" && step > 0n
    ? { place, end, step }
    : undefined;
}

/** Where the second loop carries what the first one does, by place of the first; undefined: it does not begin with its results. */
function placesOf(
  func: Func,
  first: OpOf<"while">,
  second: Loop,
  counter: number,
  going: number,
): readonly number[] | undefined {
  const uses = countUses(func);
  const places = first.results.map((result, i) =>
    i === counter ? going : second.initial.indexOf(result)
  );
  const isOnly = first.results.every((result, i) =>
    (uses.get(result) ?? 0) === (i === counter ? 0 : 1)
  );
  return isOnly && places.every((place) => place >= 0) &&
      new Set(places).size === second.initial.length
    ? places
    : undefined;
}

/** The branches that the second loop has beside what both do, whose other side is what the first one has; undefined: it does more. */
function masksAmong(
  a: Loop,
  b: Loop,
  places: readonly number[],
): readonly OpOf<"if">[] | undefined {
  const own = definedIn(a.body);
  const images = new Map<Value, Value>();
  for (const [i, param] of a.body.params.entries()) {
    const image = b.body.params[places[i] ?? -1];
    if (image === undefined) return undefined;
    images.set(param, image);
  }
  const masks = new Map<Value, { readonly op: OpOf<"if">; readonly otherwise: Value }>();
  const isImage = (value: Value, other: Value): boolean =>
    other === (own.has(value) ? images.get(value) : value);
  const isAlike = (value: Value, other: Value): boolean => {
    const mask = masks.get(other);
    return isImage(value, other) || (mask !== undefined && isImage(value, mask.otherwise));
  };
  const rest = b.body.ops.slice(0, -1);
  for (const op of a.body.ops.slice(0, -1)) {
    for (;;) {
      const other = rest.shift();
      if (other === undefined) return undefined;
      if (isSame(op, other, isAlike)) {
        for (const [from, to] of zip(op.results, other.results)) images.set(from, to);
        break;
      }
      if (!noteMore(other, masks)) return undefined;
    }
  }
  const isRest = rest.every((other) => noteMore(other, masks));
  const isEnd = a.repeated.every((value, i) => {
    const other = b.repeated[places[i] ?? -1];
    return other !== undefined && isAlike(value, other);
  });
  return isRest && isEnd ? [...new Set([...masks.values()].map(({ op }) => op))] : undefined;
}

/** Notes what only the second loop has: scalars and tiles that it masks with, and branches around masks. */
function noteMore(
  op: Op,
  masks: Map<Value, { readonly op: OpOf<"if">; readonly otherwise: Value }>,
): boolean {
  if (op.name !== "if") return isPure(op) && op.name !== "dot";
  const { then, otherwise, otherwiseValues, thenEnd } = branchOf(op);
  const isMask = otherwise.ops.length === 1 &&
    then.ops.every((one) => one === thenEnd || isPure(one));
  if (!isMask) return false;
  for (const [result, value] of zip(op.results, otherwiseValues)) {
    masks.set(result, { op, otherwise: value });
  }
  return true;
}

/** Whether two operations do the same. Sums that stay apart from products do so of what a branch gives, too. */
function isSame(op: Op, other: Op, isAlike: (a: Value, b: Value) => boolean): boolean {
  if (op.name !== other.name || op.regions.length > 0 || other.regions.length > 0) return false;
  const attrs = ({ attrs }: Op): string =>
    JSON.stringify(
      Object.entries(attrs).filter(([name]) => name !== "apart").sort(),
      (_, value) => typeof value === "bigint" ? `${value}n` : value,
    );
  return op.operands.length === other.operands.length && attrs(op) === attrs(other) &&
    zip(op.results, other.results).every(([a, b]) =>
      sameElement(a.type.element, b.type.element) && sameShape(a.type.shape, b.type.shape)
    ) &&
    op.results.length === other.results.length &&
    zip(op.operands, other.operands).every(([a, b]) => isAlike(a, b));
}

/** Whether the first loop ends at the number that the second one begins with, and that is not beyond its end. */
function isInStep(
  func: Func,
  { initial }: Loop,
  { place, end, step }: Counter,
  { end: last }: Counter,
  demands: Demands,
): boolean {
  const axisInfo = axisAnalysis(func);
  const analysis = new AffineAnalysis(func, "program", axisInfo);
  const wanted = new Demands();
  const bounds = new Bounds(func, analysis, wanted);
  const polyOfValue = (value: Value | undefined): Poly | undefined => {
    const int = value && analysis.int(value);
    return int?.observed.length === 0 ? int.poly : undefined;
  };
  const [from, to, beyond] = [initial[place], end, last].map(polyOfValue);
  if (from === undefined || to === undefined || beyond === undefined) return false;
  const int32 = limitsOfType("int32");
  const length = subPoly(to, from);
  const known = { func, axisInfo };
  const isExact = multipleOf(length, known) % Number(step) === 0 &&
    bounds.poly(length).min >= 0n && bounds.poly(subPoly(beyond, to)).min >= 0n &&
    [from, to, beyond].every((poly) => bounds.fits(poly, int32));
  if (isExact) { for (const { condition } of wanted.list()) demands.add(condition); }
  return isExact;
}
