/**
 * shiftRows: rows that start anywhere are accessed by aligned vectors, in the form of an entry for such rows.
 *
 * Where a row starts s elements behind a multiple of a vector of v elements, position i of a tile has element i - s. So vectors
 * of positions are vectors of memory, and what is computed from rows is computed twice: of the _middle_, the vectors
 * that are whole, and of the _ends_, a small tile of the elements that are in no such vector (row_parts.ts):
 *
 *     x = load X + row * ldx + i, i < N       x = load X + row * ldx - s + i, v <= i < N / v * v
 *     y = f(x, i)                             y = f(x, i - s), and of the ends
 *     reduce y                                reduce (y of a thread's own elements of the middle + its one of the ends)
 *     store Y + row * ldy + i, y, i < N       store Y + row * ldy - s + i, y, v <= i < N / v * v, and the ends
 *
 * Each element of the tile is one of the middle or one of the ends, also those that the mask leaves out. All rows of a
 * program are shifted alike, under conditions about base addresses and leading dimensions (alignment.ts).
 *
 * By single elements an H200 sends as many requests to L2 as its partitions pass on to each other, and each element of a thread
 * takes an instruction and a predicate: softmax of 8192×16383 floats 0.906 of a copy, by vectors 0.972, of 2048×65535 0.853 and
 * 0.969. Where rows of several tensors are loaded, or weights beside them, the predicates of their vectors are more
 * than a thread has: assemblers then begin loads one after the other, and derivatives lost (tests/gpu/RESULTS.md).
 */
import { type Func, newOp, type Op, type OpOf, type Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { hasTrait, isLookup } from "../../ir/table.ts";
import { isFloat, isPointer, pointeeBytes } from "../../ir/types.ts";
import { cloneFunc, replaceFunc } from "../../ir/walk.ts";
import { product } from "../../linear/linear.ts";
import { axisAnalysis, type AxisFacts } from "../../tile/axis.ts";
import { cse } from "../../tile/cse.ts";
import { dropDead } from "../../tile/drop_dead.ts";
import type { Pass, TargetContext } from "../../tile/pass.ts";
import { simplify } from "../../tile/simplify.ts";
import { must } from "../../support/bug.ts";
import { type ScalarName, SCALARS } from "../../support/scalar.ts";
import { ACCESS_BYTES, type Threads, vectorAlong } from "../anchors.ts";
import { CarriedData } from "../carried_data.ts";
import { alikeIf, type ShiftDemands } from "./alignment.ts";
import { type Make, maker, rowPointers, rowStarts, shiftOf } from "./expansion.ts";
import { maskTerms } from "./prefix_mask.ts";
import { type Parts, partsOf, type RowPart } from "./row_parts.ts";

/** Shorter rows gain little: at 2001 floats 1 %. */
const LEAST_BYTES = 16384;
/** A vector of doubles is two: single ones are nearly as wide (and not timed). */
const LEAST_VECTOR = 4;

export const shiftRows: Pass<TargetContext> = {
  name: "shift-rows",
  doc: "rows that start anywhere are accessed by aligned vectors, in the form of an entry for them",
  run: (func, context) => context.form === "shifted" && toShiftedForm(func, context) !== undefined,
};

/**
 * Edits the function as the pass does. What must hold of parameters so that it then means the same; undefined: it has no such
 * rows, or does something else with them, and nothing has changed.
 */
export function toShiftedForm(func: Func, threads: Threads): ShiftDemands | undefined {
  const copy = cloneFunc(func);
  const axisInfo = axisAnalysis(copy);
  const rows = rowsOf(copy, threads, axisInfo);
  const demands = rows && new Shifting(copy, rows, axisInfo).run();
  if (demands === undefined) return undefined;
  replaceFunc(func, copy);
  for (const pass of [simplify, cse, dropDead]) pass.run(func);
  return demands;
}

/** The rows of a function. */
interface Rows {
  /** The first access to rows whose alignment is not known. */
  readonly leader: OpOf<"load">;
  readonly axis: number;
  /** Elements of a vector. */
  readonly vector: number;
  /** Of a program. */
  readonly threads: number;
  readonly blocks: number;
}

function rowsOf({ body }: Func, threads: Threads, axisInfo: AxisFacts): Rows | undefined {
  for (const op of body.ops) {
    if (op.name !== "load") continue;
    const { pointer } = operandsOf(op);
    const { shape } = pointer.type;
    const axis = shape.length - 1;
    const extent = shape[axis] ?? 1;
    const bytes = pointeeBytes(pointer);
    const vector = ACCESS_BYTES / bytes;
    const isRow = vector >= LEAST_VECTOR && extent * bytes >= LEAST_BYTES &&
      (axisInfo(pointer).contiguity[axis] ?? 1) >= extent;
    if (!isRow || vectorAlong(op, axis, axisInfo) >= vector) continue;
    const count = 32 * threads.numWarps * threads.numCtas;
    // Each thread has whole vectors of one row, and one element of its ends.
    const isLarge = product(shape) === extent && extent >= count * vector && count >= 3 * vector;
    return isLarge
      ? { leader: op, axis, vector, threads: count, blocks: threads.numCtas }
      : undefined;
  }
  return undefined;
}

/** Integers of so many bits that change nothing in a reduction. */
const NEUTRAL: Readonly<
  Record<"add" | "max" | "min", (bits: number, signed: boolean) => bigint>
> = {
  add: () => 0n,
  max: (bits, signed) => signed ? -(1n << BigInt(bits - 1)) : 0n,
  min: (bits, signed) => (1n << BigInt(signed ? bits - 1 : bits)) - 1n,
};

/** A value as the parts of the tile have it. */
type Divided = Readonly<Record<"middle" | "ends", Value>>;

class Shifting {
  readonly #func: Func;
  readonly #rows: Rows;
  readonly #axisInfo: AxisFacts;
  readonly #shape: readonly number[];
  readonly #out: Op[] = [];
  readonly #make: Make;
  readonly #carried = new CarriedData();
  /** Tiles that loaded rows are part of, or whose elements are the same along a row. */
  readonly #divided = new Map<Value, Divided>();
  readonly #alike = new Map<string, readonly [Value, Value]>();
  #stores = 0;
  /** What results of reductions are now. */
  readonly #reduced = new Map<Value, Value>();
  /** The parts of the tile, from the first access on; their shift, and the scalar that bounds rows. */
  #parts: (Parts & { readonly shift: Value; readonly bound: Value | undefined }) | undefined;

  constructor(func: Func, rows: Rows, axisInfo: AxisFacts) {
    const { leader } = rows;
    this.#func = func;
    this.#rows = rows;
    this.#axisInfo = axisInfo;
    this.#shape = resultOf(leader).type.shape;
    this.#make = maker(func, leader.span, this.#out);
  }

  /** What must hold of parameters; undefined where an operation does not allow that rows are divided. */
  run(): ShiftDemands | undefined {
    for (const op of this.#func.body.ops) {
      if (op.regions.length > 0) return undefined;
      op.operands = op.operands.map((value) => this.#reduced.get(value) ?? value);
      const isOfTile = [...op.operands, ...op.results].some((value) => this.#isTile(value));
      if (!isOfTile) this.#out.push(op);
      else if (!this.#divide(op)) return undefined;
    }
    this.#func.body.ops = this.#out;
    return { vector: this.#rows.vector, alike: [...this.#alike.values()] };
  }

  #isTile({ type: { shape } }: Value): boolean {
    return shape.length === this.#shape.length &&
      shape.every((extent, axis) => extent === this.#shape[axis]);
  }

  #divide(op: Op): boolean {
    if (op.name === "load" || op.name === "store") return this.#access(op);
    if (op.name === "reduce") return this.#reduce(op);
    if (op.results.length !== 1) return false;
    const result = resultOf(op);
    const isSame = op.name === "splat" || op.name === "constant" ||
      (op.name === "broadcast" && operandsOf(op).value.type.shape[this.#rows.axis] === 1);
    // Indices are computed again for their users.
    if (!isSame && !this.#carried.isData(result)) {
      this.#out.push(op);
      return true;
    }
    if (!isSame && !hasTrait(op, "elementwise")) return false;
    return this.#both(result, (part) => this.#again(op, part));
  }

  /** Makes a value for both parts. */
  #both(value: Value, make: (part: "middle" | "ends") => Value | undefined): boolean {
    const [middle, ends] = [make("middle"), make("ends")];
    if (middle === undefined || ends === undefined) return false;
    if (value.name !== undefined) middle.name = value.name;
    this.#divided.set(value, { middle, ends });
    return true;
  }

  /** An operation again, of the elements of a part. */
  #again(op: Op, part: "middle" | "ends"): Value | undefined {
    const operands = this.#all(op.operands, part);
    return operands &&
      this.#make(op.name, operands, resultOf(op).type.element, this.#shapeOf(part), op.attrs);
  }

  #shapeOf(part: "middle" | "ends"): readonly number[] {
    const { axis, threads } = this.#rows;
    return part === "middle" ? this.#shape : this.#shape.with(axis, threads);
  }

  #all(values: readonly Value[], part: "middle" | "ends"): readonly Value[] | undefined {
    const all = values.map((value) => this.#at(value, part));
    return all.every((one) => one !== undefined) ? all : undefined;
  }

  /** The elements that a part has of a tile; undefined if they are not known. */
  #at(value: Value, part: "middle" | "ends"): Value | undefined {
    if (!this.#isTile(value)) return value;
    return this.#divided.get(value)?.[part] ?? this.#parts?.[part].expansion.of(value);
  }

  /** A mask, and all of some masks of rows. */
  #allOf(rows: readonly Value[], mask: Value): Value | undefined {
    const { expansion } = must(this.#parts, "parts of the tile").middle;
    let all = mask;
    for (const row of rows) {
      const one = expansion.of(row);
      if (one === undefined) return undefined;
      all = this.#make("and", [all, one], "bool", this.#shape);
    }
    return all;
  }

  #reduce(op: OpOf<"reduce">): boolean {
    const { axis, operator } = op.attrs;
    const { value } = operandsOf(op);
    const { element } = value.type;
    if (axis !== this.#rows.axis || this.#parts === undefined) return false;
    if (operator !== "add" && operator !== "max" && operator !== "min") return false;
    if (isPointer(element) || element === "bool") return false;
    const result = resultOf(op);
    const [middle, ends] = (["middle", "ends"] as const).map((part) => {
      const own = this.#at(value, part);
      return own && this.#ownOf(own, element, part, operator);
    });
    if (middle === undefined || ends === undefined) return false;
    const { shape } = ends.type;
    const ofThread = this.#make(operator, [this.#ofThreads(middle, op), ends], element, shape);
    const all = this.#make("reduce", [ofThread], element, result.type.shape, op.attrs);
    if (result.name !== undefined) all.name = result.name;
    this.#reduced.set(result, all);
    return true;
  }

  /** A part's own elements, and what changes nothing in a reduction in place of the others. */
  #ownOf(
    value: Value,
    element: ScalarName,
    part: "middle" | "ends",
    operator: "add" | "max" | "min",
  ): Value {
    const { shape } = value.type;
    const { bits, signed } = SCALARS[element];
    // Of a number and NaN the number is the smaller and the larger one.
    const nothing = !isFloat(element)
      ? NEUTRAL[operator](bits, signed)
      : operator === "add"
      ? 0
      : NaN;
    const none = this.#make("constant", [], element, shape, { value: nothing });
    const { isOwn } = must(this.#parts, "parts of the tile")[part];
    // What is in memory is a part of what is its own.
    return this.#make("select", [isOwn, value, none], element, shape, { covers: true });
  }

  /** What each thread makes of its vectors of the middle, as one element, without the others. */
  #ofThreads(middle: Value, { attrs: { operator } }: OpOf<"reduce">): Value {
    const { element, shape } = middle.type;
    const { vector, threads, blocks } = this.#rows;
    // Each block of a program has a part of the row, whose vectors its threads have in turn.
    const own = [blocks, product(shape) / (threads * vector), threads / blocks];
    const vectors = this.#make("reshape", [middle], element, [...own, vector]);
    const ofVectors = this.#make("reduce", [vectors], element, own, { axis: 3, operator });
    const ofThreads = this.#make("reduce", [ofVectors], element, own.toSpliced(1, 1), {
      axis: 1,
      operator,
    });
    return this.#make("reshape", [ofThreads], element, this.#shapeOf("ends"));
  }

  #access(op: OpOf<"load" | "store">): boolean {
    const { axis, leader, vector, threads } = this.#rows;
    const { pointer, mask } = operandsOf(op);
    const terms = maskTerms(mask, this.#axisInfo);
    const isOnly = op === leader || op.name === "store";
    const isRow = isOnly && !isLookup(op) && !op.attrs.modifiers.includes("volatile") &&
      this.#isTile(pointer) &&
      pointeeBytes(pointer) === pointeeBytes(operandsOf(leader).pointer) &&
      (this.#axisInfo(pointer).contiguity[axis] ?? 1) >= (this.#shape[axis] ?? 1);
    const start = isRow ? rowStarts(this.#make, pointer, axis) : undefined;
    if (start === undefined || terms === undefined) return false;
    const { bound } = terms;
    if (op === leader) {
      const shift = shiftOf(this.#make, start, vector);
      const rows = { shape: this.#shape, axis, vector, threads, shift, bound };
      this.#parts = { ...partsOf(this.#make, rows), shift, bound };
    }
    const parts = this.#parts;
    if (parts === undefined || parts.bound !== bound) return false;
    if (!this.#isAlike(pointer)) return false;
    const isThere = this.#allOf(terms.rows, parts.isWhole);
    const ends = this.#endsOf(op, start, parts.ends);
    if (ends === undefined || isThere === undefined) return false;
    if (op.name === "store") {
      const value = this.#at(operandsOf(op).value, "middle");
      if (value === undefined) return false;
      this.#store(op, [[this.#aligned(start, parts), value, isThere], ends]);
      return true;
    }
    const { element } = resultOf(op).type;
    const fill = operandsOf(op).other;
    const other = fill && this.#at(fill, "middle");
    if (fill !== undefined && other === undefined) return false;
    const operands = [this.#aligned(start, parts), isThere, ...other === undefined ? [] : [other]];
    return this.#both(
      resultOf(op),
      (part) =>
        this.#make(
          "load",
          part === "ends" ? ends : operands,
          element,
          this.#shapeOf(part),
          op.attrs,
        ),
    );
  }

  /** Whether addresses of rows are alike those of the first access, modulo a vector, if parameters are. */
  #isAlike(pointer: Value): boolean {
    const pairs = alikeIf(this.#func, operandsOf(this.#rows.leader).pointer, pointer);
    for (const pair of pairs ?? []) this.#alike.set(pair.map(({ id }) => id).join(), pair);
    return pairs !== undefined;
  }

  /** Pointers to aligned vectors at the positions of the middle. */
  #aligned(start: Value, { shift, positions }: Parts & { readonly shift: Value }): Value {
    const { element, shape } = start.type;
    const before = this.#make(
      "neg",
      [this.#make("convert", [shift], "int32", shape)],
      "int32",
      shape,
    );
    const first = this.#make("offset", [start, before], element, shape);
    const aligned = this.#make("assume_multiple", [first], element, shape, { n: ACCESS_BYTES });
    return rowPointers(this.#make, aligned, positions);
  }

  /** The operands of an access to the ends. */
  #endsOf(op: OpOf<"load" | "store">, start: Value, ends: RowPart): readonly Value[] | undefined {
    const [, ...others] = op.operands;
    const { mask } = operandsOf(op);
    const rest = this.#all(others.filter((one) => one !== mask), "ends");
    const inRow = mask === undefined ? ends.isOwn : ends.expansion.of(mask);
    if (rest === undefined || inRow === undefined) return undefined;
    const own = this.#make("and", [inRow, ends.isOwn], "bool", ends.shape);
    const pointers = rowPointers(this.#make, start, ends.indices);
    return op.name === "store" ? [pointers, ...rest, own] : [pointers, own, ...rest];
  }

  /** The stores of both parts need no order: their elements differ. */
  #store({ attrs, span }: OpOf<"store">, parts: readonly (readonly Value[])[]): void {
    const slice_of = this.#stores++;
    for (const operands of parts) {
      this.#out.push(newOp(this.#func, "store", operands, [], span, { ...attrs, slice_of }));
    }
  }
}
