/**
 * Kernels of the repository in a configuration of a test's choice, and their runs on matrices of any address and shape.
 */
import fc from "../property.ts";
import { must } from "../../../compiler/support/bug.ts";
import type { TargetName } from "../../../compiler/targets.ts";
import { type LoweredInstance, lowerText } from "../compiler/lowering.ts";
import { checkMatrixRun, type StoredMatrix } from "../compiler/matrix_run.ts";
import { shipped, withPragmas } from "../shipped.ts";

export const cdiv = (a: number, b: number): number => Math.ceil(a / b);

/** Bytes of an element by type. */
export const SIZES: Readonly<Record<string, number>> = { int8: 1, half: 2, float: 4, double: 8 };

export interface Configuration {
  readonly type: string;
  readonly tm: number;
  readonly tn: number;
  readonly numWarps: number;
  readonly target?: TargetName;
}

export interface Extents {
  readonly rows: number;
  readonly columns: number;
  /** Elements between the end of a row and the next one, on either side. */
  readonly gapX: number;
  readonly gapY: number;
  /** Elements before the first one, on either side. */
  readonly startX: number;
  readonly startY: number;
}

/** The text of a file of `kernels/`, with the pragmas of the files that it includes in their place. */
export const readKernel = (file: string): string => withPragmas(shipped(`${file}.tc`).text);

/** A kernel of a file in one configuration instead of its own: the general and the specialised instance. */
export function configured(file: string, kernel: string, c: Configuration): LoweredInstance[] {
  const text = readKernel(file).replaceAll(/^#pragma tri (variants?|configs?|tensor) .*\n/gm, "");
  const pragmas = `#pragma tri kernel ${kernel}
#pragma tri variant TYPE=${c.type}
#pragma tri config TM=${c.tm}, TN=${c.tn}; num_warps=${c.numWarps}
`;
  return lowerText(pragmas + text, c.target ?? "sm_80", kernel);
}

/** The general instance of the transposition in one configuration. */
export function generalTransposition(c: Configuration): LoweredInstance {
  const instances = configured("transpose", "transpose", c);
  return must(instances.find(({ conditions }) => conditions.length === 0), "general instance");
}

/** Where matrices begin and how far apart their rows are, for random extents. */
export const ANY_PLACES = {
  gapX: fc.integer({ min: 0, max: 40 }),
  gapY: fc.integer({ min: 0, max: 40 }),
  startX: fc.integer({ min: 0, max: 40 }),
  startY: fc.integer({ min: 0, max: 40 }),
} as const;

export const rowMajor = (offset: number, stride: number): StoredMatrix => ({
  offset,
  rowStride: stride,
  columnStride: 1,
});

export const columnMajor = (offset: number, stride: number): StoredMatrix => ({
  offset,
  rowStride: 1,
  columnStride: stride,
});

/** Runs an instance of transpose.tc and looks at every element. */
export function runTransposition(instance: LoweredInstance, c: Configuration, e: Extents): void {
  const [ldx, ldy] = [e.columns + e.gapX, e.rows + e.gapY];
  checkMatrixRun(instance, {
    elementBytes: must(SIZES[c.type], "size"),
    rows: e.rows,
    columns: e.columns,
    from: rowMajor(e.startX, ldx),
    to: columnMajor(e.startY, ldy),
    grid: [cdiv(e.rows, c.tm), cdiv(e.columns, c.tn)],
    scalars: [e.rows, e.columns, ldx, ldy],
  });
}
