/** Makes the slices of what follows a loop (slice_results.ts). */
import { branchOf } from "../ir/flow.ts";
import {
  type Func,
  newOp,
  newUncheckedOp,
  type Op,
  type OpOf,
  type Region,
  setAttrs,
  type Value,
} from "../ir/func.ts";
import { madeBy, resultOf } from "../ir/op.ts";
import { isLookup } from "../ir/table.ts";
import { type IrType, scalarType } from "../ir/types.ts";
import { terminatorOf } from "../ir/walk.ts";
import { must } from "../support/bug.ts";
import { zip } from "../support/zip.ts";
import type { Outcomes, Version } from "./slice_versions.ts";
import { operandAxes, type Sliceable } from "./sliceable.ts";

/** Slices along an axis. */
export interface Slices {
  readonly axis: number;
  /** Elements along it: of a slice, and of the whole. */
  readonly width: number;
  readonly extent: number;
}

/** Which part of a value to make: all of it, or the slice of this number along an axis. */
type Along = number | undefined;

export class SliceBuilder {
  readonly #func: Func;
  readonly #loop: Op;
  readonly #slices: Slices;
  readonly #found: Sliceable;
  /** Where operations behind the loop are put at present. */
  #out: Op[] = [];
  /** Where operations of regions are put, while those are copied. */
  readonly #regions = new Map<Op, Op[]>();
  readonly #placed = new Set<Op>();
  /** Where whole operations are put that no slice has needed yet. */
  #whole: Op[] = [];
  #made = new Map<string, Value>();
  /** Conditions that are decided in the version that is made at present. */
  #decided: Outcomes = new Map();

  constructor(func: Func, loop: Op, slices: Slices, found: Sliceable) {
    this.#func = func;
    this.#loop = loop;
    this.#slices = slices;
    this.#found = found;
  }

  /** What comes before the loop, and what behind it: the first of the versions whose conditions hold, or all branches. */
  build(
    stores: readonly OpOf<"store">[],
    versions: readonly Version[],
  ): { readonly before: Op[]; readonly after: Op[] } {
    const before: Op[] = [];
    this.#whole = this.#out = before;
    for (const load of this.#found.wholeLoads) {
      if (load.results.some(({ type }) => type.shape.length > 0)) setAttrs(load, { beside: true });
      this.#place(load);
    }
    this.#load(0);
    if (versions.length === 0) {
      const after = this.#whole = [];
      return { before, after: this.#storeAll(stores, after) };
    }
    const whole: Op[] = this.#whole = [];
    const conditions = versions.map((version) => this.#allOf(version, whole));
    const made = this.#made;
    const bodies = [...versions.map(({ decided }) => decided), new Map()].map((decided) => {
      [this.#decided, this.#made] = [decided, new Map(made)];
      return this.#storeAll(stores, []);
    });
    return { before, after: [...whole, ...this.#firstOf(conditions, bodies)] };
  }

  /** All slices, in a version. */
  #storeAll(stores: readonly OpOf<"store">[], out: Op[]): Op[] {
    const { width, extent, axis } = this.#slices;
    this.#out = out;
    for (let index = 0; index < extent / width; index++) {
      if (index + 1 < extent / width) this.#load(index + 1);
      for (const [slice_of, { operands, span, attrs }] of stores.entries()) {
        const slices = operands.map((value) => this.#copy(value, axis, index));
        out.push(newOp(this.#func, "store", slices, [], span, { ...attrs, slice_of }));
      }
    }
    return out;
  }

  /** Whether all conditions come out as a version has them. */
  #allOf({ tested }: Version, out: Op[]): Value {
    const { span } = this.#loop;
    this.#out = out;
    const bool = scalarType("bool");
    const add = (op: Op): Value => {
      out.push(op);
      return resultOf(op);
    };
    let all: Value | undefined;
    for (const [condition, isTrue] of tested) {
      let one = this.#copy(condition, undefined, 0);
      if (!isTrue) {
        const no = add(newOp(this.#func, "constant", [], [bool], span, { value: 0n }));
        one = add(newOp(this.#func, "eq", [one, no], [bool], span));
      }
      all = all === undefined ? one : add(newOp(this.#func, "and", [all, one], [bool], span));
    }
    return must(all, "conditions of a version");
  }

  /** The body of the first condition that holds, or the one behind those. */
  #firstOf(conditions: readonly Value[], bodies: readonly Op[][]): Op[] {
    const [body = [], ...others] = bodies;
    const [condition, ...rest] = conditions;
    if (condition === undefined) return body;
    const { span } = this.#loop;
    const regions = [body, this.#firstOf(rest, others)].map((ops): Region => ({
      params: [],
      ops: [...ops, newOp(this.#func, "yield", [], [], span)],
    }));
    return [newOp(this.#func, "if", [condition], [], span, {}, regions)];
  }

  #load(index: number): void {
    for (const { value, axis } of this.#found.slicedLoads) {
      const load = madeBy(this.#copy(value, axis, index), "load");
      // What never changes is read where it is used.
      const isLate = load !== undefined &&
        (isLookup(load) || load.attrs.modifiers.includes("nc"));
      if (load !== undefined && !isLate) setAttrs(load, { slice: index });
    }
  }

  /** A slice of a value, or the value itself where a slice uses all of it. */
  #copy(value: Value, along: Along, index: number): Value {
    const { def } = value;
    const inRegion = def !== undefined && this.#found.inRegions.has(def);
    if (along === undefined && !inRegion) {
      if (def !== undefined) this.#place(def);
      return value;
    }
    const key = `${value.id} ${along ?? "whole"} ${index}`;
    const made = this.#made.get(key);
    if (made !== undefined) return made;
    this.#make(must(def, "operation of a sliced value"), value, along, index);
    return must(this.#made.get(key), "slice");
  }

  #note(values: readonly Value[], copies: readonly Value[], along: Along, index: number): void {
    for (const [value, copy] of zip(values, copies)) {
      // A slice is not the variable.
      if (value.name !== undefined && along === undefined) copy.name = value.name;
      this.#made.set(`${value.id} ${along ?? "whole"} ${index}`, copy);
    }
  }

  /** Puts an operation behind the loop before what needs it whole, unless it has been put somewhere. */
  #place(op: Op): void {
    if (!this.#found.behind.has(op) || this.#placed.has(op)) return;
    this.#placed.add(op);
    for (const { def } of op.operands) if (def !== undefined) this.#place(def);
    this.#whole.push(op);
  }

  #typeOf({ type }: Value, along: Along): IrType {
    return along === undefined
      ? type
      : { ...type, shape: type.shape.with(along, this.#slices.width) };
  }

  #make(def: Op, value: Value, along: Along, index: number): void {
    const first = index * this.#slices.width;
    if (def === this.#loop) {
      const attrs = { axis: must(along, "axis of a slice"), first };
      const type = this.#typeOf(value, along);
      const slice = newOp(this.#func, "slice", [value], [type], def.span, attrs);
      this.#out.push(slice);
      this.#note([value], slice.results, along, index);
      return;
    }
    const types = def.results.map((result) => this.#typeOf(result, along));
    const put = (op: Op): void => {
      (this.#regions.get(def) ?? this.#out).push(op);
      this.#note(def.results, op.results, along, index);
    };
    if (def.name === "if") {
      const { condition: decided, then, otherwise } = branchOf(def);
      const isTaken = this.#decided.get(decided);
      if (isTaken !== undefined) {
        const taken = isTaken ? then : otherwise;
        const values = this.#within(taken, this.#regions.get(def), along, index);
        this.#note(def.results, values, along, index);
        return;
      }
      const condition = this.#copy(decided, undefined, index);
      const regions = [then, otherwise].map((region) => this.#region(region, along, index));
      put(newOp(this.#func, "if", [condition], types, def.span, {}, regions));
      return;
    }
    const axes = along === undefined ? undefined : operandAxes(def, along);
    const operands = def.operands.map((operand, i) => this.#copy(operand, axes?.[i], index));
    const attrs = def.name === "range" && along !== undefined
      ? {
        ...def.attrs,
        lo: typeof def.attrs.lo === "bigint" ? def.attrs.lo + BigInt(first) : def.attrs.lo + first,
      }
      // In the layout of what it is combined with: an exchange would keep the warps of the block together.
      : def.name === "load" && value.type.shape.length > 0
      ? { ...def.attrs, beside: true }
      : def.attrs;
    put(newUncheckedOp(this.#func, def.name, operands, types, def.span, attrs));
  }

  #region(region: Region, along: Along, index: number): Region {
    const copies: Op[] = [];
    const values = this.#within(region, copies, along, index);
    copies.push(newOp(this.#func, "yield", values, [], terminatorOf(region).span));
    return { params: [], ops: copies };
  }

  /** What a region yields, its operations put into a list or, without one, where all others are. */
  #within(region: Region, out: Op[] | undefined, along: Along, index: number): Value[] {
    for (const op of region.ops) {
      if (out === undefined) this.#regions.delete(op);
      else this.#regions.set(op, out);
    }
    return terminatorOf(region).operands.map((value) => this.#copy(value, along, index));
  }
}
