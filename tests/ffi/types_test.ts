/** What must and must not compile: every expectation here is checked by `deno check`, none by running. */
import type { Device } from "../../ffi/device.ts";
import type { Tensor } from "../../ffi/tensors/tensor.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;

function same<A, B>(_equal: Equal<A, B>): void {}

declare const device: Device;
declare function needsMatrix(x: Tensor<"float32", 2>): void;
declare function takesAny(x: Tensor): void;

function inferred(): void {
  const x = device.tensor(new Float32Array(6), [2, 3]);
  same<typeof x, Tensor<"float32", 2>>(true);
  same<typeof x.shape, readonly [number, number]>(true);
  same<Awaited<ReturnType<typeof x.read>>, Float32Array>(true);
  const b = device.tensor(new Uint16Array(4), [4], { dtype: "bfloat16" });
  same<typeof b, Tensor<"bfloat16", 1>>(true);
  const h = device.tensor(new Uint16Array(4), [4], { dtype: "float16" });
  same<typeof h, Tensor<"float16", 1>>(true);
  const flat = device.tensor(new Float32Array(6));
  same<typeof flat, Tensor<"float32", 1>>(true);
  const numbers = device.tensor([1, 2, 3, 4], [2, 2]);
  same<typeof numbers, Tensor<"float32", 2>>(true);
  const longs = device.tensor([1n, 2n]);
  same<typeof longs, Tensor<"int64", 1>>(true);
  const bytes = device.tensor(new ArrayBuffer(8), [2], { dtype: "int32" });
  same<typeof bytes, Tensor<"int32", 1>>(true);
  const rounded = device.tensor([1, 2], undefined, { dtype: "bfloat16" });
  same<typeof rounded, Tensor<"bfloat16", 1>>(true);
  same<ReturnType<typeof numbers.clone>, Tensor<"float32", 2>>(true);
  const casted = numbers.cast("int8");
  same<typeof casted, Tensor<"int8", 2>>(true);
  const u = device.tensor(new Uint16Array(4), [4]);
  same<typeof u, Tensor<"uint16", 1>>(true);
  const z = device.zeros("int64", [1, 2, 3], { strides: [6, 3, 1] });
  same<typeof z, Tensor<"int64", 3>>(true);
  same<ReturnType<typeof z.readSync>, BigInt64Array>(true);
  const scalar = device.empty("bool", []);
  same<typeof scalar.shape, readonly []>(true);
  const reshaped = x.reshape([6]);
  same<typeof reshaped, Tensor<"float32", 1>>(true);
  const transposed = x.transpose();
  same<typeof transposed, Tensor<"float32", 2>>(true);
  const dynamic: number[] = [2, 3];
  const unknownRank = device.zeros("float32", dynamic);
  same<typeof unknownRank, Tensor<"float32", number>>(true);
  const [rows, columns] = x.shape;
  same<[typeof rows, typeof columns], [number, number]>(true);
}

function accepted(): void {
  const x = device.tensor(new Float32Array(6), [2, 3]);
  needsMatrix(x);
  needsMatrix(x.transpose());
  takesAny(x);
  takesAny(device.zeros("int8", []));
}

function refused(): void {
  // @ts-expect-error -- rank 1, not 2
  needsMatrix(device.tensor(new Float32Array(6), [6]));
  // @ts-expect-error -- float64, not float32
  needsMatrix(device.tensor(new Float64Array(6), [2, 3]));
  // @ts-expect-error -- the rank is not known
  needsMatrix(device.zeros("float32", [2, 3] as number[]));
  // @ts-expect-error -- a Float32Array does not hold int32
  device.tensor(new Float32Array(6), [6], { dtype: "int32" });
  // @ts-expect-error -- bytes need a dtype
  device.tensor(new ArrayBuffer(4), [1]);
  // @ts-expect-error -- a Float64Array has no bits of float16
  device.tensor(new Float64Array(4), [4], { dtype: "float16" });
  // @ts-expect-error -- not an element type
  device.zeros("float", [6]);
  // @ts-expect-error -- an order of three axes for a matrix
  device.tensor(new Float32Array(6), [2, 3]).permute([0, 1, 2]);
  // @ts-expect-error -- the elements are float32
  device.tensor(new Float32Array(6), [2, 3]).write(new Int32Array(6));
  // @ts-expect-error -- shapes are read-only
  device.tensor(new Float32Array(6), [2, 3]).shape[0] = 3;
}

Deno.test("Tensor types carry element type and rank", () => {
  // The functions above are compiled, not run: there is no device.
  void [inferred, accepted, refused];
});
