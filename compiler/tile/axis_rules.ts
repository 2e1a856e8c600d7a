/** Rules of axis analysis (axis_info.ts), one per operation. */
import { CONSTANT_ALIGN } from "../support/constants.ts";
import { type ScalarName, SCALARS } from "../support/scalar.ts";
import type { Op, OpOf, Value } from "../ir/func.ts";
import { constantOf, operandsOf, resultOf } from "../ir/op.ts";
import type { ComparisonOp, TileOp } from "../ir/ops.ts";
import { bytesOf, isPointer } from "../ir/types.ts";
import {
  type AxisInfo,
  everywhere,
  meet,
  MOST,
  powerOfTwoIn,
  rank,
  scalarInfo,
  shortened,
  unknown,
} from "./axis_info.ts";
import { times } from "../support/times.ts";

type Of = (value: Value) => AxisInfo;

/** What rules of divisions ask for. */
export interface Divisions {
  /** Whether a signed number is never negative (non_negative.ts). */
  readonly isNonNegative: (value: Value) => boolean;
  /** Runs are taken not to end at multiples of the divisor: not facts, but what is likely of large divisors. */
  readonly areLong: boolean;
}

export type Rule<N extends TileOp> = (op: OpOf<N>, of: Of, divisions: Divisions) => AxisInfo;

type OrderOp = Exclude<ComparisonOp, "eq" | "ne">;

/** By rank; rules ask for the axes of every value several times. */
const AXES: (readonly number[])[] = [];

const axes = (value: Value): readonly number[] =>
  AXES[rank(value)] ??= times(rank(value), (axis) => axis);

/** a + b, pointer + count (scale: bytes per element of the pointer), a - b (contiguous only on the left). */
function additive(
  left: Value,
  right: Value,
  of: Of,
  scale: number,
  rightRuns: boolean,
): AxisInfo {
  const [a, b] = [of(left), of(right)];
  const at = axes(left);
  const contiguity = at.map((d) => {
    const onLeft = meet(a.contiguity[d] ?? 1, b.constancy[d] ?? 1);
    const onRight = rightRuns ? meet(a.constancy[d] ?? 1, b.contiguity[d] ?? 1) : 1;
    return Math.max(onLeft, onRight);
  });
  return {
    contiguity,
    // A pointer's runs advance by whole elements: inside its old runs starts are multiples of the element size.
    divisibility: at.map((d) => {
      const c = contiguity[d] ?? 1;
      const start = c < (a.contiguity[d] ?? 1)
        ? meet(a.divisibility[d] ?? 1, c * scale)
        : a.divisibility[d] ?? 1;
      return meet(start, Math.min(MOST, shortened(b, d, c) * scale));
    }),
    constancy: at.map((d) => meet(a.constancy[d] ?? 1, b.constancy[d] ?? 1)),
  };
}

const multiplicative: Rule<"mul"> = (op, of) => {
  const { left, right } = operandsOf(op);
  const [a, b] = [of(left), of(right)];
  const at = axes(left);
  return {
    contiguity: at.map(() => 1),
    divisibility: at.map((d) => Math.min(MOST, everywhere(a, d) * everywhere(b, d))),
    constancy: at.map((d) => meet(a.constancy[d] ?? 1, b.constancy[d] ?? 1)),
  };
};

/** Element-wise without further knowledge: equal inputs give equal outputs. */
const constantRunsOnly = (op: Op, of: Of): AxisInfo => {
  const result = resultOf(op);
  const infos = op.operands.map(of);
  return {
    ...unknown(result),
    constancy: axes(result).map((d) =>
      infos.reduce((k, info) => meet(k, info.constancy[d] ?? 1), MOST)
    ),
  };
};

/** What divides a number divides it with the other sign. */
const negated: Rule<"neg"> = (op, of) => {
  const info = of(operandsOf(op).value);
  return {
    ...constantRunsOnly(op, of),
    divisibility: info.divisibility.map((_, d) => everywhere(info, d)),
  };
};

/** Equal addresses give equal elements, where nothing else writes them at the same time. */
const loaded: Rule<"load"> = (op, of) =>
  op.attrs.modifiers.includes("volatile") ? unknown(resultOf(op)) : constantRunsOnly(op, of);

/** The smaller or larger of two numbers is one of them. */
const oneOfBoth: Rule<"min" | "max"> = (op, of) => {
  const { left, right } = operandsOf(op);
  const [a, b] = [of(left), of(right)];
  return {
    ...constantRunsOnly(op, of),
    divisibility: axes(left).map((d) => meet(everywhere(a, d), everywhere(b, d))),
  };
};

/**
 * A comparison `run < bound`: where run starts and the bound are multiples of g, runs of g answer alike.
 * `run` is the operand that increases; the bound must be constant along the run.
 */
function comparison(run: "left" | "right"): Rule<OrderOp> {
  return (op, of) => {
    const plain = constantRunsOnly(op, of);
    const operands = operandsOf(op);
    const [x, bound] = [of(operands[run]), of(operands[run === "left" ? "right" : "left"])];
    const { element } = operands[run].type;
    const scale = isPointer(element) ? bytesOf(element.pointee) : 1;
    return {
      ...plain,
      constancy: plain.constancy.map((k, d) => {
        // Divisibility of pointers counts bytes, runs count elements.
        const aligned = meet(x.contiguity[d] ?? 1, (x.divisibility[d] ?? 1) / scale);
        const bounded = meet(everywhere(bound, d) / scale, bound.constancy[d] ?? 1);
        return Math.max(k, meet(aligned, bounded));
      }),
    };
  };
}

/**
 * How long the aligned runs are that lie between two multiples of the divisor. Not of numbers that may be negative:
 * divisions round towards zero, so -16 / 16 and -15 / 16 differ.
 */
function runsOfDivision(
  op: OpOf<"div" | "rem">,
  of: Of,
  { isNonNegative, areLong }: Divisions,
): readonly number[] {
  const { left, right } = operandsOf(op);
  const { element } = left.type;
  const isUnsigned = !isPointer(element) && SCALARS[element].class === "int" &&
    !SCALARS[element].signed;
  const isExact = isUnsigned || isNonNegative(left);
  const [a, b] = [of(left), of(right)];
  return axes(left).map((d) => {
    const contiguous = a.contiguity[d] ?? 1;
    if (areLong) return contiguous;
    const aligned = meet(contiguous, a.divisibility[d] ?? 1);
    return isExact ? meet(aligned, meet(everywhere(b, d), b.constancy[d] ?? 1)) : 1;
  });
}

/** x .. x + 7 give one quotient where x and the divisor are multiples of 8. Half of a multiple of 8 is one of 4. */
const quotient: Rule<"div"> = (op, of, divisions) => {
  const plain = constantRunsOnly(op, of);
  const runs = runsOfDivision(op, of, divisions);
  const { left, right } = operandsOf(op);
  const divisor = constantOf(right);
  return {
    ...plain,
    constancy: plain.constancy.map((k, d) => Math.max(k, runs[d] ?? 1)),
    divisibility: typeof divisor === "bigint" && isPowerOfTwo(divisor)
      ? dividedBy(of(left), Number(divisor))
      : plain.divisibility,
  };
};

/** The divisibility of numbers that are divided by a power of two; 1 where a remainder may be left. */
const dividedBy = (info: AxisInfo, power: number): readonly number[] =>
  info.divisibility.map((_, d) => Math.max(1, everywhere(info, d) / power));

const isPowerOfTwo = (value: bigint): boolean => value > 0n && (value & (value - 1n)) === 0n;

/** Shifts by a constant are products and quotients: a multiple of 8 >> 1 is one of 4. */
function shifted(direction: "left" | "right"): Rule<"shl" | "shr"> {
  return (op, of) => {
    const plain = constantRunsOnly(op, of);
    const { left, right } = operandsOf(op);
    const count = constantOf(right);
    if (typeof count !== "bigint" || count < 0n || count >= 30n) return plain;
    const [info, power] = [of(left), 2 ** Number(count)];
    const divisibility = direction === "right"
      ? dividedBy(info, power)
      : info.divisibility.map((_, d) => Math.min(MOST, everywhere(info, d) * power));
    return { ...plain, divisibility };
  };
}

/** ... and a run of remainders. */
const remainder: Rule<"rem"> = (op, of, divisions) => {
  const contiguity = runsOfDivision(op, of, divisions);
  const { left, right } = operandsOf(op);
  const [a, b] = [of(left), of(right)];
  return {
    ...constantRunsOnly(op, of),
    contiguity,
    divisibility: contiguity.map((c, d) => c > 1 ? meet(shortened(a, d, c), everywhere(b, d)) : 1),
  };
};

/** The extent of a last axis that becomes part of the one before it; 1 where that is not what changes. */
function joinedAxes(from: readonly number[], to: readonly number[]): number {
  const kept = to.slice(0, -1);
  const isJoined = from.length === to.length + 1 && kept.every((extent, d) => from[d] === extent);
  return isJoined && (from.at(-2) ?? 1) > 1 ? from.at(-1) ?? 1 : 1;
}

const select: Rule<"select"> = (op, of) => {
  const { condition, then, otherwise } = operandsOf(op);
  const [c, a, b] = [of(condition), of(then), of(otherwise)];
  const at = axes(condition);
  const contiguity = at.map((d) =>
    meet(c.constancy[d] ?? 1, meet(a.contiguity[d] ?? 1, b.contiguity[d] ?? 1))
  );
  return {
    contiguity,
    divisibility: at.map((d) =>
      meet(shortened(a, d, contiguity[d] ?? 1), shortened(b, d, contiguity[d] ?? 1))
    ),
    constancy: at.map((d) =>
      meet(c.constancy[d] ?? 1, meet(a.constancy[d] ?? 1, b.constancy[d] ?? 1))
    ),
  };
};

const constant: Rule<"constant"> = (op) => {
  const { value } = op.attrs;
  const isWhole = typeof value === "bigint" || Number.isInteger(value);
  return filled(resultOf(op), isWhole ? powerOfTwoIn(value) : 1);
};

/** The same value everywhere. */
function filled(result: Value, divisibility: number): AxisInfo {
  return {
    contiguity: axes(result).map(() => 1),
    divisibility: axes(result).map(() => divisibility),
    constancy: axes(result).map((d) => result.type.shape[d] ?? 1),
  };
}

const convert: Rule<"convert"> = (op, of) => {
  const { value } = operandsOf(op);
  const [from, to] = [value.type.element, resultOf(op).type.element];
  const info = of(value);
  if (isPointer(from) || isPointer(to)) {
    if (!isPointer(from) || !isPointer(to)) return constantRunsOnly(op, of);
    if (bytesOf(from.pointee) === bytesOf(to.pointee)) return info;
    // The addresses stay, but what was a run of elements is none of others.
    return {
      contiguity: info.contiguity.map(() => 1),
      divisibility: info.contiguity.map((c, d) =>
        c > 1 ? meet(info.divisibility[d] ?? 1, bytesOf(from.pointee)) : info.divisibility[d] ?? 1
      ),
      constancy: info.constancy,
    };
  }
  const isInt = (name: ScalarName): boolean => SCALARS[name].class === "int" && name !== "bool";
  if (!isInt(from) || !isInt(to)) return constantRunsOnly(op, of);
  // Narrowing keeps low bits and widening keeps values; runs that do not start at 0 modulo their length might
  // wrap inside, which no aligned vector access can see. Longer runs than a narrow type counts wrap in any case.
  const counted = 2 ** (Math.min(31, SCALARS[from].bits, SCALARS[to].bits) - 1);
  const contiguity = info.contiguity.map((c) => meet(c, counted));
  return {
    ...info,
    contiguity,
    divisibility: contiguity.map((c, d) => shortened(info, d, c)),
  };
};

/** By operation; nothing is known of results without one. */
export const RULES: { readonly [N in TileOp]?: Rule<N> } = {
  constant,
  constant_buffer: () => scalarInfo(CONSTANT_ALIGN),
  range: (op) => {
    const [length = 1] = resultOf(op).type.shape;
    return {
      contiguity: [length],
      divisibility: [powerOfTwoIn(op.attrs.lo)],
      constancy: [1],
    };
  },
  add: (op, of) => {
    const { left, right } = operandsOf(op);
    return additive(left, right, of, 1, true);
  },
  sub: (op, of) => {
    const { left, right } = operandsOf(op);
    return additive(left, right, of, 1, false);
  },
  offset: (op, of) => {
    const { pointer, count } = operandsOf(op);
    const { element } = pointer.type;
    return additive(pointer, count, of, isPointer(element) ? bytesOf(element.pointee) : 1, true);
  },
  mul: multiplicative,
  lt: comparison("left"),
  ge: comparison("left"),
  gt: comparison("right"),
  le: comparison("right"),
  select,
  convert,
  convert_layout: (op, of) => of(operandsOf(op).value),
  bitcast: constantRunsOnly,
  and: constantRunsOnly,
  or: constantRunsOnly,
  xor: constantRunsOnly,
  not: constantRunsOnly,
  eq: constantRunsOnly,
  ne: constantRunsOnly,
  load: loaded,
  min: oneOfBoth,
  max: oneOfBoth,
  neg: negated,
  div: quotient,
  rem: remainder,
  shl: shifted("left"),
  shr: shifted("right"),
  math: constantRunsOnly,
  assume_multiple: (op, of) => {
    const info = of(operandsOf(op).value);
    const n = powerOfTwoIn(op.attrs.n);
    // The promise holds for each element, so for run starts too.
    return { ...info, divisibility: info.divisibility.map((d) => Math.max(d, n)) };
  },
  splat: (op, of) => filled(resultOf(op), of(operandsOf(op).value).divisibility[0] ?? 1),
  expand_dims: (op, of) => {
    const { value } = operandsOf(op);
    const info = of(value);
    const source = value.type.shape;
    const { axis } = op.attrs;
    const all = source.reduce(
      (d, _, i) => Math.max(d, everywhere(info, i)),
      source.length === 0 ? info.divisibility[0] ?? 1 : 1,
    );
    const insert = (list: readonly number[], entry: number): number[] => {
      const kept = source.length === 0 ? [] : [...list];
      kept.splice(axis, 0, entry);
      return kept;
    };
    return {
      contiguity: insert(info.contiguity, 1),
      divisibility: insert(info.divisibility, all),
      constancy: insert(info.constancy, 1),
    };
  },
  broadcast: (op, of) => {
    const { value } = operandsOf(op);
    const info = of(value);
    const from = value.type.shape;
    const to = resultOf(op).type.shape;
    return {
      ...info,
      constancy: to.map((extent, axis) =>
        from[axis] === extent ? info.constancy[axis] ?? 1 : extent
      ),
    };
  },
  permute: (op, of) => {
    const info = of(operandsOf(op).value);
    const { order } = op.attrs;
    const pick = (list: readonly number[]): number[] => order.map((axis) => list[axis] ?? 1);
    return {
      contiguity: pick(info.contiguity),
      divisibility: pick(info.divisibility),
      constancy: pick(info.constancy),
    };
  },
  reshape: (op, of) => {
    const { value } = operandsOf(op);
    const info = of(value);
    const from = value.type.shape;
    const result = resultOf(op);
    const to = result.type.shape;
    const merged = joinedAxes(from, to);
    if (merged > 1) {
      const [k = 1, pairs = 1] = info.constancy.slice(-2);
      const equal = pairs >= merged ? k * merged : pairs;
      return { ...unknown(result), constancy: [...info.constancy.slice(0, -2), equal] };
    }
    // Else only the insertion or removal of axes of extent 1 keeps facts.
    const kept = from.flatMap((extent, axis) => extent > 1 ? [axis] : []);
    const wanted = to.flatMap((extent, axis) => extent > 1 ? [axis] : []);
    if (
      kept.length !== wanted.length || kept.some((axis, i) => from[axis] !== to[wanted[i] ?? -1])
    ) return unknown(result);
    const all = from.reduce((d, _, i) => Math.max(d, everywhere(info, i)), 1);
    const pick = (list: readonly number[], fill: number): number[] =>
      axes(result).map((axis) => {
        const i = wanted.indexOf(axis);
        return i < 0 ? fill : list[kept[i] ?? 0] ?? 1;
      });
    return {
      contiguity: pick(info.contiguity, 1),
      divisibility: pick(info.divisibility, all),
      constancy: pick(info.constancy, 1),
    };
  },
};
