/**
 * shiftRows: rows that start anywhere are accessed by aligned vectors, in the form of an entry for such rows.
 *
 * Where a row starts s elements behind a multiple of a vector of v elements, position i of a tile has element i - s. So vectors
 * of positions are vectors of memory, and what is computed from rows is computed twice: of the _middle_, the vectors
 * that are whole, and of the _ends_, a small tile of the elements that are in no such vector (row_parts.ts):
 *
 *     x = load X + row * ldx + i, i < N       x = load X + row * ldx - s + i, v <= i < N / v * v
 *     y = f(x, i, load W + i, i < N)          y = f(x, i - s, load W + i - s), and of the ends
 *     reduce y                                reduce (y of a thread's own elements of the middle + its one of the ends)
 *     store Y + row * ldy + i, y, i < N       store Y + row * ldy - s + i, y, v <= i < N / v * v, and the ends
 *
 * Each element of the tile is one of the middle or one of the ends, also those that the mask leaves out. Rows that are stored
 * are shifted as those that are loaded first, under conditions about base addresses and leading dimensions (alignment.ts).
 * What is loaded beside them and is not, such as weights, is loaded by threads that have vectors: word by word, and elements
 * that are less than a word by the aligned pieces that they lie in (lower/memory/unaligned_vectors.ts).
 *
 * By single elements an H200 sends as many requests to L2 as its partitions pass on to each other, and each element of a thread
 * takes an instruction and a predicate: of rows of 16,383 floats softmax made 0.904 of a copy, its derivative 0.872 and that of
 * layer norm 0.789; by vectors 0.972, 1.038 and 1.031 (tests/gpu/results/rows.md).
 */
import { type Func, newOp, type Op, type OpOf, type Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { hasTrait, isLookup } from "../../ir/table.ts";
import { isPointer, pointeeBytes } from "../../ir/types.ts";
import { cloneFunc, replaceFunc } from "../../ir/walk.ts";
import { axisAnalysis, type AxisFacts } from "../../tile/axis.ts";
import { cse } from "../../tile/cse.ts";
import { dropDead } from "../../tile/drop_dead.ts";
import type { Pass, TargetContext } from "../../tile/pass.ts";
import { simplify } from "../../tile/simplify.ts";
import { must } from "../../support/bug.ts";
import { ACCESS_BYTES, type Threads, WORD_BYTES } from "../anchors.ts";
import { CarriedData } from "../carried_data.ts";
import { alikeIf, type ShiftDemands } from "./alignment.ts";
import { type Make, maker, rowPointers, rowStarts, shiftOf } from "./expansion.ts";
import { type LongRows, longRowsOf } from "./long_rows.ts";
import { hasBits, ofThreads, ownByBits, ownByChoice } from "./own_elements.ts";
import { OutsideValues, withoutZero } from "./outside_values.ts";
import { maskTerms } from "./prefix_mask.ts";
import { endsOf, type Parts, partsOf, type RowPart } from "./row_parts.ts";

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
  const rows = longRowsOf(copy, threads, axisInfo);
  const demands = rows && new Shifting(copy, rows, axisInfo).run();
  if (demands === undefined) return undefined;
  replaceFunc(func, copy);
  for (const pass of [simplify, cse, dropDead]) pass.run(func);
  return demands;
}

/**
 * The most loads element by element, beside rows, of a program of several blocks: layer norm, with two, lost 5 to 9 % in
 * clusters, where its weights are less often in the L1 cache.
 */
const MOST_IN_CLUSTERS = 1;

/** A value as the parts of the tile have it. */
type Divided = Readonly<Record<"middle" | "ends", Value>>;

class Shifting {
  readonly #func: Func;
  readonly #rows: LongRows;
  readonly #axisInfo: AxisFacts;
  readonly #shape: readonly number[];
  readonly #out: Op[] = [];
  readonly #make: Make;
  readonly #carried = new CarriedData();
  /** Tiles that loaded rows are part of, or whose elements are the same along a row. */
  readonly #divided = new Map<Value, Divided>();
  readonly #alike = new Map<string, readonly [Value, Value]>();
  /** Loads of tiles like that of the rows: predicates of several leave none for a choice. */
  readonly #loads: number;
  /** Whether some of them are shifted otherwise, and read by pieces of vectors. */
  readonly #around: 0 | 1;
  #stores = 0;
  /** Loads element by element so far. */
  #single = 0;
  readonly #outside: OutsideValues;
  /** What results of reductions are now. */
  readonly #reduced = new Map<Value, Value>();
  /** The parts of the tile, from the first access on; their shift, and the scalar that bounds rows. */
  #parts: (Parts & { readonly shift: Value; readonly bound: Value | undefined }) | undefined;

  constructor(func: Func, rows: LongRows, axisInfo: AxisFacts) {
    const { leader } = rows;
    this.#func = func;
    this.#rows = rows;
    this.#axisInfo = axisInfo;
    this.#outside = new OutsideValues(func, rows.axis);
    this.#shape = resultOf(leader).type.shape;
    this.#make = maker(func, leader.span, this.#out);
    const loads = func.body.ops.filter((op): op is OpOf<"load"> =>
      op.name === "load" && this.#isTile(resultOf(op))
    );
    this.#loads = loads.length;
    const isOther = (op: OpOf<"load">): boolean =>
      alikeIf(func, operandsOf(leader).pointer, operandsOf(op).pointer) === undefined;
    const isNarrow = pointeeBytes(operandsOf(leader).pointer) < WORD_BYTES;
    this.#around = isNarrow && loads.some(isOther) ? 1 : 0;
  }

  /** What must hold of parameters; undefined where an operation does not allow that rows are divided. */
  run(): ShiftDemands | undefined {
    const { vector, threads } = this.#rows;
    if (endsOf({ vector, around: this.#around }) > threads) return undefined;
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

  /** Whether a program may have another load that is shifted otherwise. */
  #mayBeSingle(): boolean {
    return this.#around === 1 || this.#rows.blocks === 1 || ++this.#single <= MOST_IN_CLUSTERS;
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
    this.#outside.note(op, (condition) => this.#rowsOf(condition) !== undefined);
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
    const made = this.#divided.get(value)?.[part] ??
      (part === "middle" ? this.#maskOf(value) : undefined);
    return made ?? this.#parts?.[part].expansion.of(value);
  }

  /** A mask of elements by the vectors of the middle: its own vectors are inside of a row or outside. */
  #maskOf(value: Value): Value | undefined {
    const rows = this.#rowsOf(value);
    const parts = this.#parts;
    return rows && parts && this.#allOf(rows, parts.middle.isWhole);
  }

  /** Which rows a mask has, if it has what there is of each. */
  #rowsOf(mask: Value): readonly Value[] | undefined {
    const terms = mask.type.element === "bool" ? maskTerms(mask, this.#axisInfo) : undefined;
    if (terms?.bound === undefined || terms.bound !== this.#parts?.bound) return undefined;
    return terms.rows;
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
    const sum = operandsOf(op).value;
    const value = operator === "add" ? withoutZero(sum) : sum;
    const { element } = value.type;
    const parts = this.#parts;
    if (axis !== this.#rows.axis || parts === undefined) return false;
    if (operator !== "add" && operator !== "max" && operator !== "min") return false;
    if (isPointer(element) || element === "bool") return false;
    const result = resultOf(op);
    const [middle, ends] = (["middle", "ends"] as const).map((part) => {
      const own = this.#at(value, part);
      if (own === undefined) return undefined;
      if (part === "middle" && this.#outside.isNeutral(op, value)) return own;
      return part === "middle" && this.#loads > 1 && hasBits(operator, element)
        ? ownByBits(this.#make, operator, own, parts.middle.ownBits)
        : ownByChoice(this.#make, operator, own, parts[part].isOwn);
    });
    if (middle === undefined || ends === undefined) return false;
    const { shape } = ends.type;
    const ofThread = this.#make(
      operator,
      [ofThreads(this.#make, operator, middle, this.#rows), ends],
      element,
      shape,
    );
    const reduced = this.#make("reduce", [ofThread], element, result.type.shape, op.attrs);
    const all = value === sum ? reduced : this.#make(
      "add",
      [reduced, this.#make("constant", [], element, result.type.shape, { value: 0 })],
      element,
      result.type.shape,
    );
    if (result.name !== undefined) all.name = result.name;
    this.#reduced.set(result, all);
    return true;
  }

  #access(op: OpOf<"load" | "store">): boolean {
    const { axis, leader, vector, threads } = this.#rows;
    const { pointer, mask } = operandsOf(op);
    const terms = maskTerms(mask, this.#axisInfo);
    const isRow = !isLookup(op) && !op.attrs.modifiers.includes("volatile") &&
      this.#isTile(pointer) &&
      pointeeBytes(pointer) === pointeeBytes(operandsOf(leader).pointer) &&
      (this.#axisInfo(pointer).contiguity[axis] ?? 1) >= (this.#shape[axis] ?? 1);
    const start = isRow ? rowStarts(this.#make, pointer, axis) : undefined;
    if (start === undefined || terms === undefined) return false;
    const { bound } = terms;
    if (op === leader) {
      const shift = shiftOf(this.#make, start, vector);
      const around = this.#around;
      const rows = { shape: this.#shape, axis, vector, threads, shift, bound, around };
      this.#parts = { ...partsOf(this.#make, rows), shift, bound };
    }
    const parts = this.#parts;
    if (parts === undefined || parts.bound !== bound) return false;
    const { middle } = parts;
    const isAlike = this.#isAlike(pointer);
    if (!isAlike && (op.name === "store" || !this.#mayBeSingle())) return false;
    const isSingle = !isAlike && this.#around === 0;
    const isThere = this.#allOf(terms.rows, isSingle ? middle.isThere : middle.isWhole);
    const ends = this.#endsOf(op, start, parts.ends);
    if (ends === undefined || isThere === undefined) return false;
    if (op.name === "store") {
      const value = this.#at(operandsOf(op).value, "middle");
      if (value === undefined) return false;
      this.#store(op, [[this.#shifted(start, parts, true), value, isThere], ends]);
      return true;
    }
    const { element } = resultOf(op).type;
    const fill = operandsOf(op).other;
    const other = fill && this.#at(fill, "middle");
    if (fill !== undefined && other === undefined) return false;
    this.#outside.noteLoad(op);
    const address = this.#shifted(start, parts, isAlike);
    const operands = [address, isThere, ...other === undefined ? [] : [other]];
    const attrs = isAlike ? op.attrs : { ...op.attrs, in_vectors: true };
    return this.#both(
      resultOf(op),
      (part) =>
        this.#make(
          "load",
          part === "ends" ? ends : operands,
          element,
          this.#shapeOf(part),
          part === "ends" ? op.attrs : attrs,
        ),
    );
  }

  /** Whether addresses of rows are alike those of the first access, modulo a vector, if parameters are. */
  #isAlike(pointer: Value): boolean {
    const pairs = alikeIf(this.#func, operandsOf(this.#rows.leader).pointer, pointer);
    for (const pair of pairs ?? []) this.#alike.set(pair.map(({ id }) => id).join(), pair);
    return pairs !== undefined;
  }

  /** Pointers to the elements at the positions of the middle; of rows that are shifted alike they are aligned vectors. */
  #shifted(
    start: Value,
    { shift, middle: { positions } }: Parts & { readonly shift: Value },
    isAlike: boolean,
  ): Value {
    const { element, shape } = start.type;
    const before = this.#make(
      "neg",
      [this.#make("convert", [shift], "int32", shape)],
      "int32",
      shape,
    );
    const first = this.#make("offset", [start, before], element, shape);
    const aligned = isAlike
      ? this.#make("assume_multiple", [first], element, shape, { n: ACCESS_BYTES })
      : first;
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
