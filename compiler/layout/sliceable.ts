/** Which values behind a loop can be computed in slices along an axis, and what slices of them take. */
import { branchOf } from "../ir/flow.ts";
import type { Op, OpOf, Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { hasTrait, rowOf } from "../ir/table.ts";
import { walkOps } from "../ir/walk.ts";

/**
 * By operand, the axis along which a slice of the result takes a slice of it; undefined entries stand for operands that it
 * takes whole. Undefined if no slice can be computed alone.
 */
export function operandAxes(op: Op, axis: number): readonly (number | undefined)[] | undefined {
  switch (op.name) {
    case "expand_dims": {
      const { axis: inserted } = op.attrs;
      return inserted === axis ? undefined : [inserted < axis ? axis - 1 : axis];
    }
    case "broadcast":
      return [operandsOf(op).value.type.shape[axis] === 1 ? undefined : axis];
    case "permute":
      return [op.attrs.order[axis]];
    case "splat":
    case "range":
      return op.operands.map(() => undefined);
    default:
      return hasTrait(op, "elementwise") || op.name === "pack" || op.name === "load"
        ? op.operands.map(({ type }) => type.shape.length === 0 ? undefined : axis)
        : undefined;
  }
}

/** A load behind the loop of which slices are taken. */
export interface SlicedLoad {
  readonly value: Value;
  readonly axis: number;
}

/** What happens behind a loop. */
export class Sliceable {
  /** Operations behind the loop, and in their regions. */
  readonly behind: ReadonlySet<Op>;
  readonly inRegions: ReadonlySet<Op>;
  /** Loads that do not depend on the loop: in slices, and whole. */
  readonly slicedLoads: SlicedLoad[] = [];
  readonly wholeLoads = new Set<OpOf<"load">>();
  /** What depends on the loop. */
  readonly #late = new Set<Value>();
  readonly #loop: Op;
  readonly #hasLayout: (value: Value, axis: number) => boolean;
  readonly #known = new Map<string, boolean>();

  constructor(behind: readonly Op[], loop: Op, hasLayout: (value: Value, axis: number) => boolean) {
    this.behind = new Set(behind);
    this.#loop = loop;
    this.#hasLayout = hasLayout;
    const inRegions = new Set<Op>();
    for (const op of behind) {
      for (const region of op.regions) walkOps(region, (inner) => inRegions.add(inner));
    }
    this.inRegions = inRegions;
    for (const value of loop.results) this.#late.add(value);
    behind.forEach((op) => this.#noteLate(op));
  }

  #noteLate(op: Op): void {
    for (const { ops } of op.regions) ops.forEach((inner) => this.#noteLate(inner));
    const inner = op.regions.flatMap(({ ops }) => ops);
    const used = [op, ...inner].flatMap(({ operands, results }) => [...operands, ...results]);
    if (used.some((value) => this.#late.has(value))) {
      op.results.forEach((value) => this.#late.add(value));
    }
  }

  /** Depends on what the loop results in. */
  isLate(value: Value): boolean {
    return this.#late.has(value);
  }

  /** Whether slices of a value along an axis can be computed without the rest of it. */
  isSliceable(value: Value, axis: number): boolean {
    const key = `${value.id} ${axis}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const found = this.#decide(value, axis);
    this.#known.set(key, found);
    return found;
  }

  #decide(value: Value, axis: number): boolean {
    const { def } = value;
    if (def === undefined) return false;
    if (def === this.#loop) return this.#hasLayout(value, axis);
    if (def.name === "if") {
      const { condition, thenValues, otherwiseValues } = branchOf(def);
      const isAlike = def.results.every(({ type: { shape } }) =>
        shape.length === value.type.shape.length && shape[axis] === value.type.shape[axis]
      );
      return isAlike && this.#isWhole(condition) &&
        [...thenValues, ...otherwiseValues].every((one) => this.isSliceable(one, axis));
    }
    const axes = operandAxes(def, axis);
    if (axes === undefined || !isPlainRead(def)) return false;
    if (def.name === "load" && this.behind.has(def) && !this.isLate(value)) {
      this.slicedLoads.push({ value, axis });
    }
    return def.operands.every((operand, i) => {
      const along = axes[i];
      return along === undefined ? this.#isWhole(operand) : this.isSliceable(operand, along);
    });
  }

  /** Whether slices can use a value as it is; loads that it takes are noted. */
  #isWhole({ def }: Value): boolean {
    if (def === undefined || (!this.behind.has(def) && !this.inRegions.has(def))) return true;
    if (def.regions.length > 0 || !isPlainRead(def)) return false;
    if (
      def.name === "load" && this.behind.has(def) && !def.results.some((one) => this.isLate(one))
    ) {
      this.wholeLoads.add(def);
    }
    return def.operands.every((operand) => this.#isWhole(operand));
  }
}

/** Has no effect, or loads what may be loaded at any time. */
export function isPlainRead(op: Op): boolean {
  return rowOf(op).effect === "pure" ||
    (op.name === "load" && !op.attrs.modifiers.includes("volatile"));
}
