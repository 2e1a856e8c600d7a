/** What must and must not compile: every expectation here is checked by `deno check`, none by running. */
import type { Device } from "../../../ffi/device.ts";
import type { PreparedCall } from "../../../ffi/kernel/types.ts";
import type { LaunchProfile, Profiled } from "../../../ffi/profile.ts";
import type { Tensor } from "../../../ffi/tensors/tensor.ts";
import { scaledAdd, split } from "../../golden/codegen/mixed.ts";
import { productWithANameThatFillsLines as product } from "../../golden/codegen/product.ts";
import { transpose } from "../../golden/codegen/transpose.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;

function same<A, B>(_equal: Equal<A, B>): void {}

declare const device: Device;

function accepted(): void {
  const x = device.tensor(new Float32Array(6), [2, 3]);
  const y = transpose(x);
  same<typeof y, Tensor<"float32", 2>>(true);
  const run = transpose.prepare(x, { out: y });
  same<typeof run, PreparedCall<Tensor<"float32", 2>>>(true);
  transpose(x, { out: y, stream: device.defaultStream, variant: "float32", grid: [1, 2] });
  transpose(x, { stream: undefined });
  transpose.launch({ X: x, Y: y, M: 2, N: 3, ldx: 3, ldy: 2 }, { grid: [1] });
  transpose.launch({ X: x.reshape([6]), Y: y, M: 2, N: 3, ldx: 3, ldy: 2 });
  const half = device.zeros("float16", [4, 4]);
  const c = product(half, half, { alpha: 1 });
  same<typeof c, Tensor<"float32" | "float16", 2>>(true);
  const { lo, hi } = split(x, { grid: [1] });
  same<typeof lo, typeof hi>(true);
  const profiled = transpose(x, { out: y, profile: true });
  same<typeof profiled, Profiled<Tensor<"float32", 2>>>(true);
  const sizes = { M: 2, N: 3, ldx: 3, ldy: 2 };
  const counted = transpose.launch({ X: x, Y: y, ...sizes }, { profile: true });
  same<typeof counted, LaunchProfile>(true);
  const v = device.zeros("float32", [8]);
  const lock = device.zeros("int32", [1]);
  scaledAdd(v, v, { lock, alpha: 1, seed: 1n, exact: true });
  scaledAdd(v, v, { lock, alpha: 1, seed: 1, exact: true, b: null });
}

function refused(): void {
  const x = device.tensor(new Float32Array(6), [2, 3]);
  const half = device.zeros("float16", [3, 2]);
  // @ts-expect-error: no variant for int64
  transpose(device.zeros("int64", [2, 3]));
  // @ts-expect-error: a vector is no matrix
  transpose(x.reshape([6]));
  // @ts-expect-error: the rank is not known
  transpose(device.zeros("float32", [2, 3] as number[]));
  // @ts-expect-error: the result has the input's type
  transpose(x, { out: half });
  // @ts-expect-error: the result has the input's rank
  transpose(x, { out: device.zeros("float32", [6]) });
  // @ts-expect-error: a prepared call is not profiled
  transpose.prepare(x, { profile: true });
  // @ts-expect-error: no such variant
  transpose(x, { variant: "float128" });
  // @ts-expect-error: an array is no tensor
  transpose(new Float32Array(6));
  // @ts-expect-error: ldy is missing
  transpose.launch({ X: x, Y: x, M: 2, N: 3, ldx: 3 });
  // @ts-expect-error: X and Y have one type
  transpose.launch({ X: x, Y: half, M: 2, N: 3, ldx: 3, ldy: 2 });
  // @ts-expect-error: an int is no bigint
  transpose.launch({ X: x, Y: x, M: 2n, N: 3, ldx: 3, ldy: 2 });
  // @ts-expect-error: N is missing
  transpose.grid({ M: 2 });
  const bf = device.zeros("bfloat16", [3, 2]);
  // @ts-expect-error: both operands have one type
  product(half, bf, { alpha: 1 });
  // @ts-expect-error: bfloat16 goes with float32 only
  product(bf, bf, { alpha: 1, out: half });
  // @ts-expect-error: only the caller can give alpha
  product(half, half);
  // @ts-expect-error: only the caller can give the grid
  split(x);
  // @ts-expect-error: there is nothing to compute the grid with
  split.grid({ n: 3 });
}

Deno.test("generated types refuse wrong element types, ranks and names at compile time", () => {
  // Compiling this file is the test; the functions need a device to run.
  same<typeof accepted, typeof refused>(true);
});
