/** Comparison and selection (PTX ISA 9.0, 9.7.6 and 9.7.7). */
import type { Match } from "../../compiler/ptx/match.ts";
import { type TypeName, TYPES } from "../../compiler/ptx/types.ts";
import { floatComparison } from "../floats/mod.ts";
import type { Bits, LaneOperation } from "../machine.ts";
import { isSigned, narrowReader, wideReader } from "./integer.ts";
import { laneOf, modifiersOf, typeOf } from "./shape.ts";

type Comparison = (a: Bits, b: Bits) => boolean;

const NARROW: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
};

const WIDE: Readonly<Record<string, (a: bigint, b: bigint) => boolean>> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
};

/** The unsigned names: lower, lower or same, higher, higher or same. */
const SAME_AS: Readonly<Record<string, string>> = { lo: "lt", ls: "le", hi: "gt", hs: "ge" };

function comparisonOf(type: TypeName, name: string, ftz: boolean): Comparison {
  if (TYPES[type].class === "float") return floatComparison(type, name, ftz);
  const { bits } = TYPES[type];
  const common = SAME_AS[name] ?? name;
  if (bits === 64) {
    const [compare, read] = [WIDE[common], wideReader(64, isSigned(type))];
    return (a, b) => compare?.(read(a), read(b)) ?? false;
  }
  const [compare, read] = [NARROW[common], narrowReader(bits, isSigned(type))];
  return (a, b) => compare?.(read(a), read(b)) ?? false;
}

/** How the result of a comparison, 0 or 1, is combined with a predicate. */
const COMBINE: Readonly<Record<string, (compared: number, c: number) => number>> = {
  and: (compared, c) => compared & c,
  or: (compared, c) => compared | c,
  xor: (compared, c) => compared ^ c,
};

/** What set and setp have in common. */
interface Comparing {
  readonly compare: Comparison;
  readonly combine: (compared: boolean, c: Bits) => number;
  /** The type of both halves if a and b hold two numbers each. */
  readonly halves: TypeName | undefined;
}

const HALVES: Readonly<Partial<Record<TypeName, TypeName>>> = { f16x2: "f16", bf16x2: "bf16" };

function readComparing(match: Match): Comparing {
  const type = typeOf(match, "a");
  const halves = HALVES[type];
  const names = ["CMPI", "CMPU", "CMPF", "eq|ne"].map((group) => match.bound.get(group));
  const name = names.find((bound) => bound !== undefined) ?? "eq";
  const combine = COMBINE[match.bound.get("BOOL") ?? ""] ??
    ((compared: number): number => compared);
  return {
    compare: comparisonOf(halves ?? type, name, modifiersOf(match).has("ftz")),
    combine: (compared, c) => combine(compared ? 1 : 0, Number(c)),
    halves,
  };
}

/** How set writes true; of halves, in each. */
function trueBits(type: TypeName): number {
  switch (type) {
    case "f32":
      return 0x3f800000;
    case "f16":
    case "f16x2":
      return 0x3c00;
    case "bf16":
    case "bf16x2":
      return 0x3f80;
    default:
      return TYPES[type].bits === 16 ? 0xffff : 0xffffffff;
  }
}

const low = (value: Bits): number => Number(value) & 0xffff;
const high = (value: Bits): number => Number(value) >>> 16;

function set(match: Match): LaneOperation {
  const { compare, combine, halves } = readComparing(match);
  const yes = trueBits(typeOf(match));
  if (halves === undefined) {
    return laneOf(match, (a, b, c) => combine(compare(a, b), c) === 1 ? yes : 0);
  }
  const half = yes & 0xffff;
  return laneOf(match, (a, b, c) => {
    const lower = combine(compare(low(a), low(b)), c) * half;
    const upper = combine(compare(high(a), high(b)), c) * half;
    return ((upper << 16) | lower) >>> 0;
  });
}

function setPredicate(match: Match): LaneOperation {
  const { compare, combine, halves } = readComparing(match);
  if (halves === undefined) {
    return laneOf(
      match,
      (a, b, c) => combine(compare(a, b), c),
      (a, b, c) => combine(!compare(a, b), c),
    );
  }
  return laneOf(
    match,
    (a, b, c) => combine(compare(low(a), low(b)), c),
    (a, b, c) => combine(compare(high(a), high(b)), c),
  );
}

/** slct. Negative zero is not below zero, NaN neither above nor equal. */
function selectBySign(match: Match): LaneOperation {
  const type = typeOf(match, "c");
  const isAtLeast = comparisonOf(type, "ge", modifiersOf(match).has("ftz"));
  return laneOf(match, (a, b, c) => isAtLeast(c, 0) ? a : b);
}

export const COMPARE: Readonly<Record<string, (match: Match) => LaneOperation>> = {
  set,
  setp: setPredicate,
  selp: (match) => laneOf(match, (a, b, c) => c === 0 ? b : a),
  slct: selectBySign,
};
