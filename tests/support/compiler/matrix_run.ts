/** Runs copies and transpositions on the emulator and compares memory bit by bit with a plain loop. */
import { assertEquals } from "../assert.ts";
import { emulateAgain, int } from "../emulate.ts";
import { type LoweredInstance, printEntry } from "./lowering.ts";
import { freshRandom } from "../random.ts";

/** What no kernel writes by itself. */
const POISON = 0xa5;

/** A matrix in a buffer: element (i, j) lies at `offset + i * rowStride + j * columnStride`, in elements. */
export interface StoredMatrix {
  readonly offset: number;
  readonly rowStride: number;
  readonly columnStride: number;
}

export interface MatrixRun {
  readonly elementBytes: number;
  /** Rows and columns, as the source side counts them. */
  readonly rows: number;
  readonly columns: number;
  readonly from: StoredMatrix;
  /** Where element (i, j) of the source goes. */
  readonly to: StoredMatrix;
  readonly grid: readonly [number, number];
  /** What follows the two pointers. */
  readonly scalars: readonly number[];
  readonly seed?: number;
}

const at = ({ offset, rowStride, columnStride }: StoredMatrix, i: number, j: number): number =>
  offset + i * rowStride + j * columnStride;

export function checkMatrixRun(instance: LoweredInstance, run: MatrixRun): void {
  const { elementBytes: size, rows, columns, from, to } = run;
  // Buffers end with the last element: reads beyond it are found.
  const bytesOf = (matrix: StoredMatrix): Uint8Array =>
    new Uint8Array(size * (at(matrix, rows - 1, columns - 1) + 1));
  const [x, y] = [bytesOf(from), bytesOf(to).fill(POISON)];
  freshRandom(run.seed).fill(x);
  const expected = y.slice();
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const source = size * at(from, i, j);
      expected.set(x.subarray(source, source + size), size * at(to, i, j));
    }
  }
  emulateAgain(printEntry(instance.kernel), {
    grid: [...run.grid, 1],
    block: [instance.threads, 1, 1],
    sharedBytes: instance.sharedBytes,
    args: [
      { buffer: x, offset: size * from.offset },
      { buffer: y, offset: size * to.offset },
      ...run.scalars.map(int),
    ],
  });
  assertEquals(y, expected);
}
