/** Rules of bitwise instructions, of sums, and of packed halves. */
import { literalOf, scalarSources } from "../lanes/shape.ts";
import type { WarpFunction } from "../machine.ts";
import { type Carrying, shadowRow, whole } from "./carrying.ts";
import { settleRow, type Shadow } from "./shadow_row.ts";

const lowestLane = (mask: number): number => 31 - Math.clz32(mask & -mask);

/**
 * Which bits of a function of three bits are undefined: those that come out both ways, whatever the undefined bits of
 * its sources are. Bit 4a + 2b + c of the table is the result.
 */
function undefinedBits(
  table: number,
  values: readonly [number, number, number],
  undefinedOnes: readonly [number, number, number],
): number {
  const [a, b, c] = values;
  const [ua, ub, uc] = undefinedOnes;
  let [zero, one] = [0, 0];
  for (let entry = 0; entry < 8; entry++) {
    const possible = (ua | ~(a ^ -((entry >> 2) & 1))) & (ub | ~(b ^ -((entry >> 1) & 1))) &
      (uc | ~(c ^ -(entry & 1)));
    if (((table >> entry) & 1) === 1) one |= possible;
    else zero |= possible;
  }
  return zero & one;
}

/** and, or, xor, not and lop3; predicates are words of 32 bits, one per lane. */
export function bitwiseRule(carrying: Carrying, fixed: number | undefined): WarpFunction {
  const { match, context, results } = carrying;
  const [result] = results;
  if (results.length !== 1 || result === undefined) return whole(carrying);
  const table = fixed ?? literalOf(match, "lut");
  const { machine } = context;
  const isPredicate = result.bits === 1;
  const sources = scalarSources(match).map(({ operand, type }) => {
    const { row, invert } = isPredicate
      ? context.predicate(operand)
      : { row: context.row(operand, type), invert: 0 };
    return { row, invert, shadow: shadowRow(context, operand, type) };
  });
  // A single source is the highest digit of the table, as three are.
  const words = Math.max(1, result.bits / 32);
  const three = (of: (source: typeof sources[number]) => number): [number, number, number] => {
    const [a, b, c] = sources;
    return [a, b, c].map((each) => each === undefined ? 0 : of(each)) as [number, number, number];
  };
  const combine = (w: number, index: number): number => {
    const { i32 } = machine.views;
    return undefinedBits(
      table,
      three(({ row, invert }) => (i32[((w + row) >>> 2) + index] ?? 0) ^ invert),
      three(({ shadow }) => i32[((w + shadow) >>> 2) + index] ?? 0),
    );
  };
  if (isPredicate) {
    return (w, lanes) => {
      const { i32 } = machine.views;
      const at = (w + result.row) >>> 2;
      i32[at] = ((i32[at] ?? 0) & ~lanes) | (combine(w, 0) & lanes);
    };
  }
  return (w, lanes) => {
    const { i32 } = machine.views;
    for (let m = lanes; m !== 0; m &= m - 1) {
      const first = words * lowestLane(m);
      for (let i = first; i < first + words; i++) {
        i32[((w + result.row) >>> 2) + i] = combine(w, i);
      }
    }
    settleRow(machine.views, w, result, lanes);
  };
}

/** Gives each lane's words of the sources, joined by or, to a function that writes those of the result. */
function fromUnion(
  { context: { machine }, sources }: Carrying,
  result: Shadow,
  write: (union: Int32Array, words: number) => void,
): WarpFunction {
  const words = Math.max(1, result.bits / 32);
  const union = new Int32Array(4);
  return (w, lanes) => {
    const { i32 } = machine.views;
    for (let m = lanes; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      union.fill(0);
      for (const source of sources) {
        const own = Math.max(1, source.bits / 32);
        if (source.bits === 1) {
          union[0] = (union[0] ?? 0) | -((i32[(w + source.row) >>> 2] ?? 0) >>> lane & 1);
        } else {
          const at = ((w + source.row) >>> 2) + own * lane;
          for (let i = 0; i < own; i++) union[i] = (union[i] ?? 0) | (i32[at + i] ?? 0);
        }
      }
      write(union, words);
      if (result.bits < 32) union[0] = (union[0] ?? 0) & ((1 << result.bits) - 1);
      i32.set(union.subarray(0, words), ((w + result.row) >>> 2) + words * lane);
    }
    settleRow(machine.views, w, result, lanes);
  };
}

/** A rule for one result that is no predicate; `whole` for others. */
function unionRule(
  carrying: Carrying,
  write: (union: Int32Array, words: number) => void,
): WarpFunction {
  const [result] = carrying.results;
  return carrying.results.length === 1 && result !== undefined && result.bits > 1
    ? fromUnion(carrying, result, write)
    : whole(carrying);
}

/** Sums and products of integers: every bit from the lowest undefined one on. */
export function leftRule(carrying: Carrying): WarpFunction {
  return unionRule(carrying, (union, words) => {
    let below = true;
    for (let i = 0; i < words; i++) {
      const word = union[i] ?? 0;
      union[i] = below ? word | -word : -1;
      if (word !== 0) below = false;
    }
  });
}

/** Pairs of halves, each on its own. */
export function halvesRule(carrying: Carrying): WarpFunction {
  return unionRule(carrying, (union, words) => {
    for (let i = 0; i < words; i++) {
      const word = union[i] ?? 0;
      union[i] = ((word & 0xffff) === 0 ? 0 : 0xffff) | (word >>> 16 === 0 ? 0 : 0xffff0000);
    }
  });
}
