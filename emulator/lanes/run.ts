/** Runs an operation on the lanes of a warp. */
import { LANES } from "../register_file.ts";
import type {
  Bits,
  LaneFunction,
  LaneOperation,
  Machine,
  WarpFunction,
  Width,
} from "../machine.ts";
import type { Views } from "../memory.ts";

/** Where a source lies: its row; of a predicate its word and what to xor it with. */
export interface LaneSource {
  readonly row: number;
  readonly invert: 0 | -1;
}

/** A source during a call: lane n's value is element start + n of the column. */
interface Opened {
  column: ArrayLike<Bits>;
  start: number;
}

/** Makes a source readable for the warp whose register file is at w. */
type Open = (views: Views, w: number) => void;

/** Writes a result for the lanes of a mask, the register file at w. */
interface Output {
  evaluate(mask: number): void;
  store(views: Views, w: number, mask: number): void;
}

/** Sources that an operation does not have. */
const ABSENT: ArrayLike<Bits> = new Uint32Array(LANES);

/** Rows are read where they lie; predicates and 128-bit values are spread out first. */
function openerOf({ row, invert }: LaneSource, width: Width, opened: Opened): Open {
  switch (width) {
    case 1: {
      const lanes = new Uint32Array(LANES);
      opened.column = lanes;
      return (views, w) => {
        const word = (views.i32[(w + row) >>> 2] ?? 0) ^ invert;
        for (let lane = 0; lane < LANES; lane++) lanes[lane] = (word >>> lane) & 1;
      };
    }
    case 64:
      return (views, w) => {
        opened.column = views.u64;
        opened.start = (w + row) >>> 3;
      };
    case 128: {
      const lanes: bigint[] = Array.from({ length: LANES }, () => 0n);
      opened.column = lanes;
      return (views, w) => {
        const start = (w + row) >>> 3;
        for (let lane = 0; lane < LANES; lane++) {
          const at = start + 2 * lane;
          lanes[lane] = (views.u64[at] ?? 0n) | ((views.u64[at + 1] ?? 0n) << 64n);
        }
      };
    }
    default:
      return (views, w) => {
        opened.column = views.u32;
        opened.start = (w + row) >>> 2;
      };
  }
}

/** Calls a function for each lane of a mask with the lane's sources, and keeps what it gives. */
function evaluateLanes(
  sources: readonly [Opened, Opened, Opened, Opened, Opened],
  evaluate: LaneFunction,
  mask: number,
  keep: { numbers: Uint32Array } | { bigints: bigint[] },
): void {
  const [{ column: a, start: atA }, { column: b, start: atB }] = sources;
  const [, , { column: c, start: atC }, { column: d, start: atD }] = sources;
  const { column: e, start: atE } = sources[4];
  for (let rest = mask; rest !== 0; rest &= rest - 1) {
    const lane = 31 - Math.clz32(rest & -rest);
    const value = evaluate(
      a[atA + lane] ?? 0,
      b[atB + lane] ?? 0,
      c[atC + lane] ?? 0,
      d[atD + lane] ?? 0,
      e[atE + lane] ?? 0,
    );
    if ("numbers" in keep) keep.numbers[lane] = Number(value);
    else keep.bigints[lane] = BigInt(value);
  }
}

function outputOf(
  sources: readonly [Opened, Opened, Opened, Opened, Opened],
  evaluate: LaneFunction,
  width: Width,
  row: number,
): Output {
  if (width <= 32) {
    const numbers = new Uint32Array(LANES);
    const keep = { numbers };
    return {
      evaluate: (mask) => evaluateLanes(sources, evaluate, mask, keep),
      store: width === 1
        ? (views, w, mask) => storeBits(views, w + row, numbers, mask)
        : (views, w, mask) => storeNumbers(views, w + row, numbers, mask),
    };
  }
  const bigints: bigint[] = Array.from({ length: LANES }, () => 0n);
  const keep = { bigints };
  return {
    evaluate: (mask) => evaluateLanes(sources, evaluate, mask, keep),
    store: (views, w, mask) => storeBigints(views, w + row, width, bigints, mask),
  };
}

function storeBits(views: Views, at: number, numbers: Uint32Array, mask: number): void {
  let word = 0;
  for (let lane = 0; lane < LANES; lane++) word |= (numbers[lane] ?? 0) << lane;
  views.i32[at >>> 2] = ((views.i32[at >>> 2] ?? 0) & ~mask) | (word & mask);
}

function storeNumbers(views: Views, at: number, numbers: Uint32Array, mask: number): void {
  const start = at >>> 2;
  if (mask === -1) {
    views.u32.set(numbers, start);
    return;
  }
  for (let lane = 0; lane < LANES; lane++) {
    if ((mask >>> lane) & 1) views.u32[start + lane] = numbers[lane] ?? 0;
  }
}

function storeBigints(
  views: Views,
  at: number,
  width: Width,
  bigints: readonly bigint[],
  mask: number,
): void {
  const words = width / 64;
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const value = bigints[lane] ?? 0n;
    const to = (at >>> 3) + words * lane;
    // Storing keeps the low 64 bits.
    views.u64[to] = value;
    if (words === 2) views.u64[to + 1] = value >> 64n;
  }
}

/** Predicates only: the operation's truth table, applied to whole words. */
function runPredicates(
  { sources, evaluate }: LaneOperation,
  rows: readonly LaneSource[],
  result: number,
  machine: Machine,
): WarpFunction {
  const count = sources.length;
  const bit = (entry: number, source: number): number => (entry >>> source) & 1;
  const entries = Array.from({ length: 1 << count }, (_, entry) => entry).filter((entry) =>
    evaluate(bit(entry, 0), bit(entry, 1), bit(entry, 2), bit(entry, 3)) === 1
  );
  return (w, mask) => {
    const { i32 } = machine.views;
    let word = 0;
    for (const entry of entries) {
      let term = -1;
      for (let i = 0; i < count; i++) {
        const { row, invert } = rows[i] ?? { row: 0, invert: 0 };
        const value = (i32[(w + row) >>> 2] ?? 0) ^ invert;
        term &= bit(entry, i) === 1 ? value : ~value;
      }
      word |= term;
    }
    const at = (w + result) >>> 2;
    i32[at] = ((i32[at] ?? 0) & ~mask) | (word & mask);
  };
}

/**
 * A function that runs an operation for the lanes of a mask: sources and results are rows in the operation's order. All
 * sources are read before anything is written, so that destinations may be sources.
 */
export function runLanes(
  operation: LaneOperation,
  sources: readonly LaneSource[],
  results: readonly number[],
  machine: Machine,
): WarpFunction {
  const { result, evaluate, more = [] } = operation;
  const [row = 0] = results;
  if (more.length === 0 && [result, ...operation.sources].every((width) => width === 1)) {
    return runPredicates(operation, sources, row, machine);
  }
  const none = (): Opened => ({ column: ABSENT, start: 0 });
  const opened = [none(), none(), none(), none(), none()] as const;
  const openers = opened.flatMap((each, i) => {
    const source = sources[i];
    return source === undefined ? [] : [openerOf(source, operation.sources[i] ?? 32, each)];
  });
  const outputs = [{ result, evaluate }, ...more].map((output, i) =>
    outputOf(opened, output.evaluate, output.result, results[i] ?? 0)
  );
  return (w, mask) => {
    const { views } = machine;
    for (const open of openers) open(views, w);
    for (const output of outputs) output.evaluate(mask);
    for (const output of outputs) output.store(views, w, mask);
  };
}
