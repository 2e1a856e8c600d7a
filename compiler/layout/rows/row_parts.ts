/**
 * The parts of a tile whose rows start anywhere (shifted_rows.ts): which of its elements are in the vectors of memory that are
 * whole, the _middle_, and which are the _ends_.
 *
 * Let a row start s elements behind a multiple of a vector of v elements, and have n of the tile's c elements. Position i of
 * the middle has element i - s. Its vectors are whole where v <= i < n / v * v. Vectors from n + s on are outside of the row.
 * What is in neither is one of at most 3 v elements of the ends: those of the first vector, those behind the last position,
 * and those of the two vectors between whole ones and those outside.
 *
 * Rows of another shift have the same elements in two of their vectors. So that these are there too, a vector more at each end
 * of the row is none of the middle (`around`), and the ends have at most 5 v elements.
 */
import type { Value } from "../../ir/func.ts";
import type { BareOp } from "../../ir/ops.ts";
import type { Element } from "../../ir/types.ts";
import { Expansion, type Make } from "./expansion.ts";

/** A part of the tile. */
export interface RowPart {
  readonly shape: readonly number[];
  /** The index in its row of each element. */
  readonly indices: Value;
  /** Which of them are elements of the tile that the other part does not have. */
  readonly isOwn: Value;
  /** Index expressions again, of its elements. */
  readonly expansion: Expansion;
}

/** The rows of a tile. */
export interface TileRows {
  readonly shape: readonly number[];
  readonly axis: number;
  /** Elements of a vector. */
  readonly vector: number;
  /** Elements of the tile of the ends: one for each thread. */
  readonly threads: number;
  /** How many elements behind a vector's beginning each row starts. */
  readonly shift: Value;
  /** A scalar: how many elements of the tile rows have; undefined: all. */
  readonly bound: Value | undefined;
  /** Vectors of a row before those of the middle, and behind them. */
  readonly around: 0 | 1;
}

/** The most elements of the ends. */
export const endsOf = ({ vector, around }: Pick<TileRows, "vector" | "around">): number =>
  (3 + 2 * around) * vector;

/** The part with the vectors that are whole. Where masks are by vectors, what they say is true of its own elements. */
export interface Middle extends RowPart {
  /** The position of each element. */
  readonly positions: Value;
  /** Which of its own vectors are in a row: are in memory. Accesses see that it does not change within a vector. */
  readonly isWhole: Value;
  /**
   * The same for accesses to single elements, whose predicates are others then: with those of vectors ptxas mixes such loads
   * (derivative of RMS norm of 65,535 floats, H100: 0.957 of a copy for 1.004).
   */
  readonly isThere: Value;
  /** All bits of its own elements, none of the others: threads have seven predicates, which the accesses take. */
  readonly ownBits: Value;
}

export interface Parts {
  readonly middle: Middle;
  readonly ends: RowPart;
}

/** Arithmetic of tiles of one shape. */
class Tiles {
  constructor(readonly make: Make, readonly shape: readonly number[]) {}

  number(value: number): Value {
    return this.make("constant", [], "int32", this.shape, { value: BigInt(value) });
  }

  do(name: BareOp, left: Value, right: Value | number): Value {
    const isComparison = name === "lt" || name === "ge";
    const other = typeof right === "number" ? this.number(right) : right;
    const element = isComparison ? "bool" : left.type.element;
    return this.make(name, [left, other], element, this.shape);
  }

  spread(value: Value): Value {
    const { element, shape } = value.type;
    return this.make(shape.length === 0 ? "splat" : "broadcast", [value], element, this.shape);
  }

  multiple(value: Value, n: number): Value {
    const { element, shape } = value.type;
    return this.make("assume_multiple", [value], element, shape, { n });
  }

  /** lo, lo + 1, … along an axis, each as often as it takes. */
  range(axis: number, each = 1): Value {
    const { make, shape } = this;
    const extent = shape[axis] ?? 1;
    const counts = make("range", [], "int32", [extent / each], { lo: 0n });
    const column = make("expand_dims", [counts], "int32", [extent / each, 1], { axis: 1 });
    const repeated = each === 1
      ? counts
      : make("reshape", [make("broadcast", [column], "int32", [extent / each, each])], "int32", [
        extent,
      ]);
    const along = shape.map((_, d) => d === axis ? extent : 1);
    return this.spread(make("reshape", [repeated], "int32", along));
  }
}

export function partsOf(make: Make, rows: TileRows): Parts {
  const { shape, axis, vector, threads, shift, bound, around } = rows;
  const extent = shape[axis] ?? 1;
  /** The first position of its own vectors. */
  const begin = (1 + around) * vector;
  const starts = new Tiles(make, shape.with(axis, 1));
  const s = make("convert", [shift], "int32", starts.shape);
  const n = bound === undefined
    ? starts.number(extent)
    : starts.do("min", starts.spread(bound), extent);
  /** Where whole vectors end, and where those outside begin. */
  const inner = around === 0 ? n : starts.do("sub", n, around * vector);
  const whole = starts.multiple(starts.do("and", inner, -vector), vector);
  const outside = starts.do("and", starts.do("add", starts.do("add", n, s), vector - 1), -vector);

  const middle = new Tiles(make, shape);
  const positions = middle.range(axis);
  const first = middle.do("mul", middle.range(axis, vector), vector);
  const isBehindFirst = middle.do("ge", first, begin);
  const isInside = middle.do("lt", first, middle.spread(whole));
  const isThere = middle.do("and", isBehindFirst, isInside);
  const isOutside = middle.do("ge", first, middle.spread(outside));
  const isOwn = middle.do("and", isBehindFirst, middle.do("or", isInside, isOutside));
  /** All bits where a vector begins before. */
  const before = (end: Value): Value => middle.do("shr", middle.do("sub", first, end), 31);
  const notBefore = (end: Value): Value => middle.do("xor", before(end), -1);
  const ownBits = middle.do(
    "and",
    notBefore(middle.number(begin)),
    middle.do("or", before(middle.spread(whole)), notBefore(middle.spread(outside))),
  );
  const isWhole = middle.do(
    "and",
    middle.do("ge", positions, begin),
    middle.do("lt", positions, middle.spread(whole)),
  );

  const ends = new Tiles(make, shape.with(axis, threads));
  const j = ends.range(axis);
  const spread = (value: Value): Value => ends.spread(value);
  const select = (condition: Value, then: Value, otherwise: Value): Value =>
    make("select", [condition, then, otherwise], "int32", ends.shape);
  const ofFirst = spread(starts.do("sub", starts.number(begin), s));
  // What is before the own vectors and what is behind the last position are whole vectors together.
  const isFirst = ends.do("lt", j, ofFirst);
  const isBetween = ends.do("ge", j, begin);
  const behind = ends.do(
    "add",
    ends.do("sub", j, ofFirst),
    spread(starts.do("sub", starts.number(extent), s)),
  );
  const at = ends.do("add", ends.do("sub", j, begin), spread(whole));
  const indices = select(
    isBetween,
    ends.do("sub", at, spread(s)),
    select(isFirst, j, behind),
  );
  const between = [
    ends.do("ge", at, begin),
    ends.do("lt", at, extent),
    ends.do("lt", at, spread(outside)),
    ends.do("lt", j, endsOf(rows)),
  ].reduce((all, one) => ends.do("and", all, one));
  const always = make("constant", [], "bool", ends.shape, { value: 1n });
  const elements = middle.do("sub", positions, middle.spread(s));
  return {
    middle: { ...part(make, shape, axis, elements, isOwn), positions, isWhole, isThere, ownBits },
    ends: part(
      make,
      ends.shape,
      axis,
      indices,
      make("select", [isBetween, between, always], "bool", ends.shape),
    ),
  };
}

function part(
  make: Make,
  shape: readonly number[],
  axis: number,
  indices: Value,
  isOwn: Value,
): RowPart {
  const indexOf = (element: Element, lo: number | bigint): Value => {
    const from = Number(lo) === 0 ? indices : make(
      "add",
      [indices, make("constant", [], "int32", shape, { value: BigInt(lo) })],
      "int32",
      shape,
    );
    return element === "int32" ? from : make("convert", [from], element, shape);
  };
  return { shape, indices, isOwn, expansion: new Expansion(make, shape, indexOf, axis) };
}
