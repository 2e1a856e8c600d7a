/**
 * A loop that surely runs exactly once becomes its body. Kernels on rows are written as loops over blocks of a row; where
 * an instance is only for rows that fit one block, nothing is left of the loops, and what they load becomes one load.
 *
 *     while initial (test) (body)   ─▶   test(initial), body, test(repeated)
 *
 * The test runs twice in both, so nothing is gained or lost but the jump.
 *
 * One that surely runs a few times, as that over the filter of a convolution, becomes as many copies of it if it loads little
 * and computes element by element: all loads are under way at once, and masks and addresses have parts in common. The maximum
 * of windows of 3 x 3 halves makes 0.94 of a copy instead of 0.72 (H200, tests/gpu/results/texts.md).
 */
import { copyOps } from "../ir/copy_ops.ts";
import { type Loop, loopOf } from "../ir/flow.ts";
import { type Func, type Op, type OpOf, type Region, takeNames, type Value } from "../ir/func.ts";
import { hasTrait } from "../ir/table.ts";
import { bytesOf } from "../ir/types.ts";
import { definedIn, replaceUses, replaceUsesIn, resolve, walkOps } from "../ir/walk.ts";
import { zip } from "../support/zip.ts";
import type { PlainPass } from "./pass.ts";
import { type RangeOf, rangesIn, type ScalarRange } from "./scalar_range.ts";

/** Copies of a loop, and of all of them together the operations, the elements that are computed and the bytes that are loaded. */
const MOST_COPIES = 16;
const MOST_OPERATIONS = 1024;
const MOST_ELEMENTS = 2 ** 19;
const MOST_BYTES = 2 ** 16;

export const straightenLoops: PlainPass = {
  name: "straighten-loops",
  doc: "replaces loops that run once, or a few times and load little, by their bodies",
  run,
};

function run(func: Func): boolean {
  /** What the results of loops that are gone have become. */
  const replacements = new Map<Value, Value>();
  const resolved = (value: Value): Value => resolve(replacements, value);

  const region = (one: Region): void => {
    one.ops = one.ops.flatMap(straighten);
  };
  const straighten = (op: Op): readonly Op[] => {
    if (op.name !== "while") {
      op.regions.forEach(region);
      return [op];
    }
    const iterations = iterationsOf(func, loopOf(op), resolved);
    if (iterations !== 1) op.regions.forEach(region);
    if (iterations === undefined || (iterations > 1 && !isShort(op, iterations))) return [op];
    // Copies are of what has taken the place of loops in it.
    if (iterations > 1) op.regions.forEach((one) => replaceUsesIn(one, replacements));
    return unrolled(func, op, iterations, resolved, replacements).flatMap(straighten);
  };
  region(func.body);
  if (replacements.size === 0) return false;
  replaceUses(func, replacements);
  return true;
}

/** How often the body surely runs, if that is once or a few times. */
function iterationsOf(
  func: Func,
  { test, body, initial, leaving, repeated, continues }: Loop,
  resolved: (value: Value) => Value,
): number | undefined {
  let [from, outside] = [initial, rangesIn(func, new Map(), resolved)];
  for (let iterations = 0; iterations <= MOST_COPIES; iterations++) {
    const inTest = rangesIn(func, flow(from, outside, test.params), resolved);
    const range = inTest(continues);
    if (range === undefined || range.least !== range.most) return undefined;
    if (range.most === 0n) return iterations === 0 ? undefined : iterations;
    [from, outside] = [
      repeated,
      rangesIn(func, flow(leaving, inTest, body.params), resolved),
    ];
  }
  return undefined;
}

/** Whether copies of a loop are small: of loads, and of what is computed element by element. */
function isShort({ regions, attrs }: OpOf<"while">, iterations: number): boolean {
  // The text says how its loads are to be done, or how often it is copied.
  if (attrs.num_stages !== undefined || attrs.rolled === true) return false;
  let [operations, elements, bytes, isPlain] = [0, 0, 0, true];
  for (const region of regions) {
    walkOps(region, (op) => {
      operations++;
      isPlain &&= PLAIN.has(op.name) || hasTrait(op, "elementwise") || hasTrait(op, "reshapes");
      for (const { type } of op.results) {
        const count = type.shape.reduce((all, extent) => all * extent, 1);
        elements += count;
        if (op.name === "load") bytes += count * bytesOf(type.element);
      }
    });
  }
  return isPlain && bytes > 0 && bytes * iterations <= MOST_BYTES &&
    elements * iterations <= MOST_ELEMENTS && operations * iterations <= MOST_OPERATIONS;
}

/** What may be in it besides. */
const PLAIN: ReadonlySet<Op["name"]> = new Set(
  ["load", "store", "constant", "range", "splat", "broadcast", "offset", "condition", "yield"],
);

function flow(
  from: readonly Value[],
  rangeOf: RangeOf,
  to: readonly Value[],
): ReadonlyMap<Value, ScalarRange | undefined> {
  return new Map(zip(to, from).map(([param, value]) => [param, rangeOf(value)]));
}

/** The operations of all iterations; the results of the loop are replaced by what leaves its last test. */
function unrolled(
  func: Func,
  op: OpOf<"while">,
  iterations: number,
  resolved: (value: Value) => Value,
  replacements: Map<Value, Value>,
): readonly Op[] {
  const { test, body, initial, leaving, repeated, condition, end } = loopOf(op);
  const known = new Map<Value, Value>();
  const valueOf = (value: Value): Value => resolved(known.get(value) ?? value);
  const copy = (
    part: Region,
    last: Op,
    values: readonly Value[],
  ): readonly Op[] => {
    const { params, ops } = part;
    const given = values.map(valueOf);
    for (const [param, value] of zip(params, given)) {
      // The test is there once more, and what it computes in between is not what its names say.
      if (part === body) takeNames(value, param);
      else if (param.name !== undefined) value.name ??= param.name;
      known.set(param, value);
    }
    const copies = copyOps(func, ops.filter((one) => one !== last), known);
    if (part === body) handSourcesOn(body, known);
    return copies;
  };
  const ops = [...copy(test, condition, initial)];
  for (let iteration = 0; iteration < iterations; iteration++) {
    ops.push(...copy(body, end, leaving), ...copy(test, condition, repeated));
  }
  for (const [result, value] of zip(op.results, leaving)) {
    const last = valueOf(value);
    takeNames(last, result);
    replacements.set(result, last);
  }
  return ops;
}

/** Each copy of what a region defines is what the text says in its iteration. */
function handSourcesOn(region: Region, known: ReadonlyMap<Value, Value>): void {
  const { params } = region;
  for (const value of definedIn(region)) {
    const copy = params.includes(value) ? undefined : known.get(value);
    if (copy !== undefined && value.sources !== undefined) copy.sources = value.sources;
  }
}
