/**
 * The shipped matrix product on a GPU, all variants, against sums in double precision, with the elements around the
 * result watched. `TRI_QUICK=1` leaves out the large sizes (for runs under a sanitizer).
 */
import { Device } from "@tri/tri/ffi";
import { matmul } from "../../generated/matmul.ts";
import { gpuTest } from "../support/gpu.ts";
import { assertRounded, roundingError } from "../support/bounds.ts";
import { matrixOf, numbersOf, vectorOf } from "../support/numbers.ts";
import { productNumbers } from "../support/kernels/products.ts";

type Variant = typeof matmul.variants[number];

interface Size {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Elements between rows. */
  readonly gap: number;
}

const QUICK = Deno.env.get("TRI_QUICK") === "1";
/** Gaps of 16 elements keep rows aligned for every type. */
const SMALL: readonly Size[] = [
  { m: 1, n: 1, k: 1, gap: 0 },
  { m: 67, n: 35, k: 51, gap: 1 },
  { m: 128, n: 256, k: 32, gap: 0 },
  { m: 144, n: 272, k: 208, gap: 16 },
];
const LARGE: readonly Size[] = [
  { m: 384, n: 512, k: 1024, gap: 0 },
  { m: 1000, n: 784, k: 1040, gap: 16 },
  { m: 501, n: 333, k: 777, gap: 3 },
];

const scalars = (dtype: Variant, values: readonly number[]): (number | bigint)[] =>
  dtype === "int8" ? values.map(BigInt) : [...values];

/** Sums and sums of magnitudes. */
function reference(
  x: readonly number[],
  y: readonly number[],
  { m, n, k }: Size,
): { readonly sums: Float64Array; readonly magnitudes: Float64Array } {
  const [sums, magnitudes] = [new Float64Array(m * n), new Float64Array(m * n)];
  for (let i = 0; i < m; i++) {
    for (let q = 0; q < k; q++) {
      const left = x[i * k + q] ?? NaN;
      for (let j = 0; j < n; j++) {
        const product = left * (y[q * n + j] ?? NaN);
        sums[i * n + j] = (sums[i * n + j] ?? NaN) + product;
        magnitudes[i * n + j] = (magnitudes[i * n + j] ?? NaN) + Math.abs(product);
      }
    }
  }
  return { sums, magnitudes };
}

/** What stands around the result. */
const POISON = 77;

function check(device: Device, dtype: Variant, size: Size): void {
  const { m, n, k, gap } = size;
  const [x, y] = [productNumbers(dtype, m * k), productNumbers(dtype, k * n)];
  using a = matrixOf(device, dtype, scalars(dtype, x), [m, k], gap);
  using b = matrixOf(device, dtype, scalars(dtype, y), [k, n], gap);
  const type = dtype === "int8" ? "int32" : dtype;
  const poison = new Array<number | bigint>(m * (n + gap) + 64).fill(
    dtype === "int8" ? BigInt(POISON) : POISON,
  );
  using buffer = vectorOf(device, type, poison);
  const out = buffer.narrow(0, 0, m * (n + gap)).reshape([m, n + gap]).narrow(1, 0, n);
  matmul(a, b, { out });
  const z = numbersOf(buffer);
  const { sums, magnitudes } = reference(x, y, size);
  const sumType = dtype === "float64" ? "float64" : "float32";
  z.forEach((value, at) => {
    const [i, j] = [Math.floor(at / (n + gap)), at % (n + gap)];
    const isInside = i < m && j < n;
    const expected = isInside ? sums[i * n + j] ?? NaN : POISON;
    const error = isInside ? roundingError(sumType, magnitudes[i * n + j] ?? NaN, 2 * (k + 1)) : 0;
    assertRounded(
      dtype === "int8" ? "integer" : dtype,
      value,
      expected,
      error,
      () => `${dtype} ${m} x ${n} x ${k} [${i}, ${j}]`,
    );
  });
}

for (const dtype of matmul.variants) {
  gpuTest(`matmul() multiplies ${dtype} matrices of any size and leading dimension`, () => {
    using device = Device.open();
    for (const size of QUICK ? SMALL : [...SMALL, ...LARGE]) check(device, dtype, size);
  });
}
