/** Runs copies and transpositions on the PTX machine and compares memory bit by bit with a plain loop. */
import { assertEquals } from "./assert.ts";
import type { LoweredInstance } from "./lowering.ts";
import { GlobalMemory } from "./ptx_memory.ts";
import { runKernel } from "./ptx_machine.ts";
import { freshRandom } from "./random.ts";
import { printEntry } from "./lowering.ts";
import { parsePtx } from "../../compiler/ptx/parse.ts";
import { must } from "../../compiler/support/bug.ts";

/** What no kernel writes by itself. */
const POISON = 0xa5;

/** A matrix in a buffer: element (i, j) lies at `offset + i * rowStride + j * columnStride`, in elements. */
export interface Placement {
  readonly offset: number;
  readonly rowStride: number;
  readonly columnStride: number;
}

export interface MatrixRun {
  readonly elementBytes: number;
  /** Rows and columns, as the source side counts them. */
  readonly rows: number;
  readonly columns: number;
  readonly from: Placement;
  /** Where element (i, j) of the source goes. */
  readonly to: Placement;
  readonly grid: readonly [number, number];
  /** What follows the two pointers. */
  readonly scalars: readonly number[];
  readonly seed?: number;
}

const at = ({ offset, rowStride, columnStride }: Placement, i: number, j: number): number =>
  offset + i * rowStride + j * columnStride;

/** The printed entry, read back: what is printed is what runs. */
export function reparsed(instance: LoweredInstance): LoweredInstance["kernel"] {
  const { kernels, variables } = parsePtx(printEntry(instance.kernel));
  const kernel = must(kernels[0], "entry");
  // Dynamic shared memory is declared beside the entries.
  return { ...kernel, variables: [...kernel.variables, ...variables] };
}

export function checkMatrixRun(instance: LoweredInstance, run: MatrixRun): void {
  const { elementBytes: size, rows, columns, from, to } = run;
  // Buffers end with the last element: whoever reads on is caught.
  const bytesOf = (place: Placement): Uint8Array =>
    new Uint8Array(size * (at(place, rows - 1, columns - 1) + 1));
  const [x, y] = [bytesOf(from), bytesOf(to).fill(POISON)];
  freshRandom(run.seed ?? 1).fill(x);
  const expected = y.slice();
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const source = size * at(from, i, j);
      expected.set(x.subarray(source, source + size), size * at(to, i, j));
    }
  }
  const memory = new GlobalMemory();
  const pointer = (bytes: Uint8Array, { offset }: Placement): bigint =>
    memory.add(bytes) + BigInt(size * offset);
  runKernel(reparsed(instance), memory, {
    grid: [...run.grid, 1],
    threads: instance.threads,
    sharedBytes: instance.sharedBytes,
    args: [pointer(x, from), pointer(y, to), ...run.scalars.map(BigInt)],
  });
  assertEquals(y, expected);
}
