/** A fake GPU that transposes, for tests of the generated wrapper of `transpose`. */
import { Device } from "../../../ffi/device.ts";
import type { DeviceInfo } from "../../../ffi/driver.ts";
import { type DType, DTYPES } from "../../../ffi/dtype.ts";
import { FakeDriver, type FakeKernel, type FakeOptions } from "../../support/driver/fake_driver.ts";

const TYPES = [
  "float32",
  "float16",
  "float64",
  "int8",
  "int16",
  "int32",
] as const satisfies readonly DType[];

/** What the kernel does: moves elements one by one as its arguments say. */
function transposer(dtype: DType): FakeKernel {
  const { bytes } = DTYPES[dtype];
  return ({ args }, memory) => {
    const [x, y] = [args.getBigUint64(0, true), args.getBigUint64(8, true)];
    const [M, N, ldx, ldy] = [16, 20, 24, 28].map((offset) => args.getInt32(offset, true));
    for (let i = 0; i < (M ?? 0); i++) {
      for (let j = 0; j < (N ?? 0); j++) {
        const from = memory.bytes(x + BigInt((i * (ldx ?? 0) + j) * bytes), bytes);
        memory.bytes(y + BigInt((j * (ldy ?? 0) + i) * bytes), bytes).set(from);
      }
    }
  };
}

/** The entries of the golden wrapper's images. */
export const TRANSPOSE_KERNELS: Readonly<Record<string, FakeKernel>> = Object.fromEntries(
  TYPES.flatMap((dtype) => [
    [`transpose_${dtype}`, transposer(dtype)],
    [`transpose_${dtype}_s1`, transposer(dtype)],
  ]),
);

/** A device that can transpose, with its driver. */
export interface FakeGpu extends Disposable {
  readonly driver: FakeDriver;
  readonly device: Device;
  /** The entry that was launched last. */
  readonly lastKernel: () => string | undefined;
}

export function fakeGpu(info: Partial<DeviceInfo> = {}, options: FakeOptions = {}): FakeGpu {
  const driver = new FakeDriver({ kernels: TRANSPOSE_KERNELS, devices: [info, info], ...options });
  const device = Device.fromDriver(driver);
  return {
    driver,
    device,
    lastKernel: () => driver.launches.at(-1)?.kernel,
    [Symbol.dispose]: () => device[Symbol.dispose](),
  };
}

/** 0, 1, 2, … */
export function counting(count: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: count }, (_, index) => index);
}
