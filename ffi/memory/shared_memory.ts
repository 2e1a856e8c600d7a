/**
 * Memory of a GPU that several processes use (CUDA IPC). One process describes a tensor, another one opens the
 * description: both then have the same memory. The description is plain data, which any channel between processes takes.
 */
import { expectBranded } from "../arguments/brands.ts";
import type { Device } from "../device.ts";
import { type DType, DTYPES, expectDType } from "../dtype.ts";
import { ArgumentError } from "../errors.ts";
import { expectInteger } from "../arguments/numbers.ts";
import { checkOptions, optionNames, own } from "../arguments/options.ts";
import { spanElements, takeLayout } from "../tensors/shape.ts";
import type { Tensor } from "../tensors/tensor.ts";
import { describeValue } from "../arguments/values.ts";

/** A tensor for other processes, as data that JSON keeps. */
export interface SharedTensor<D extends DType = DType> {
  /** The driver's handle of the allocation: 128 hexadecimal digits. */
  readonly handle: string;
  /** Where the first element is in the allocation, in bytes. */
  readonly byteOffset: number;
  /** The element type. */
  readonly dtype: D;
  /** The extent of each axis. */
  readonly shape: readonly number[];
  /** From one element to the next along each axis, in elements. */
  readonly strides: readonly number[];
}

const SHARED_TENSOR = optionNames<SharedTensor>({
  handle: true,
  byteOffset: true,
  dtype: true,
  shape: true,
  strides: true,
});

/** Bytes of a handle (cuda.h, CU_IPC_HANDLE_SIZE). */
const HANDLE = /^[0-9a-f]{128}$/;

/**
 * Describes a tensor for other processes on the same GPU; waits until its elements are there. Keep the tensor until they
 * are done with it: nothing else does. Throws `ArgumentError` for a tensor without elements, `CudaError` where the driver
 * cannot share the memory, as on the emulator.
 */
export function shareTensor<D extends DType>(tensor: Tensor<D>): SharedTensor<D> {
  expectBranded<Tensor<D>>("tensor", tensor, "tensor of shareTensor");
  const { address, device, dtype, buffer }: Tensor<D> = tensor;
  const { shape, strides }: { shape: readonly number[]; strides: readonly number[] } = tensor;
  const driver = device.enter();
  const found = tensor.spanBytes === 0 ? undefined : driver.memoryAt(address);
  if (found === undefined) {
    const actual = `${tensor}`;
    throw new ArgumentError({ argument: "tensor", expected: "one that has memory", actual });
  }
  buffer.stream.synchronize();
  const handle = [...driver.exportMemory(found.address)]
    .map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return { handle, byteOffset: Number(address - found.address), dtype, shape, strides };
}

/**
 * A tensor of the memory that another process has described; disposing it closes the memory and does not free it. The
 * process that described the tensor cannot open it itself. Throws `ArgumentError` for what is no description, `CudaError`
 * where the driver refuses the handle.
 */
export function openShared<D extends DType>(device: Device, shared: SharedTensor<D>): Tensor<D> {
  expectBranded<Device>("device", device, "device of openShared");
  checkOptions("description of openShared", shared, SHARED_TENSOR);
  const handle: unknown = own(shared, "handle");
  if (typeof handle !== "string" || !HANDLE.test(handle)) {
    const expected = "128 hexadecimal digits, as `shareTensor` returns";
    throw new ArgumentError({ argument: "handle", expected, actual: describeValue(handle) });
  }
  const dtype = own(shared, "dtype");
  expectDType("dtype", dtype);
  const { shape, strides } = takeLayout(own(shared, "shape"), own(shared, "strides"));
  const byteOffset = expectInteger("byteOffset", own(shared, "byteOffset"));
  const driver = device.enter();
  const base = driver.importMemory(
    Uint8Array.from(
      { length: handle.length / 2 },
      (_, i) => Number.parseInt(handle.slice(2 * i, 2 * i + 2), 16),
    ),
  );
  const release = (): void => device.enter().closeMemory(base);
  try {
    const bytes = spanElements(shape, strides) * DTYPES[dtype].bytes;
    if (!Number.isSafeInteger(byteOffset + bytes)) {
      const actual = `${byteOffset}`;
      throw new ArgumentError({ argument: "byteOffset", expected: "less than 2^53", actual });
    }
    return device.wrap(base + BigInt(byteOffset), dtype, shape, { strides, release });
  } catch (error) {
    release();
    throw error;
  }
}
