/**
 * Loads of tiles that operands of dots are computed from, whose addresses are the same in runs along an axis, as those of words
 * that have several elements of an operand each. Such a load becomes one of each word, once:
 *
 *     load p: int32[64, 128]    ─▶    load q: int32[8, 128], broadcast to [8, 8, 128], reshape to [64, 128]
 */
import { loopOf } from "../ir/flow.ts";
import { type Func, isOp, newOp, type Op, type OpOf, type Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { hasTrait } from "../ir/table.ts";
import type { IrType } from "../ir/types.ts";
import { replaceUses, walkOps } from "../ir/walk.ts";
import { MOST_PARTS, tileBehind } from "../layout/operands/computed_tile.ts";
import { must } from "../support/bug.ts";
import { axisAnalysis, type AxisFacts } from "../tile/axis.ts";
import { carry } from "./carry.ts";
import { type Site, sitesOf } from "./coordinates.ts";

/** A load, and how often each of its elements follows itself along an axis. */
interface Repeated {
  readonly load: OpOf<"load">;
  readonly axis: number;
  readonly count: number;
}

/** Whether a function has such loads. */
export const hasRepeats = (func: Func): boolean => repeatedLoads(func).length > 0;

/** Loads each element once, where the addresses are such that each `count`-th can be computed alone. */
export function loadOnce(func: Func): void {
  for (const one of repeatedLoads(func)) narrowLoad(func, one);
}

function repeatedLoads(func: Func): readonly Repeated[] {
  const loads = new Set<OpOf<"load">>();
  walkOps(func.body, (op) => {
    if (op.name !== "dot") return;
    for (const operand of [operandsOf(op).a, operandsOf(op).b]) {
      const load = tileBehind(operand)?.load;
      if (load?.name === "load" && resultOf(load).type.shape.length === 2) loads.add(load);
    }
  });
  if (loads.size === 0) return [];
  const facts = axisAnalysis(func);
  return [...loads].flatMap((load) => repeatsOf(load, facts));
}

function repeatsOf(load: OpOf<"load">, facts: AxisFacts): readonly Repeated[] {
  const { pointer, mask } = operandsOf(load);
  return pointer.type.shape.flatMap((extent, axis): readonly Repeated[] => {
    const runs = [pointer, ...mask === undefined ? [] : [mask]]
      .map((value) => must(facts(value).constancy[axis], "constancy"));
    const count = Math.min(...runs);
    return count > 1 && count <= MOST_PARTS && count < extent ? [{ load, axis, count }] : [];
  }).slice(0, 1);
}

function narrowLoad(func: Func, { load, axis, count }: Repeated): void {
  const picks = new Picks(func, count);
  const operands = load.operands.map((value) => picks.of(value, axis));
  if (operands.some((value) => value === undefined)) return;
  const site = must(picks.sites.get(load), "site of a load");
  const whole = resultOf(load);
  const { element, shape } = whole.type;
  const put = (op: Op): Value => {
    site.region.ops.splice(site.region.ops.indexOf(load), 0, op);
    return resultOf(op);
  };
  const make = (name: "expand_dims" | "broadcast" | "reshape", value: Value, to: number[]): Value =>
    put(
      newOp(
        func,
        name,
        [value],
        [{ element, shape: to }],
        load.span,
        name === "expand_dims" ? { axis: axis + 1 } : {},
      ),
    );
  const few = { element, shape: fewer(shape, axis, count) };
  const narrow = put(
    newOp(
      func,
      "load",
      operands.map((value) => must(value, "operand")),
      [few],
      load.span,
      load.attrs,
    ),
  );
  if (whole.name !== undefined) narrow.name = whole.name;
  const expanded = make("expand_dims", narrow, few.shape.toSpliced(axis + 1, 0, 1));
  const repeated = make("broadcast", expanded, few.shape.toSpliced(axis + 1, 0, count));
  replaceUses(func, new Map([[whole, make("reshape", repeated, [...shape])]]));
}

const fewer = (shape: readonly number[], axis: number, count: number): number[] =>
  shape.map((extent, d) => d === axis ? extent / count : extent);

/** Each `count`-th element of values along an axis, as values of their own; undefined where they cannot be computed so. */
class Picks {
  readonly sites: ReadonlyMap<Op, Site>;
  readonly #func: Func;
  readonly #count: number;
  readonly #known = new Map<string, Value | undefined>();

  constructor(func: Func, count: number) {
    this.#func = func;
    this.#count = count;
    this.sites = sitesOf(func);
  }

  of(value: Value, axis: number): Value | undefined {
    const extent = value.type.shape[axis];
    if (extent === undefined || extent === 1) return value;
    const key = `${value.id} ${axis}`;
    if (!this.#known.has(key)) this.#known.set(key, this.#make(value, axis));
    return this.#known.get(key);
  }

  #make(value: Value, axis: number): Value | undefined {
    const { def } = value;
    if (def === undefined) return this.#carried(value, axis);
    const { element, shape } = value.type;
    const type = { element, shape: fewer(shape, axis, this.#count) };
    if (isOp(def, "range")) return this.#range(def, type);
    if (isOp(def, "constant") || isOp(def, "splat")) return this.#copy(def, def.operands, type);
    const isFollowed = isOp(def, "expand_dims") || isOp(def, "broadcast") ||
      hasTrait(def, "elementwise");
    if (!isFollowed) return undefined;
    const from = isOp(def, "expand_dims") && def.attrs.axis < axis ? axis - 1 : axis;
    const operands = def.operands.map((operand) => this.of(operand, from));
    return operands.every((operand) => operand !== undefined)
      ? this.#copy(def, operands, type)
      : undefined;
  }

  /** Numbers from `lo` on in steps. */
  #range(def: OpOf<"range">, type: IrType): Value {
    const splat = (value: number | bigint): Value =>
      this.#put(def, newOp(this.#func, "constant", [], [type], def.span, { value }));
    const numbers = this.#put(def, newOp(this.#func, "range", [], [type], def.span, { lo: 0n }));
    const combine = (name: "mul" | "add", a: Value, b: Value): Value =>
      this.#put(def, newOp(this.#func, name, [a, b], [type], def.span));
    const stepped = combine("mul", numbers, splat(BigInt(this.#count)));
    return combine("add", stepped, splat(BigInt(def.attrs.lo)));
  }

  #copy(def: Op, operands: readonly Value[], type: IrType): Value {
    return this.#put(def, newOp(this.#func, def.name, operands, [type], def.span, def.attrs));
  }

  #put(before: Op, made: Op): Value {
    const { ops } = must(this.sites.get(before), "site").region;
    ops.splice(ops.indexOf(before), 0, made);
    return resultOf(made);
  }

  /** Addresses that a loop carries and moves. */
  #carried(value: Value, axis: number): Value | undefined {
    const loop = [...this.sites.keys()].find((op): op is OpOf<"while"> =>
      isOp(op, "while") && loopOf(op).body.params.includes(value)
    );
    if (loop === undefined) return undefined;
    const { test, body, initial, leaving, repeated } = loopOf(loop);
    const tested = leaving[body.params.indexOf(value)];
    const index = tested === undefined ? -1 : test.params.indexOf(tested);
    const [first, next] = [initial[index], repeated[index]];
    const move = next?.def;
    if (first === undefined || !isOp(move, "offset") || operandsOf(move).pointer !== value) {
      return undefined;
    }
    const [from, step] = [this.of(first, axis), this.of(operandsOf(move).count, axis)];
    if (from === undefined || step === undefined) return undefined;
    return carry(
      this.#func,
      loop,
      from,
      (at) => this.#put(move, newOp(this.#func, "offset", [at, step], [at.type], move.span)),
    );
  }
}
