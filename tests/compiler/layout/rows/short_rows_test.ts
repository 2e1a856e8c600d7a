/** Several short rows in a warp (layout/rows/short_rows.ts): how lanes share them, and results on the emulator. */
import fc from "../../../support/property.ts";
import { assertEquals } from "../../../support/assert.ts";
import { int } from "../../../support/emulate.ts";
import { CompiledText } from "../../../support/compiler/value_run.ts";
import { lowerGeneral, opsNamed, printEntry } from "../../../support/compiler/lowering.ts";
import { firstDifference } from "../../../support/typed_arrays.ts";

type Type = "float32" | "float16" | "float64";

interface Case {
  readonly type: Type;
  /** Of a tile. */
  readonly rows: number;
  readonly columns: number;
  readonly numWarps: number;
  /** Of a program. */
  readonly blocks: number;
  /** Rows begin at multiples of 16 bytes. */
  readonly isAligned: boolean;
}

const SPELLED = { float32: "float", float16: "half", float64: "double" } as const;
const BYTES = { float32: 4, float16: 2, float64: 8 } as const;

/** Sums of rows, weighted and stored one by one, and rows times their largest element. */
function textOf({ type, rows, columns, numWarps, blocks, isAligned }: Case, weights = ""): string {
  const spelled = SPELLED[type];
  const pointer = isAligned ? " __aligned(16)" : "";
  const integer = isAligned ? ` __multipleof(${16 / BYTES[type]})` : "";
  return `#pragma tri specialize(off)
#pragma tri config ; num_warps=${numWarps}, num_ctas=${blocks}
__global__ void k(${spelled} *X${pointer}, int *Weight, float *Sum __noalias, ${spelled} *Y${pointer} __noalias,
                  int M, int N${integer}, int ld${integer}) {
  int r[${rows}] = get_program_id(0) * ${rows} + 0 ... ${rows};
  int c[${columns}] = 0 ... ${columns};
  bool there[${rows}, ${columns}] = r[:, newaxis] < M && c[newaxis, :] < N;
  ${spelled} x[${rows}, ${columns}] = *?(there) (X + r[:, newaxis] * ld + c[newaxis, :]);
  ${weights}
  *?(r < M) (Sum + r) = x[:, +] * *?(r < M) (Weight + r);
  *?(there) (Y + r[:, newaxis] * ld + c[newaxis, :]) = x * x[:, max][:, newaxis];
}`;
}

const SHORT: Case = {
  type: "float32",
  rows: 16,
  columns: 256,
  numWarps: 4,
  blocks: 1,
  isAligned: true,
};

const shuffles = (c: Case, weights = ""): number =>
  printEntry(lowerGeneral(textOf(c, weights)).kernel).split("shfl.").length - 1;

Deno.test("lanesOfRow() has a line of a row accessed at once, where a warp has rows for all its lanes", () => {
  assertEquals(shuffles(SHORT), 2 * 3);
  assertEquals(shuffles({ ...SHORT, rows: 8 }), 2 * 4);
  assertEquals(shuffles({ ...SHORT, rows: 4 }), 2 * 5);
  // Two rows in 16 lanes, twice.
  assertEquals(shuffles({ ...SHORT, isAligned: false }), 2 * 2 * 4);
});

Deno.test("layoutOfRows() has elements for each row accessed by the threads that have the row", () => {
  for (const isAligned of [true, false]) {
    const { laidOut, sharedBytes } = lowerGeneral(textOf({ ...SHORT, rows: 8, isAligned }));
    assertEquals(opsNamed(laidOut, "barrier"), []);
    assertEquals(sharedBytes, 0);
  }
});

Deno.test("reducedRows() leaves rows whole beside a tile that is the same for all rows", () => {
  const shared = "x += *?(there) (X + 0 * r[:, newaxis] + c[newaxis, :]);";
  assertEquals(shuffles({ ...SHORT, rows: 8 }, shared), 2 * 2 * 5);
});

const anyCase: fc.Arbitrary<Case> = fc.record({
  type: fc.constantFrom<Type[]>("float32", "float16", "float64"),
  rows: fc.constantFrom(1, 2, 4, 8, 16, 32),
  columns: fc.constantFrom(8, 32, 128, 256),
  numWarps: fc.constantFrom(1, 2, 4, 8),
  blocks: fc.constantFrom(1, 1, 2, 4),
  isAligned: fc.boolean(),
});

function check(c: Case, count: number, length: number): void {
  const step = c.isAligned ? 16 / BYTES[c.type] : 1;
  const n = Math.max(step, Math.floor(Math.min(length, c.columns) / step) * step);
  const ld = n + step;
  const values = Array.from({ length: count * ld }, (_, i) => Math.imul(i, 2654435761) % 5);
  const weights = Array.from({ length: count }, (_, i) => i % 3 - 1);
  const poison = 77;
  const [, , sums = [], products = []] = new CompiledText(textOf(c), "sm_90").run([
    { type: c.type, values },
    { type: "int32", values: weights.map(BigInt) },
    { type: "float32", values: new Array(count + 3).fill(poison) },
    { type: c.type, values: new Array(count * ld).fill(poison) },
    int(count),
    int(n),
    int(ld),
  ], Math.ceil(count / c.rows));
  const rows = weights.map((_, row) => values.slice(row * ld, row * ld + n));
  const sum = (row: readonly number[]): number => row.reduce((a, b) => a + b, 0);
  assertEquals(
    firstDifference(sums, [
      ...rows.map((row, i) => sum(row) * (i % 3 - 1)),
      ...[poison, poison, poison],
    ]),
    undefined,
  );
  const expected = rows.flatMap((row) => {
    // Elements that are not there are zero.
    const most = Math.max(...row, ...(n < c.columns ? [0] : []));
    return [...row.map((value) => value * most), ...new Array<number>(ld - n).fill(poison)];
  });
  assertEquals(firstDifference(products, expected), undefined);
}

Deno.test("short rows have their sums and products, whatever their number, length, alignment and warps", () => {
  fc.assert(
    fc.property(
      anyCase,
      fc.integer({ min: 1, max: 70 }),
      fc.integer({ min: 1, max: 256 }),
      check,
    ),
    { numRuns: 60 },
  );
});
