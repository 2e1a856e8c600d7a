import { Device } from "../../ffi/device.ts";
import { ArgumentError, CudaError, DisposedError, ImageError } from "../../ffi/errors.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "../support/assert.ts";
import { FakeDriver } from "../support/driver/fake_driver.ts";

const IMAGE = new TextEncoder().encode(".version 7.0");

Deno.test("KernelModule.function() finds a kernel once and names the image when it has none", () => {
  const driver = new FakeDriver({ kernels: { scale: () => {} } });
  using device = Device.fromDriver(driver);
  using module = device.loadModule(IMAGE, "scale.ptx");
  assert(module.function("scale") === module.function("scale"));
  const error = assertThrows(
    () => module.function("other"),
    ImageError,
    "Cannot use kernel image scale.ptx: it has no kernel other",
  );
  assertStringIncludes(error.hint ?? "", "tri build");
});

Deno.test("KernelFunction.prepare() makes launches that read the argument block each time", () => {
  const driver = new FakeDriver({
    kernels: {
      scale: ({ args }, memory) => {
        const [address, count, factor] = [
          args.getBigUint64(0, true),
          args.getUint32(8, true),
          args.getInt32(12, true),
        ];
        const data = memory.bytes(address, count);
        data.forEach((value, i) => data[i] = value * factor);
      },
    },
  });
  using device = Device.fromDriver(driver);
  using tensor = device.tensor(new Uint8Array([1, 2, 3]), [3]);
  using module = device.loadModule(IMAGE, "scale.ptx");
  const launcher = module.function("scale").prepare({
    block: [32, 1, 1],
    sharedBytes: 0,
    parameterBytes: 16,
  });
  const { buffer, byteOffset, byteLength } = launcher.argumentBlock;
  const args = new DataView(buffer, byteOffset, byteLength);
  args.setBigUint64(0, tensor.address, true);
  args.setUint32(8, 3, true);
  for (const factor of [2, 5]) {
    args.setInt32(12, factor, true);
    launcher.launch(1, 2, 3, device.defaultStream.handle);
  }
  assertEquals(tensor.readSync(), new Uint8Array([10, 20, 30]));
  assertEquals(driver.launches.map(({ kernel, grid }) => [kernel, grid]), [
    ["scale", [1, 2, 3]],
    ["scale", [1, 2, 3]],
  ]);
});

Deno.test("KernelFunction.info is asked of the driver once", () => {
  const driver = new FakeDriver({ parameters: { scale: [{ offset: 0, bytes: 8 }] } });
  using device = Device.fromDriver(driver);
  using module = device.loadModule(IMAGE, "scale.ptx");
  const fn = module.function("scale");
  assertEquals(fn.info.parameters, [{ offset: 0, bytes: 8 }]);
  assertEquals(fn.info.registers, 32);
  assertEquals(driver.names().filter((name) => name === "functionInfo").length, 1);
});

Deno.test("KernelModule disposal unloads once and ends the use of its kernels", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  const module = device.loadModule(IMAGE, "scale.ptx");
  const fn = module.function("scale");
  module[Symbol.dispose]();
  module[Symbol.dispose]();
  assertEquals(driver.names().filter((name) => name === "unloadModule").length, 1);
  assertThrows(() => module.function("scale"), DisposedError, "Module scale.ptx was disposed");
  assertThrows(
    () => fn.prepare({ block: [1, 1, 1], sharedBytes: 0, parameterBytes: 0 }),
    DisposedError,
  );
});

Deno.test("Device.loadModule() passes the driver's refusal on", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  driver.fail("loadModule", "CUDA_ERROR_NO_BINARY_FOR_GPU");
  const error = assertThrows(
    () => device.loadModule(IMAGE, "scale.sm_70.cubin"),
    ImageError,
    "scale.sm_70.cubin",
  );
  assert(error.cause instanceof CudaError);
});

Deno.test("Device.loadModule() takes PTX as text, and says of other text that it is none", () => {
  using device = Device.open({ device: "emulator" });
  const ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";
  using module = device.loadModule(ptx, "text.ptx");
  assertEquals(module.function("k").info.maxThreadsPerBlock > 0, true);
  for (const text of ["", "…text…", "\x7fELF", "kernel.ptx"]) {
    assertThrows(
      () => device.loadModule(text, "text.ptx"),
      ImageError,
      "Cannot use kernel image text.ptx: it is not PTX text",
    );
  }
  using gpu = Device.fromDriver(new FakeDriver());
  using loaded = gpu.loadModule(ptx, "text.ptx");
  assertEquals(loaded.name, "text.ptx");
});

Deno.test("KernelModule and KernelFunction refuse names and sizes that there cannot be", () => {
  using device = Device.fromDriver(new FakeDriver({ kernels: { k: () => {} } }));
  using module = device.loadModule(IMAGE, "k.ptx");
  for (const name of [undefined, null, 5, Symbol("s"), "k\0", ["k"]]) {
    for (const method of [module.function, module.variable]) {
      assertThrows(() => Reflect.apply(method, module, [name]), ArgumentError, "a name");
    }
  }
  const right = { block: [32, 1, 1], sharedBytes: 0, parameterBytes: 8 };
  const fn = module.function("k");
  for (
    const wrong of [
      { block: [32] },
      { block: [0, 1, 1] },
      { block: [1025, 1, 1] },
      { block: [32, 32, 2] },
      { block: 32 },
      { sharedBytes: -1 },
      { sharedBytes: 0.5 },
      { parameterBytes: "8" },
      { parameterNames: [1] },
      { startsEarly: 1 },
      { blocks: [1, 1, 1] },
    ]
  ) {
    const prepare = (): unknown => Reflect.apply(fn.prepare, fn, [{ ...right, ...wrong }]);
    assertThrows(prepare, ArgumentError);
  }
  assertThrows(() => Reflect.apply(fn.prepare, fn, []), ArgumentError, "shape of prepare");
  Reflect.apply(fn.prepare, fn, [right]);
});

Deno.test("KernelFunction.prepare() refuses startsEarly for PTX whose kernels never wait", () => {
  const shape = {
    block: [32, 1, 1],
    sharedBytes: 0,
    parameterBytes: 8,
    startsEarly: true,
  } as const;
  using device = Device.fromDriver(new FakeDriver({ kernels: { k: () => {} } }));
  const prepare = (image: string | Uint8Array): unknown =>
    device.loadModule(image, "k.ptx").function("k").prepare(shape);
  const text = ".version 8.5\n.target sm_90\n.visible .entry k() { ret; }";
  const error = assertThrows(() => prepare(text), ArgumentError, "no griddepcontrol.wait");
  assertEquals(error.hint?.includes("leave startsEarly out"), true);
  prepare(text.replace("ret;", "griddepcontrol.wait; ret;"));
  // What is no text does not say.
  prepare(new Uint8Array([0x7f, 0x45, 0x4c, 0x46]));
});
