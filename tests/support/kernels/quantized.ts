/** A product with quantised weights, compared with sums in double precision of weights that are rounded as the kernel does. */
import { quantizedMatmul } from "../../../generated/quantized_matmul.ts";
import type { Device, Tensor } from "../../../ffi/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { roundFloat } from "../../../compiler/support/float.ts";
import { assertEquals } from "../assert.ts";
import { assertRounded, roundingError } from "../bounds.ts";
import { matrixOf, numbersOf, randomNumbers } from "../numbers.ts";
import { freshRandom } from "../random.ts";
import { assertInstance } from "./entry.ts";

type QuantizedVariant = typeof quantizedMatmul.variants[number];

/** Rows that share a scale. */
const ROWS = 128;

interface Weights {
  readonly type: "int8" | "uint8" | "float8e4";
  /** Fresh weights. */
  readonly draw: (count: number) => number[];
  /** What is stored of a matrix of `k` rows: rows of elements. */
  readonly pack: (rows: readonly (readonly number[])[]) => number[][];
}

const copied = (rows: readonly (readonly number[])[]): number[][] => rows.map((row) => [...row]);

function integers(least: number, count: number): number[] {
  const random = freshRandom();
  return Array.from({ length: count }, () => random.below(-2 * least) + least);
}

/** Two weights in a byte, 64 rows apart. */
function packNibbles(rows: readonly (readonly number[])[]): number[][] {
  const columns = rows[0]?.length ?? 0;
  const bytes = Math.ceil(rows.length / ROWS) * ROWS / 2;
  const nibble = (k: number, n: number): number => (rows[k]?.[n] ?? 0) + 8;
  return Array.from({ length: bytes }, (_, row) => {
    const low = Math.floor(row / 64) * ROWS + row % 64;
    return Array.from({ length: columns }, (_, n) => nibble(low, n) | nibble(low + 64, n) << 4);
  });
}

const WEIGHTS = {
  int8: { type: "int8", draw: (count) => integers(-128, count), pack: copied },
  int4: { type: "uint8", draw: (count) => integers(-8, count), pack: packNibbles },
  float8: { type: "float8e4", draw: (count) => randomNumbers("float8e4", count, 1), pack: copied },
} as const satisfies Readonly<Record<string, Weights>>;

interface Case {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly gap: number;
  /** Weights are stored by columns, as those of layers. */
  readonly columns: boolean;
}

const transposed = (rows: readonly (readonly number[])[]): number[][] =>
  (rows[0] ?? []).map((_, n) => rows.map((row) => row[n] ?? NaN));

/** Multiplies and compares; with a suffix, the emulator has to take that instance. Gives the kernel's name. */
export function checkQuantized(
  device: Device,
  variant: QuantizedVariant,
  { m, n, k, gap, columns }: Case,
  suffix?: string,
): string | undefined {
  let kernel: string | undefined;
  const dtype = variant.startsWith("bfloat16") ? "bfloat16" : "float16";
  const weights: Weights = WEIGHTS[
    variant.endsWith("int8") ? "int8" : variant.endsWith("int4") ? "int4" : "float8"
  ];
  const x = randomNumbers(dtype, m * k, 1);
  const drawn = weights.draw(k * n);
  const rows = Array.from({ length: k }, (_, q) => drawn.slice(q * n, (q + 1) * n));
  const scales = randomNumbers(dtype, Math.ceil(k / ROWS) * n, 1 / 16);
  const packed = weights.pack(rows);
  const lines = columns ? transposed(packed) : packed;
  const shape = [lines.length, lines[0]?.length ?? 0] as const;
  const a = matrixOf(device, dtype, x, [m, k], gap);
  const stored = matrixOf(device, weights.type, lines.flat(), shape, gap);
  const w = columns ? stored.transpose() : stored;
  const scale = matrixOf(device, dtype, scales, [scales.length / n, n], gap);
  const multiply = (): Tensor => {
    if (suffix === undefined) return quantizedMatmul(a, w, scale, { variant });
    const { result, profile } = quantizedMatmul(a, w, scale, { variant, profile: true });
    kernel = profile.kernel;
    assertInstance(kernel, `quantized_matmul_${variant}${suffix}`);
    return result;
  };
  const c = multiply();
  const found = numbersOf(c);
  assertEquals(found.length, m * n);
  const at = (list: readonly number[], index: number): number => must(list[index], "an element");
  for (let j = 0; j < n; j++) {
    const column = rows.map((row, q) =>
      roundFloat(at(row, j) * at(scales, Math.floor(q / ROWS) * n + j), dtype)
    );
    for (let i = 0; i < m; i++) {
      let [sum, magnitude] = [0, 0];
      column.forEach((weight, q) => {
        const product = at(x, i * k + q) * weight;
        sum += product;
        magnitude += Math.abs(product);
      });
      const error = roundingError("float32", magnitude, k + 1);
      const what = (): string => `${variant} ${m}x${n}x${k} [${i}, ${j}]`;
      assertRounded(dtype, at(found, i * n + j), sum, error, what);
    }
  }
  for (const { buffer } of [a, w, scale, c]) buffer[Symbol.dispose]();
  return kernel;
}
