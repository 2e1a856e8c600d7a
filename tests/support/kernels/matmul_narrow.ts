/** One product of the shipped kernel for narrow operands, compared with sums in double precision. */
import { matmulNarrow } from "../../../generated/matmul_narrow.ts";
import type { Device, Tensor } from "../../../ffi/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../assert.ts";
import { matrixOf, numbersOf, randomNumbers } from "../numbers.ts";

type NarrowVariant = typeof matmulNarrow.variants[number];

interface Facts {
  readonly dtype: "float32" | "float8e4" | "float8e5";
  /** Part of the sum of magnitudes that rounding of operands costs, and half a unit of the result. */
  readonly operands: number;
  readonly result: number;
}

const FLOAT8 = { operands: 0, result: 2 ** -8 } as const;
const FACTS: Readonly<Record<NarrowVariant, Facts>> = {
  // Each of the two operands is rounded to nearest, to 11 bits: (1 + 2^-11)^2 - 1.
  tf32: { dtype: "float32", operands: 2 ** -10 + 2 ** -22, result: 0 },
  float8e4: { dtype: "float8e4", ...FLOAT8 },
  float8e4_exact: { dtype: "float8e4", ...FLOAT8 },
  float8e5: { dtype: "float8e5", ...FLOAT8 },
  float8e5_exact: { dtype: "float8e5", ...FLOAT8 },
};

interface Case {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly gap: number;
  readonly columns: boolean;
  /** Of the elements of a. */
  readonly scale?: number;
}

interface Checks {
  /** The emulator has to take the instance with this suffix, without bank conflicts if it is a special one. */
  readonly suffix?: string;
  /** What the sums of tensor cores add to the error, as a part of the sum of magnitudes. */
  readonly sumError?: number;
}

export function checkNarrow(
  device: Device,
  variant: NarrowVariant,
  run: Case,
  { suffix, sumError = 0 }: Checks,
  kernel: typeof matmulNarrow = matmulNarrow,
): void {
  const { dtype, operands, result } = FACTS[variant];
  const { m, n, k, gap, columns, scale = 1 } = run;
  const [x, y] = [randomNumbers(dtype, m * k, scale), randomNumbers(dtype, k * n, 1)];
  const a = matrixOf(device, dtype, x, [m, k], gap);
  const transposed = Float64Array.from(
    { length: n * k },
    (_, i) => must(y[i % k * n + Math.floor(i / k)], "element of b"),
  );
  const b = columns
    ? matrixOf(device, dtype, [...transposed], [n, k], gap).transpose()
    : matrixOf(device, dtype, y, [k, n], gap);
  const multiply = (): Tensor => {
    if (suffix === undefined) return kernel(a, b, { variant });
    const { result: product, profile } = kernel(a, b, { variant, profile: true });
    // Aligned matrices may be taken by the form with tensor maps.
    const plain = profile.kernel.replace(/_tensor$/, "");
    const name = `matmul_narrow_${variant}${suffix}`;
    assert(plain === name || plain.startsWith(`${name}_MB`), plain);
    // Of the four bytes along k that a register of a fragment has, `ldmatrix` finds two on one bank.
    const isAcross = dtype !== "float32" && !columns && profile.kernel !== plain;
    if (suffix !== "" && !isAcross) {
      assertEquals(profile.shared.bankConflicts, 0, profile.kernel);
    }
    return product;
  };
  const c = multiply();
  const found = numbersOf(c);
  // Arrays of doubles, because this loop is most of the test's time.
  const rows = Float64Array.from(x);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let [sum, magnitude] = [0, 0];
      for (let q = 0; q < k; q++) {
        const product = (rows[i * k + q] ?? NaN) * (transposed[j * k + q] ?? NaN);
        sum += product;
        magnitude += Math.abs(product);
      }
      const error = (operands + sumError + (k + 1) * 2 ** -23) * magnitude +
        result * Math.abs(sum) +
        2 ** -133;
      const value = must(found[i * n + j], "element of c");
      assert(Math.abs(value - sum) <= error, `${variant} [${i}, ${j}]: ${value}, not ${sum}`);
    }
  }
  for (const { buffer } of [a, b, c]) buffer[Symbol.dispose]();
}
