/**
 * What every driver does the same, without the compiler: memory, streams, events, graphs, images, launches. The suite
 * runs on a GPU and on the emulator.
 */
import { Buffer } from "node:buffer";
import { type DType, DTYPES, hostArray } from "../../../ffi/dtype.ts";
import {
  ArgumentError,
  CudaError,
  type Device,
  ImageError,
  OutOfMemoryError,
} from "../../../ffi/mod.ts";
import type { PreparedLaunch, Tensor } from "../../../ffi/mod.ts";
import { assert, assertEquals, assertThrows } from "../assert.ts";

/** Multiplies `count` floats by `factor`, in place. */
export const SCALE = `
.version 6.4
.target sm_70
.address_size 64

.visible .entry scale(.param .u64 data, .param .u32 count, .param .f32 factor)
{
  .reg .pred %outside;
  .reg .b32 %i, %count, %block, %size;
  .reg .f32 %value, %factor;
  .reg .b64 %data, %offset;

  ld.param.u64 %data, [data];
  ld.param.u32 %count, [count];
  ld.param.f32 %factor, [factor];
  mov.u32 %block, %ctaid.x;
  mov.u32 %size, %ntid.x;
  mov.u32 %i, %tid.x;
  mad.lo.u32 %i, %block, %size, %i;
  setp.ge.u32 %outside, %i, %count;
  @%outside bra done;
  cvta.to.global.u64 %data, %data;
  mul.wide.u32 %offset, %i, 4;
  add.u64 %data, %data, %offset;
  ld.global.f32 %value, [%data];
  mul.f32 %value, %value, %factor;
  st.global.f32 [%data], %value;
done:
  ret;
}
`;

/** Writes the sum of two variables, one in constant and one in global memory. */
const VARIABLES = `
.version 6.4
.target sm_70
.address_size 64

.visible .const .align 16 .b8 table[8];
.visible .global .align 4 .b32 offset = 5;

.visible .entry add(.param .u64 to)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [to];
  cvta.to.global.u64 %rd1, %rd0;
  mov.u64 %rd2, table;
  cvta.const.u64 %rd3, %rd2;
  ld.b32 %r0, [%rd3+4];
  ld.const.b32 %r1, [table];
  add.s32 %r0, %r0, %r1;
  ld.global.b32 %r2, [offset];
  add.s32 %r0, %r0, %r2;
  st.global.b32 [%rd1], %r0;
  ret;
}
`;

export const SCALE_IMAGE = new TextEncoder().encode(SCALE);

/** The kernel, ready to be launched with blocks of 128. */
export interface Scale {
  readonly launcher: PreparedLaunch;
  /** Fills the argument block. */
  readonly set: (data: bigint, count: number, factor: number) => void;
}

/** Loads the kernel. */
export function prepareScale(device: Device, sharedBytes = 0): Scale {
  const fn = device.loadModule(SCALE_IMAGE, "scale.ptx").function("scale");
  const launcher = fn.prepare({ block: [128, 1, 1], sharedBytes, parameterBytes: 16 });
  const { buffer, byteOffset, byteLength } = launcher.argumentBlock;
  const view = new DataView(buffer, byteOffset, byteLength);
  const set = (data: bigint, count: number, factor: number): void => {
    view.setBigUint64(0, data, true);
    view.setUint32(8, count, true);
    view.setFloat32(12, factor, true);
  };
  return { launcher, set };
}

/** 0, 1, 2, … */
export function counting(length: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => i);
}

/** A driver to be tested. */
export interface DriverUnderTest {
  readonly test: (name: string, fn: () => void | Promise<void>) => void;
  readonly open: () => Device;
  /** How many elements long work has, a multiple of 128. */
  readonly elements: number;
}

/** Declares the tests. */
export function driverSuite({ test, open, elements }: DriverUnderTest): void {
  test("Device.open() can be closed and opened again, and twice at a time", () => {
    for (let round = 0; round < 2; round++) {
      using first = open();
      using second = open();
      using x = first.tensor(counting(3), [3]);
      using y = second.tensor(counting(3), [3]);
      assertEquals(x.readSync(), y.readSync());
    }
  });

  test("Tensor.read() returns every element type bit by bit", async () => {
    using device = open();
    for (const dtype of Object.keys(DTYPES) as DType[]) {
      for (const length of [0, 1, 33, 1_000_003]) {
        const data = hostArray(dtype, length);
        const bytes = new Uint8Array(data.buffer);
        for (let i = 0; i < bytes.length; i++) bytes[i] = (i * 193 + (i >> 8)) & 0xff;
        using tensor: Tensor = device.tensor(data, [length], { dtype });
        assert(Buffer.from((await tensor.read()).buffer).equals(bytes), dtype);
        assert(Buffer.from(tensor.readSync().buffer).equals(bytes), dtype);
      }
    }
  });

  test("Tensor views read and write strided elements", async () => {
    using device = open();
    using tensor = device.tensor(counting(24), [4, 6]);
    assertEquals(
      (await tensor.transpose().read()).slice(0, 5),
      new Float32Array([0, 6, 12, 18, 1]),
    );
    const view = tensor.narrow(0, 1, 2).narrow(1, 2, 2, 3);
    assertEquals(view.readSync(), new Float32Array([8, 11, 14, 17]));
    view.write(new Float32Array([-1, -2, -3, -4]));
    const wanted = counting(24);
    [8, 11, 14, 17].forEach((index, i) => wanted[index] = -1 - i);
    assertEquals(tensor.readSync(), wanted);
  });

  test("Driver.copyOnDevice() copies between tensors", () => {
    using device = open();
    using from = device.tensor(counting(100), [100]);
    using to = device.zeros("float32", [100]);
    device.enter().copyOnDevice(to.address, from.address, 400, device.defaultStream.handle);
    assertEquals(to.readSync(), counting(100));
  });

  test("PinnedArray: pieces pass through pinned memory, kernels and streams in the right order", async () => {
    using device = open();
    const { launcher, set } = prepareScale(device);
    using copyIn = device.stream();
    using compute = device.stream();
    using copyOut = device.stream();
    const count = elements;
    using x = device.empty("float32", [count]);
    using input = device.pinned("float32", [count]);
    using output = device.pinned("float32", [count]);
    for (let piece = 1; piece <= 5; piece++) {
      await input.finished();
      input.array.fill(piece);
      x.copyFrom(input, { stream: copyIn });
      x.buffer.use(compute, true);
      set(x.address, count, 3);
      launcher.launch(count / 128, 1, 1, compute.handle);
      x.copyTo(output, { stream: copyOut });
      await output.finished();
      assert(output.array.every((value) => value === 3 * piece), `piece ${piece}`);
    }
  });

  test("Device.wrap() views memory of the device, and refuses what the driver does not know", () => {
    using device = open();
    using x = device.tensor(counting(24), [4, 6]);
    {
      using column = device.wrap(x.address + 4n, "float32", [4], { strides: [6], owner: x });
      assertEquals(column.readSync(), Float32Array.of(1, 7, 13, 19));
      column.write([-1, -7, -13, -19]);
    }
    const changed = counting(24).map((value) => value % 6 === 1 ? -value : value);
    assertEquals(x.readSync(), changed);
    assertThrows(() => device.wrap(4096n, "float32", [1]), ArgumentError, "does not know");
    assertThrows(() => device.wrap(x.address, "float32", [2 ** 28]), ArgumentError, "know");
  });

  test("Device memory is aligned to 256 bytes", () => {
    using device = open();
    for (const length of [1, 3, 1000, 77777]) {
      using tensor = device.empty("int8", [length]);
      assertEquals(tensor.address % 256n, 0n);
    }
  });

  test("Device.empty() says how much memory is missing", () => {
    using device = open();
    const error = assertThrows(
      () => device.empty("int8", [2 ** 45]),
      OutOfMemoryError,
      "Cannot allocate",
    );
    assert(error.cause instanceof CudaError);
    assertEquals(error.cause.cudaName, "CUDA_ERROR_OUT_OF_MEMORY");
    using after = device.tensor(counting(3), [3]);
    assertEquals(after.readSync(), counting(3));
  });

  test("KernelFunction.prepare() launches PTX that the driver assembles", async () => {
    using device = open();
    const { launcher, set } = prepareScale(device);
    using data = device.tensor(counting(1000), [1000]);
    set(data.address, 1000, 2);
    launcher.launch(8, 1, 1, device.defaultStream.handle);
    // The arguments were copied: changing them now does not reach the launch above.
    set(data.address, 500, -1);
    launcher.launch(8, 1, 1, device.defaultStream.handle);
    assertEquals(
      await data.read(),
      counting(1000).map((value, i) => i < 500 ? -2 * value : 2 * value),
    );
  });

  test("KernelFunction.info has the kernel's resources and parameters", () => {
    using device = open();
    const { info } = device.loadModule(SCALE_IMAGE, "scale.ptx").function("scale");
    assert(info.registers > 0 && info.registers < 64);
    assertEquals([info.localBytes, info.staticSharedBytes], [0, 0]);
    assert(info.maxDynamicSharedBytes >= 48 * 1024);
    if (device.info.kind === "emulator" || device.info.driverVersion >= 12040) {
      assertEquals(info.parameters, [{ offset: 0, bytes: 8 }, { offset: 8, bytes: 4 }, {
        offset: 12,
        bytes: 4,
      }]);
    }
  });

  test(
    "KernelFunction.prepare() opts in to large shared memory, and says when it is too large",
    () => {
      using device = open();
      const { maxSharedBytes } = device.info;
      const { launcher, set } = prepareScale(device, maxSharedBytes);
      using data = device.tensor(counting(100), [100]);
      set(data.address, 100, 3);
      launcher.launch(1, 1, 1, device.defaultStream.handle);
      assertEquals(data.readSync(), counting(100).map((value) => value * 3));
      assertThrows(
        () => prepareScale(device, maxSharedBytes + 1024),
        CudaError,
        "cuFuncSetAttribute (scale, ",
      );
    },
  );

  test("PreparedLaunch.launch() names a grid that the device refuses", () => {
    using device = open();
    const { launcher, set } = prepareScale(device);
    set(0n, 0, 0);
    assertThrows(
      () => launcher.launch(1, 70000, 1, device.defaultStream.handle),
      CudaError,
      "cuLaunchKernel (kernel scale, grid 1×70000×1, block 128×1×1) failed with CUDA_ERROR_INVALID_VALUE (1)",
    );
  });

  test("KernelModule.function() says when the image has no such kernel", () => {
    using device = open();
    using module = device.loadModule(SCALE_IMAGE, "scale.ptx");
    assertThrows(() => module.function("transpose"), ImageError, "it has no kernel transpose");
  });

  test("KernelModule.variable() finds what the host can fill, in each module its own", () => {
    using device = open();
    const image = new TextEncoder().encode(VARIABLES);
    using sum = device.tensor(new Int32Array([-1]), [1]);
    const sums = [0, 1].map((nth) => {
      const module = device.loadModule(image, "variables.ptx");
      const table = module.variable("table");
      assert(table !== undefined && table === module.variable("table"));
      assertEquals(table.bytes, 8);
      assertEquals(module.variable("offset")?.bytes, 4);
      assertEquals(module.variable("other"), undefined);
      const launcher = module.function("add").prepare({
        block: [1, 1, 1],
        sharedBytes: 0,
        parameterBytes: 8,
      });
      const { buffer, byteOffset } = launcher.argumentBlock;
      new DataView(buffer, byteOffset).setBigUint64(0, sum.address, true);
      return (): number => {
        table.upload(new Uint8Array(new Int32Array([100 * (nth + 1)]).buffer), 4);
        sum.buffer.use(device.defaultStream, true);
        launcher.launch(1, 1, 1, device.defaultStream.handle);
        return sum.readSync()[0] ?? NaN;
      };
    });
    assertEquals(sums.map((run) => run()), [105, 205]);
    assertEquals(sums.map((run) => run()), [105, 205]);
  });

  test("Streams that share a tensor keep its order", async () => {
    using device = open();
    using other = device.stream();
    const { launcher, set } = prepareScale(device);
    const count = elements;
    using data = device.tensor(new Float32Array(count).fill(1), [count]);
    let wanted = 1;
    for (let round = 0; round < 20; round++) {
      for (
        const [stream, factor] of [[device.defaultStream, -2], [other, 0.5], [
          device.defaultStream,
          3,
        ]] as const
      ) {
        data.buffer.use(stream, true);
        set(data.address, count, factor);
        launcher.launch(count / 128, 1, 1, stream.handle);
        wanted = Math.fround(wanted * factor);
      }
    }
    assert((await data.read()).every((value) => value === wanted));
  });

  test("DeviceEvent.millisecondsSince() measures work on the device", async () => {
    using device = open();
    const { launcher, set } = prepareScale(device);
    const count = elements;
    using data = device.zeros("float32", [count]);
    using start = device.event();
    using end = device.event();
    set(data.address, count, 1);
    start.record();
    for (let i = 0; i < 5; i++) launcher.launch(count / 128, 1, 1, device.defaultStream.handle);
    end.record();
    await end.finished();
    assert(end.done);
    assert(end.millisecondsSince(start) > 0);
  });

  test("Stream.capture() records launches that Graph.launch() repeats", () => {
    using device = open();
    using stream = device.stream();
    const { launcher, set } = prepareScale(device);
    using data = device.tensor(counting(1000), [1000], { stream });
    using graph = stream.capture(() => {
      for (const factor of [2, 3]) {
        data.buffer.use(stream, true);
        set(data.address, 1000, factor);
        launcher.launch(8, 1, 1, stream.handle);
      }
    });
    assertEquals(data.readSync(), counting(1000));
    graph.launch();
    graph.launch();
    assertEquals(data.readSync(), counting(1000).map((value) => value * 36));
    graph.launch(device.defaultStream);
    assertEquals(data.readSync(), counting(1000).map((value) => value * 216));
  });

  test("Stream.capture() refuses a read inside, and the stream stays usable", () => {
    using device = open();
    using data = device.tensor(counting(4), [4]);
    assertThrows(
      () => device.defaultStream.capture(() => data.readSync()),
      CudaError,
      "CUDA_ERROR_STREAM_CAPTURE",
    );
    assertEquals(data.readSync(), counting(4));
  });
}
