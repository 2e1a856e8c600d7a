/** Runs matrix products on the emulator and compares them with sums in double precision. */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import type { TargetName } from "../../../compiler/targets.ts";
import type { LaunchReport } from "../../../emulator/report.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert } from "../assert.ts";
import { emulate, int } from "../emulate.ts";
import { type LoweredInstance, lowerText, printEntry } from "../compiler/lowering.ts";
import { freshRandom } from "../random.ts";
import { bytesOfType, decode, encode, type Scalar } from "../typed_arrays.ts";

/** Element types of a and b that multiply. */
export interface ProductTypes {
  readonly a: ScalarName;
  readonly b: ScalarName;
  /** Of sums and result. */
  readonly sum: ScalarName;
  /** Sum of magnitudes times this bounds the error of a sum of one product. */
  readonly error: number;
}

const FLOAT_ERROR = 2 ** -24;

export const PRODUCTS: readonly ProductTypes[] = [
  { a: "float16", b: "float16", sum: "float32", error: FLOAT_ERROR },
  { a: "bfloat16", b: "bfloat16", sum: "float32", error: FLOAT_ERROR },
  { a: "float32", b: "float32", sum: "float32", error: FLOAT_ERROR },
  { a: "float64", b: "float64", sum: "float64", error: 2 ** -53 },
  { a: "int8", b: "int8", sum: "int32", error: 0 },
  { a: "uint8", b: "int8", sum: "int32", error: 0 },
  { a: "uint8", b: "uint8", sum: "int32", error: 0 },
  { a: "float8e4", b: "float8e4", sum: "float32", error: FLOAT_ERROR },
  { a: "float8e5", b: "float8e5", sum: "float32", error: FLOAT_ERROR },
];

/** A kernel `k(A, B, C, M, N, K, lda, ldb, ldc)` and the tile that each of its programs computes. */
export interface ProductKernel {
  readonly text: string;
  readonly target: TargetName;
  readonly types: ProductTypes;
  readonly tile: readonly [m: number, n: number];
}

export interface ProductRun {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Elements between rows: so many more than a row has. */
  readonly gap?: number;
  /** a is stored as k x m, b as n x k. */
  readonly transposed?: { readonly a: boolean; readonly b: boolean };
  /** What every sum starts from. */
  readonly start?: number;
}

const SPELLING: Partial<Record<ScalarName, string>> = {
  float16: "half",
  float32: "float",
  float64: "double",
};
export const spelled = (type: ScalarName): string => SPELLING[type] ?? type;

/** Magnitudes far apart would hide mistakes; half a byte of fraction keeps float8 exact too. */
function randomValues(type: ScalarName, count: number): Scalar[] {
  const random = freshRandom();
  if (type === "int8") return Array.from({ length: count }, () => BigInt(random.below(256) - 128));
  if (type === "uint8") return Array.from({ length: count }, () => BigInt(random.below(256)));
  return Array.from({ length: count }, () => (random.below(2 ** 16) - 2 ** 15) / 2 ** 15);
}

/** Runs every instance whose conditions hold; gives the report of the last. */
export function checkProduct(kernel: ProductKernel, run: ProductRun): LaunchReport {
  const { a, b } = kernel.types;
  const { m, n, k, gap = 0 } = run;
  const lda = (run.transposed?.a === true ? m : k) + gap;
  const ldb = (run.transposed?.b === true ? k : n) + gap;
  const ldc = n + gap;
  const whole = 16 / Math.min(bytesOfType(a), bytesOfType(b));
  const isWhole = [m, n, k, lda, ldb, ldc].every((extent) => extent % whole === 0);
  const instances = lowerText(kernel.text, kernel.target, "k").filter(({ conditions }) =>
    isWhole || conditions.length === 0
  );
  const reports = instances.map((instance) =>
    runInstance(kernel, instance, run, { lda, ldb, ldc })
  );
  return must(reports.at(-1), "instance");
}

function runInstance(
  { target, types, tile }: ProductKernel,
  instance: LoweredInstance,
  { m, n, k, transposed, start = 0 }: ProductRun,
  { lda, ldb, ldc }: { readonly lda: number; readonly ldb: number; readonly ldc: number },
): LaunchReport {
  const [isTransposedA, isTransposedB] = [transposed?.a === true, transposed?.b === true];
  const stored = (type: ScalarName, rows: number, stride: number, columns: number): Uint8Array =>
    encode(type, randomValues(type, (rows - 1) * stride + columns));
  // Buffers end with the last element: reads beyond it are found.
  const a = isTransposedA ? stored(types.a, k, lda, m) : stored(types.a, m, lda, k);
  const b = isTransposedB ? stored(types.b, n, ldb, k) : stored(types.b, k, ldb, n);
  const c = encode(types.sum, new Array<Scalar>((m - 1) * ldc + n).fill(77));
  const { report } = emulate(printEntry(instance.kernel, target), {
    grid: [Math.ceil(m / tile[0]) * Math.ceil(n / tile[1]), 1, 1],
    block: [instance.threads, 1, 1],
    sharedBytes: instance.sharedBytes,
    args: [a, b, c, ...[m, n, k, lda, ldb, ldc].map(int)],
    profile: true,
    budget: 1_000_000_000,
  });
  const numbers = (type: ScalarName, bytes: Uint8Array): number[] =>
    decode(type, bytes).map(Number);
  const [x, y, z] = [numbers(types.a, a), numbers(types.b, b), numbers(types.sum, c)];
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let sum = start;
      let magnitude = Math.abs(start);
      for (let q = 0; q < k; q++) {
        const product = (x[isTransposedA ? q * lda + i : i * lda + q] ?? NaN) *
          (y[isTransposedB ? j * ldb + q : q * ldb + j] ?? NaN);
        sum += product;
        magnitude += Math.abs(product);
      }
      const error = Math.abs((z[i * ldc + j] ?? NaN) - sum);
      assert(
        error <= (k + 1) * types.error * magnitude,
        `${target} ${types.a} @ ${types.b}, [${i}, ${j}]: ${z[i * ldc + j]} instead of ${sum}`,
      );
    }
  }
  return report;
}
