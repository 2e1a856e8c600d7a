/**
 * What the instructions of a dot of warp groups compute: parts of the rows and columns that a group has of the result, and
 * dots of which parts are under way.
 */
import type { Value } from "../../ir/func.ts";
import { layoutOf } from "../../layout/tiles.ts";
import { GROUP_ROWS } from "../../layout/warp_group.ts";
import { ofAxis } from "../../linear/linear.ts";
import type { Operand } from "../../ptx/func.ts";
import { times } from "../../support/times.ts";

/** Bits of a warp's number below those of its group. */
const LOW_WARP_BITS = 2;

/** What a warp group has of the result: elements along m and n, and where they begin, by group. */
export interface Share {
  readonly rows: number;
  readonly columns: number;
  readonly rowOf: readonly number[];
  readonly columnOf: readonly number[];
}

export function shareOf(result: Value): Share {
  const { shape, warp } = layoutOf(result);
  const [m, n] = [ofAxis(shape, 0), ofAxis(shape, 1)];
  const groups = warp.slice(LOW_WARP_BITS);
  const rowOf = groups.map((basis) => Math.floor(basis / n));
  const columnOf = groups.map((basis) => basis % n);
  const parts = (steps: readonly number[]): number => 2 ** steps.filter((step) => step > 0).length;
  return { rows: m / parts(rowOf), columns: n / parts(columnOf), rowOf, columnOf };
}

/** What instructions compute of the result: a part of its rows and columns, in registers that follow each other. */
export interface Part {
  readonly row: number;
  readonly column: number;
  readonly from: number;
  readonly to: number;
}

/** Columns that the widths of instructions are multiples of. */
const COLUMN_STEP = 8;

/**
 * Widths of as few instructions as compute columns with so many at most: 88, 80 and 88 of 256. Where they cannot be equal the
 * second and the fourth one are narrower first, since two that follow each other have registers of their own.
 */
function widthsOf(columns: number, mostColumns: number): number[] {
  const count = Math.ceil(columns / mostColumns);
  const steps = columns / COLUMN_STEP;
  const places = times(count, (i) => i);
  const byWidth = [...places.filter((i) => i % 2 === 0), ...places.filter((i) => i % 2 === 1)];
  const wider = new Set(byWidth.slice(0, steps % count));
  return places.map((i) => (Math.floor(steps / count) + (wider.has(i) ? 1 : 0)) * COLUMN_STEP);
}

/** The parts of what a warp group has, in the order of their registers. */
export function partsOf({ rows, columns }: Share, mostColumns: number): Part[] {
  const widths = widthsOf(columns, mostColumns);
  const parts: Part[] = [];
  let from = 0;
  for (let row = 0; row < rows; row += GROUP_ROWS) {
    let column = 0;
    for (const width of widths) {
      parts.push({ row, column, from, to: from + width / 2 });
      column += width;
      from += width / 2;
    }
  }
  return parts;
}

/** A part whose instructions are under way, and the registers in which they sum. */
interface StartedPart {
  readonly part: Part;
  readonly fresh: readonly Operand[];
}

/** A dot of which parts are under way, or still to be started. */
export interface StartedDot {
  /** What the sum is with all parts that have been added. */
  readonly sums: Operand[];
  /** Registers in which parts sum in turn, and how many parts have been started. */
  readonly turns: readonly (readonly Operand[])[];
  started: number;
  /** In the order in which they were started. */
  readonly underWay: StartedPart[];
  /** Start the parts that are left. */
  readonly rest: readonly ((dot: StartedDot) => void)[];
}
