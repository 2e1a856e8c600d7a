/** The run time on a real GPU: the suite of all drivers, and what only libcuda does. */
import { CudaError, Device, ImageError, NoDeviceError } from "../../ffi/mod.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertThrows,
} from "../support/assert.ts";
import { counting, driverSuite, SCALE } from "../support/driver/driver_suite.ts";
import { gpuTest } from "../support/gpu.ts";

driverSuite({ test: gpuTest, open: () => Device.open({ device: "cuda" }), elements: 1 << 22 });

gpuTest("Device.info describes the GPU", () => {
  using device = Device.open({ device: "cuda" });
  const { info } = device;
  assertMatch(info.arch, /^sm_\d+$/);
  assertEquals(info.arch, `sm_${info.sm}`);
  assert(info.name.length > 0 && !info.name.includes("\0"));
  assert(info.multiprocessors > 0);
  assert(info.memoryBytes > 2 ** 30);
  assertEquals(info.maxThreadsPerBlock, 1024);
  assertEquals(info.maxGrid, [2 ** 31 - 1, 65535, 65535]);
  assert(info.maxSharedBytes >= 48 * 1024);
  assert(info.driverVersion >= 11040);
  const { freeBytes, totalBytes } = device.enter().memoryInfo();
  assert(freeBytes > 0 && freeBytes <= totalBytes);
});

gpuTest("Device.open() refuses a GPU that is not there", () => {
  assertThrows(() => Device.open({ device: 999 }), NoDeviceError, "No CUDA device 999");
});

gpuTest("Device.zeros() clears memory that held something else", () => {
  using device = Device.open({ device: "cuda" });
  const first = device.tensor(counting(1000), [1000]);
  const { address } = first;
  first[Symbol.dispose]();
  using second = device.zeros("float32", [1000]);
  assertEquals(second.address, address);
  assertEquals(second.readSync(), new Float32Array(1000));
});

gpuTest("Device.loadModule() shows the assembler's message for broken PTX", () => {
  using device = Device.open({ device: "cuda" });
  const broken = new TextEncoder().encode(SCALE.replace("mul.f32", "mull.f32"));
  const error = assertThrows(
    () => device.loadModule(broken, "broken.ptx"),
    ImageError,
    "broken.ptx",
  );
  assertMatch(error.message, /CUDA_ERROR_INVALID_PTX \(218\)[\s\S]*line \d+/);
  assert(error.cause instanceof CudaError);
});

gpuTest("Device.loadModule() refuses a corrupt cubin and the device stays usable", () => {
  using device = Device.open({ device: "cuda" });
  // A whole ELF file for CUDA as far as its sizes go, with nothing in it.
  const hollow = new Uint8Array(64);
  hollow.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  hollow.set([2, 0, 190, 0, 1], 16);
  assertThrows(() => device.loadModule(hollow, "hollow.cubin"), ImageError, "hollow.cubin");
  assertThrows(
    () => device.loadModule(hollow.subarray(0, 40), "short.cubin"),
    ImageError,
    "it is truncated",
  );
  using after = device.tensor(counting(3), [3]);
  assertEquals(after.readSync(), counting(3));
});

gpuTest(
  "CudaError for a fault on the device says that the context is lost, also when the device is disposed",
  async () => {
    const program = `
    import { Device } from ${JSON.stringify(new URL("../../ffi/mod.ts", import.meta.url).href)};
    const device = Device.open({ device: "cuda" });
    const fn = device.loadModule(new TextEncoder().encode(${
      JSON.stringify(SCALE)
    }), "scale.ptx").function("scale");
    const launcher = fn.prepare({ block: [128, 1, 1], sharedBytes: 0, parameterBytes: 16 });
    new DataView(launcher.argumentBlock.buffer, launcher.argumentBlock.byteOffset).setUint32(8, 128, true);
    launcher.launch(1, 1, 1, device.defaultStream.handle);
    for (const step of [() => device.synchronize(), () => device[Symbol.dispose]()]) {
      try { step(); } catch (error) { console.log(error.cudaName, error.hint); }
    }`;
    // Not in this process: a lost context stays lost until the process ends.
    const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["eval", program] })
      .output();
    const lines = new TextDecoder().decode(stdout).trim().split("\n");
    assertEquals(lines.length, 2);
    for (const line of lines) assertMatch(line, /^CUDA_ERROR_\w+ .*context is lost/);
    assertNotEquals(lines[0], "");
  },
);
