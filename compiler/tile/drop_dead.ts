/**
 * Removes what nothing needs: operations without effect whose results are unused, unused results of an `if`,
 * and values that a loop carries only for themselves. Marks atomics whose results are unused. A load without use goes too, unless it is volatile; so
 * does a loop that does nothing, as C allows.
 *
 * Liveness is found backwards from effects with a work list, so a circle of carried values is not kept alive
 * by itself:
 *
 *     while %i, %unused (…) {… condition %go, %i2, %unused2} (…) {… yield %i3, %unused3}
 *
 * has two lists of carried values, the one that enters a test (operands, parameters of region 0, `yield`) and
 * the one that leaves it (`condition`, parameters of region 1, results). Each position lives or dies as one.
 */
import { zip } from "../support/zip.ts";
import { branchOf, loopOf } from "../ir/flow.ts";
import { type Func, type Op, type OpOf, type Region, setAttrs, type Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { hasTrait, rowOf } from "../ir/table.ts";
import type { PlainPass } from "./pass.ts";

export const dropDead: PlainPass = {
  name: "drop-dead",
  doc: "removes what nothing needs: operations, results, carried values, loops",
  run,
};

function run(func: Func): boolean {
  const liveness = new Liveness();
  liveness.roots(func.body);
  liveness.spread();
  return new Remover(liveness).region(func.body);
}

/** Whether an operation must stay even if its results are not used. */
function hasEffect(op: Op): boolean {
  const { effect } = rowOf(op);
  if (op.name === "load") return op.attrs.modifiers.includes("volatile");
  return effect === "write" || effect === "sync" || effect === "output" ||
    op.name === "return" || op.name === "leave";
}

class Liveness {
  readonly ops = new Set<Op>();
  readonly values = new Set<Value>();
  readonly #work: Value[] = [];
  /** What else lives when a parameter, or a result of control, lives. */
  readonly #sources = new Map<Value, readonly Value[]>();
  /** The operations around each one. */
  readonly #parents = new Map<Op, Op>();

  /** Notes where values come from and starts from everything with an effect. */
  roots(region: Region, parent?: Op): void {
    for (const op of region.ops) {
      if (parent !== undefined) this.#parents.set(op, parent);
      if (op.name === "if") this.#noteIf(op);
      if (op.name === "while") this.#noteWhile(op);
      for (const inner of op.regions) this.roots(inner, op);
      if (hasEffect(op)) this.#reachOp(op);
    }
  }

  spread(): void {
    for (let value = this.#work.pop(); value !== undefined; value = this.#work.pop()) {
      if (value.def !== undefined) this.#reachOp(value.def);
      else this.#reachOwner(value);
      this.#sources.get(value)?.forEach((source) => this.#reach(source));
    }
  }

  #noteIf(op: OpOf<"if">): void {
    const { thenValues, otherwiseValues } = branchOf(op);
    for (const [result, sources] of zip(op.results, zip(thenValues, otherwiseValues))) {
      this.#sources.set(result, sources);
    }
  }

  #noteWhile(op: OpOf<"while">): void {
    const { test, body, initial, repeated, leaving } = loopOf(op);
    for (const [param, sources] of zip(test.params, zip(initial, repeated))) {
      this.#sources.set(param, sources);
      this.#owners.set(param, op);
    }
    for (const [value, [result, param]] of zip(leaving, zip(op.results, body.params))) {
      // Both live or both die, as they are one position.
      this.#sources.set(result, [value, param]);
      this.#sources.set(param, [value, result]);
      this.#owners.set(param, op);
    }
  }

  readonly #owners = new Map<Value, Op>();

  #reachOwner(value: Value): void {
    const owner = this.#owners.get(value);
    if (owner !== undefined) this.#reachOp(owner);
  }

  #reach(value: Value): void {
    if (this.values.has(value)) return;
    this.values.add(value);
    this.#work.push(value);
  }

  /** Its operands live, and the control around it. Of control itself only what decides it. */
  #reachOp(op: Op): void {
    if (this.ops.has(op)) return;
    this.ops.add(op);
    if (op.name === "while") this.#reach(loopOf(op).continues);
    else if (op.name === "if") this.#reach(operandsOf(op).condition);
    else op.operands.forEach((value) => this.#reach(value));
    const parent = this.#parents.get(op);
    if (parent !== undefined) this.#reachOp(parent);
  }
}

class Remover {
  readonly #live: Liveness;

  constructor(live: Liveness) {
    this.#live = live;
  }

  region(region: Region): boolean {
    const before = region.ops.length;
    region.ops = region.ops.filter((op) => this.#live.ops.has(op) || hasTrait(op, "ends"));
    let changed = region.ops.length < before;
    for (const op of region.ops) changed = this.#op(op) || changed;
    return changed;
  }

  /** An atomic has an effect, so it stays; its result need not reach the threads. */
  #mark(op: OpOf<"atomic" | "atomic_cas">): boolean {
    if (op.attrs.unused === true || this.#live.values.has(resultOf(op))) return false;
    setAttrs(op, { unused: true });
    return true;
  }

  #op(op: Op): boolean {
    let changed = false;
    if (op.name === "if") changed = this.#trimIf(op);
    if (op.name === "while") changed = this.#trimWhile(op);
    if (op.name === "atomic" || op.name === "atomic_cas") changed = this.#mark(op);
    for (const region of op.regions) changed = this.region(region) || changed;
    return changed;
  }

  #trimIf(op: OpOf<"if">): boolean {
    const kept = op.results.map((value) => this.#live.values.has(value));
    const { thenEnd, otherwiseEnd } = branchOf(op);
    trimOperands(thenEnd, kept);
    trimOperands(otherwiseEnd, kept);
    return trim(op.results, kept);
  }

  #trimWhile(op: OpOf<"while">): boolean {
    const { test, body, condition, end } = loopOf(op);
    const entering = test.params.map((value) => this.#live.values.has(value));
    const leaving = op.results.map((value) => this.#live.values.has(value));
    trimOperands(op, entering);
    trimOperands(end, entering);
    trimOperands(condition, [true, ...leaving]);
    trim(body.params, leaving);
    trim(test.params, entering);
    trim(op.results, leaving);
    return [...entering, ...leaving].includes(false);
  }
}

function trimOperands(op: Op, kept: readonly boolean[]): void {
  op.operands = op.operands.filter((_, index) => kept[index]);
}

/** Removes in place; true if anything went. */
function trim(values: Value[], kept: readonly boolean[]): boolean {
  const left = values.filter((_, index) => kept[index]);
  const changed = left.length < values.length;
  values.splice(0, values.length, ...left);
  return changed;
}
