/**
 * A loop that surely runs exactly once becomes its body. Kernels on rows are written as loops over blocks of a row; where
 * an instance is only for rows that fit one block, nothing is left of the loops, and what they load becomes one load.
 *
 *     while initial (test) (body)   ─▶   test(initial), body, test(repeated)
 *
 * The test runs twice in both, so nothing is gained or lost but the jump.
 */
import { copyOps } from "../ir/copy_ops.ts";
import { type Loop, loopOf } from "../ir/flow.ts";
import { type Func, type Op, type OpOf, type Region, takeNames, type Value } from "../ir/func.ts";
import { definedIn, replaceUses, resolve } from "../ir/walk.ts";
import { zip } from "../support/zip.ts";
import type { PlainPass } from "./pass.ts";
import { type RangeOf, rangesIn, type ScalarRange } from "./scalar_range.ts";

export const straightenLoops: PlainPass = {
  name: "straighten-loops",
  doc: "replaces loops that run exactly once by their body",
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
    if (op.name === "while" && runsOnce(func, loopOf(op), resolved)) {
      return unrolled(func, op, resolved, replacements).flatMap(straighten);
    }
    op.regions.forEach(region);
    return [op];
  };
  region(func.body);
  if (replacements.size === 0) return false;
  replaceUses(func, replacements);
  return true;
}

/** Whether the first test surely holds and the second one surely fails. */
function runsOnce(func: Func, loop: Loop, resolved: (value: Value) => Value): boolean {
  const { test, body, initial, leaving, repeated, continues } = loop;
  const outside = rangesIn(func, new Map(), resolved);
  const first = rangesIn(func, flow(initial, outside, test.params), resolved);
  if (first(continues)?.least !== 1n) return false;
  const inBody = rangesIn(func, flow(leaving, first, body.params), resolved);
  const second = rangesIn(func, flow(repeated, inBody, test.params), resolved);
  return second(continues)?.most === 0n;
}

function flow(
  from: readonly Value[],
  rangeOf: RangeOf,
  to: readonly Value[],
): ReadonlyMap<Value, ScalarRange | undefined> {
  return new Map(zip(to, from).map(([param, value]) => [param, rangeOf(value)]));
}

/** The operations of one iteration; the results of the loop are replaced by what leaves its second test. */
function unrolled(
  func: Func,
  op: OpOf<"while">,
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
      // The test is there twice, and what it computes in between is not what its names say.
      if (part === body) takeNames(value, param);
      else if (param.name !== undefined) value.name ??= param.name;
      known.set(param, value);
    }
    const copies = copyOps(func, ops.filter((one) => one !== last), known);
    if (part === body) handSourcesOn(body, known);
    return copies;
  };
  const ops = [
    ...copy(test, condition, initial),
    ...copy(body, end, leaving),
    ...copy(test, condition, repeated),
  ];
  for (const [result, value] of zip(op.results, leaving)) {
    const last = valueOf(value);
    takeNames(last, result);
    replacements.set(result, last);
  }
  return ops;
}

/** Copies of what a region defines are the only ones there will be. */
function handSourcesOn(region: Region, known: ReadonlyMap<Value, Value>): void {
  const { params } = region;
  for (const value of definedIn(region)) {
    const copy = params.includes(value) ? undefined : known.get(value);
    if (copy !== undefined && value.sources !== undefined) copy.sources = value.sources;
  }
}
