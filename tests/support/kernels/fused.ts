/** Products with what follows them in one kernel, against double precision: for tests on the emulator and on a GPU. */
import { matmulFused } from "../../../generated/matmul_fused.ts";
import type { Device } from "../../../ffi/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert } from "../assert.ts";
import { roundingError } from "../bounds.ts";
import { matrixOf, numbersOf, randomNumbers, vectorOf } from "../numbers.ts";
import { operandOf } from "./products.ts";
import { decode, encode } from "../typed_arrays.ts";

/** What follows a product. */
export interface FusedCase {
  readonly variant: typeof matmulFused.variants[number];
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Elements after each row of all matrices, or after each column of B. */
  readonly gap: number;
  /** How B lies. */
  readonly storage: "rows" | "columns";
  readonly activation: 0 | 1 | 2 | 3;
  readonly factor: number;
  /** Which of the optional tensors are there. */
  readonly parts: readonly ("rowScale" | "columnScale" | "bias" | "residual")[];
}

/** By the number that the kernel has for them. */
const ACTIVATIONS: readonly ((x: number) => number)[] = [
  (x) => x,
  (x) => Math.max(x, 0),
  (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  (x) => x / (1 + Math.exp(-x)),
];

/** Runs the kernel and compares each element; what was in C before is no number. */
export function checkFused(device: Device, test: FusedCase): void {
  const { variant, m, n, k, gap, storage, activation, factor, parts } = test;
  const dtype = variant === "float16" ? "float16" : "bfloat16";
  const result = variant === "bfloat16_float8" ? "float8e4" : dtype;
  using made = new DisposableStack();
  const a = made.use(operandOf(device, dtype, [m, k], { gap }));
  const b = made.use(operandOf(device, dtype, [k, n], { gap, storage }));
  const has = (part: FusedCase["parts"][number]): boolean => parts.includes(part);
  const rows = randomNumbers("float32", m, 2);
  const columns = randomNumbers("float32", n, 2);
  const biases = randomNumbers("float32", n, 4);
  const rests = randomNumbers(dtype, m * n, 4);
  const out = made.use(matrixOf(device, result, Array(m * n).fill(NaN), [m, n], gap));
  matmulFused(a.tensor, b.tensor, {
    variant,
    activation,
    factor,
    out,
    ...has("rowScale") ? { rowScale: made.use(vectorOf(device, "float32", rows)) } : {},
    ...has("columnScale") ? { columnScale: made.use(vectorOf(device, "float32", columns)) } : {},
    ...has("bias") ? { bias: made.use(vectorOf(device, "float32", biases)) } : {},
    ...has("residual") ? { residual: made.use(matrixOf(device, dtype, rests, [m, n], gap)) } : {},
  });
  const found = numbersOf(out);
  const act = must(ACTIVATIONS[activation], "activation");
  const rounded = (value: number): number => {
    const near = Math.min(448, Math.max(-448, value));
    return Number(decode(result, encode(result, [result === "float8e4" ? near : value]))[0]);
  };
  found.forEach((value, at) => {
    const [i, j] = [Math.floor(at / n), at % n];
    let [sum, size] = [0, 0];
    for (let q = 0; q < k; q++) {
      const term = must(a.values[i * k + q], "a") * must(b.values[q * n + j], "b");
      sum += term;
      size += Math.abs(term);
    }
    const scale = (has("rowScale") ? must(rows[i], "scale") : 1) *
      (has("columnScale") ? must(columns[j], "scale") : 1);
    const bias = has("bias") ? must(biases[j], "bias") : 0;
    const rest = has("residual") ? must(rests[at], "residual") : 0;
    const before = sum * scale + bias;
    const after = act(before);
    // No activation is steeper than 1.2; an error of its exponent counts as many times as the exponent is large.
    const ofSum = Math.abs(scale) * roundingError("float32", size, k + 1) +
      2 ** -22 * (Math.abs(sum * scale) + Math.abs(bias));
    const error = 1.2 * ofSum + 2 ** -18 * Math.abs(before) + 2 ** -22 * Math.abs(rest);
    const exact = (after + rest) * factor;
    const [low, high] = [rounded(exact - factor * error), rounded(exact + factor * error)];
    assert(
      low <= value && value <= high,
      `[${i}, ${j}] of ${JSON.stringify(test)}: ${value} instead of ${exact}`,
    );
  });
}
