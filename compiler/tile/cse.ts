/**
 * Common subexpression elimination: gives equal pure operations one result. An operation may replace a later equal one
 * where it is visible: in its own region and the regions inside. A load replaces a later equal one of the same region if nothing
 * between them may change its memory or wait for others, and neither is volatile (language.md 5.10).
 */
import { spellAttr, typeKey } from "../ir/print.ts";
import { type Attrs, type Func, type Op, type Region, takeNames, type Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { rootsOf } from "../ir/pointer_roots.ts";
import { rowOf } from "../ir/table.ts";
import type { PlainPass } from "./pass.ts";

export const cse: PlainPass = {
  name: "cse",
  doc: "gives equal pure operations one result (common subexpression elimination)",
  run,
};

function run(func: Func): boolean {
  const merger = new Merger(func);
  merger.region(func.body);
  return merger.changed;
}

/** Modifiers of loads that look at memory anew each time (PTX ISA 9.7.9.1: `.cv`). */
const ALWAYS_LOADED: ReadonlySet<string> = new Set(["volatile", "cv"]);

class Merger {
  changed = false;
  readonly #visible = new Map<string, Op>();
  readonly #replacements = new Map<Value, Value>();
  /** Loads of this region since memory may last have changed. */
  #loads = new Map<string, Op>();
  readonly #func: Func;
  /** Parameters whose memory is reached through no other. */
  readonly #alone: ReadonlySet<Value>;
  #rootOf: ((pointer: Value) => Value | undefined) | undefined;

  constructor(func: Func) {
    this.#func = func;
    this.#alone = new Set(func.params.filter((_, i) => func.paramFacts[i]?.noalias === true));
  }

  region(region: Region): void {
    const added: string[] = [];
    const outside = this.#loads;
    this.#loads = new Map();
    region.ops = region.ops.filter((op) => {
      this.#replaceOperands(op);
      for (const inner of op.regions) this.region(inner);
      const { effect } = rowOf(op);
      if (effect === "read") return this.#keepsLoad(op);
      if (effect !== "pure") {
        this.#forgetLoads(op);
        return true;
      }
      const key = keyOf(op);
      const equal = this.#visible.get(key);
      if (equal === undefined) {
        this.#visible.set(key, op);
        added.push(key);
        return true;
      }
      this.#merge(op, equal);
      return false;
    });
    for (const key of added) this.#visible.delete(key);
    this.#loads = outside;
  }

  #keepsLoad(op: Op): boolean {
    if (op.name !== "load" || op.attrs.modifiers.some((one) => ALWAYS_LOADED.has(one))) {
      this.#loads.clear();
      return true;
    }
    const key = keyOf(op);
    const equal = this.#loads.get(key);
    if (equal === undefined) this.#loads.set(key, op);
    else this.#merge(op, equal);
    return equal === undefined;
  }

  /** Those whose memory an operation may change: of stores not what lies apart, of other operations all. */
  #forgetLoads(op: Op): void {
    if (op.name !== "store" || this.#alone.size === 0) {
      this.#loads.clear();
      return;
    }
    const written = this.#rootIn(op);
    for (const [key, load] of this.#loads) {
      const read = this.#rootIn(load);
      const areApart = written !== undefined && read !== undefined && written !== read &&
        (this.#alone.has(written) || this.#alone.has(read));
      if (!areApart) this.#loads.delete(key);
    }
  }

  /** The parameter through which an operation reaches memory. */
  #rootIn(op: Op): Value | undefined {
    if (op.name !== "load" && op.name !== "store") return undefined;
    this.#rootOf ??= rootsOf(this.#func, new Set(this.#func.params));
    return this.#rootOf(operandsOf(op).pointer);
  }

  #replaceOperands(op: Op): void {
    if (this.#replacements.size === 0) return;
    if (!op.operands.some((value) => this.#replacements.has(value))) return;
    op.operands = op.operands.map((value) => this.#replacements.get(value) ?? value);
  }

  #merge(op: Op, into: Op): void {
    this.changed = true;
    op.results.forEach((result, index) => {
      const value = into.results[index];
      if (value === undefined) return;
      takeNames(value, result);
      this.#replacements.set(result, value);
    });
  }
}

/** Equal for operations that compute the same; of commuting operands the order does not matter. */
function keyOf(op: Op): string {
  const ids = op.operands.map((value) => value.id);
  if (rowOf(op).commutes === true && ids.length > 1) ids.sort((a, b) => a - b);
  return `${kindOf(op)} ${ids.join()}`;
}

/** Equal for operations that compute the same of the same operands. */
export function kindOf(op: Op): string {
  let key = attrsKey(op);
  for (const { type } of op.results) key += ` ${typeKey(type)}`;
  return key;
}

/** Equal for operations with the same name and attributes. */
export function attrsKey(op: Op): string {
  let key: string = op.name;
  const given: Attrs = op.attrs;
  for (const name in rowOf(op).attrs) {
    const value = given[name];
    if (value === undefined) key += " ";
    else key += Object.is(value, -0) ? " -0" : ` ${typeof value}${spellAttr(value)}`;
  }
  return key;
}
