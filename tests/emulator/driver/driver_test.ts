/** The emulator instead of libcuda: the suite of all drivers, and what only the emulator does. */
import {
  ArgumentError,
  type CheckChoice,
  CudaError,
  Device,
  EmulatorError,
  type EmulatorWarning,
  ImageError,
  type LaunchProfile,
  NoDeviceError,
  OutOfMemoryError,
} from "../../../ffi/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "../../support/assert.ts";
import { kernelText } from "../../support/emulate.ts";
import { openEmulator } from "../../../emulator/driver/mod.ts";
import { freshRandom } from "../../support/random.ts";
import {
  counting,
  driverSuite,
  prepareScale,
  SCALE,
  SCALE_IMAGE,
} from "../../support/driver/driver_suite.ts";

const open = (): Device => Device.open({ device: "emulator" });

driverSuite({
  test: (name, fn) => Deno.test(`${name}, on the emulator`, fn),
  open,
  elements: 1 << 10,
});

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

Deno.test("Device.info describes the emulated architecture", () => {
  for (
    const [arch, sm, kib] of [["sm_70", 70, 96], ["sm_90", 90, 227], ["sm_120", 120, 99]] as const
  ) {
    using device = Device.open({ device: "emulator", arch });
    const { info, label, why } = device;
    assertEquals([info.kind, info.arch, info.sm], ["emulator", arch, sm]);
    assertEquals(info.maxSharedBytes, kib * 1024);
    assertEquals([label, why], [`tri emulator (${arch})`, "the program asks for it"]);
    const { freeBytes, totalBytes } = device.enter().memoryInfo();
    assert(freeBytes > 0 && freeBytes <= totalBytes && totalBytes === info.memoryBytes);
  }
});

Deno.test("Device.open({ debug }) walks through each launch, which then runs to its end", () => {
  const counts: number[] = [];
  using device = Device.open({
    device: "emulator",
    debug(launch): void {
      let instructions = 0;
      while (launch.run("instruction").kind === "step") instructions++;
      counts.push(instructions);
      launch.goto(2);
    },
  });
  const x = device.tensor(counting(100), [100]);
  const { launcher, set } = prepareScale(device);
  set(x.address, 100, 3);
  launcher.launch(1, 1, 1, 0n);
  launcher.launch(1, 1, 1, 0n);
  assertEquals([...x.readSync()], [...counting(100).map((value) => 9 * value)]);
  assert(counts.length === 2 && counts[0] === counts[1] && (counts[0] ?? 0) > 5);
  assertThrows(
    () => Device.open({ device: "emulator", debug: 1 as unknown as () => void }),
    ArgumentError,
    "Argument debug: expected a function of a launch, got 1",
  );
});

const TABLE = `
.version 7.0
.target sm_80
.address_size 64
.visible .const .align 16 .b8 before[16];
.visible .const .align 16 .b8 AD[256];
.visible .entry read(.param .u64 to, .param .u32 at)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd0, [to];
  cvta.to.global.u64 %rd1, %rd0;
  ld.param.u32 %r0, [at];
  cvt.s64.s32 %rd2, %r0;
  mov.u64 %rd3, AD;
  add.s64 %rd4, %rd3, %rd2;
  LOAD
  st.global.b32 [%rd1], %r1;
  ret;
}
`;

Deno.test("PreparedLaunch.launch() says which constant memory was left, and by how much", () => {
  const loads = ["ld.const.b32 %r1, [%rd4];", "cvta.const.u64 %rd4, %rd4; ld.b32 %r1, [%rd4];"];
  for (const load of loads) {
    using device = open();
    using to = device.zeros("int32", [1]);
    const module = device.loadModule(encode(TABLE.replace("LOAD", load)), "table.ptx");
    const launcher = module.function("read").prepare({
      block: [1, 1, 1],
      sharedBytes: 0,
      parameterBytes: 12,
    });
    const { buffer, byteOffset } = launcher.argumentBlock;
    const view = new DataView(buffer, byteOffset);
    view.setBigUint64(0, to.address, true);
    const launch = (at: number): void => {
      view.setInt32(8, at, true);
      launcher.launch(1, 1, 1, device.defaultStream.handle);
    };
    launch(252);
    for (
      const [at, where] of [
        [260, "byte 260, 4 bytes past the end of AD (256 bytes) in constant memory"],
        [-4, "4 bytes before AD (256 bytes) in constant memory"],
      ] as const
    ) {
      const error = assertThrows(() => launch(at), EmulatorError, where);
      assertEquals(error.kind, "out of bounds");
    }
    assertThrows(() => launch(256), EmulatorError, "byte 256, 0 bytes past the end of AD");
    // What constant memory gives is no traffic of global memory.
    view.setInt32(8, 0, true);
    const profile = launcher.profile?.(1, 1, 1, device.defaultStream.handle);
    assertEquals(profile?.global.requests, 1);
    assertEquals(profile?.accesses.map(({ instruction }) => instruction), [
      "st.global.b32 [%rd1], %r1;",
    ]);
  }
});

Deno.test("Device.open() refuses settings that the emulator does not have", () => {
  const refused: readonly (readonly [string, object])[] = [
    ["arch", { arch: "sm_90a" }],
    ["arch", { arch: "toString" }],
    ["checks", { checks: 1 }],
    ["budget", { budget: 0 }],
    ["workers", { workers: 1.5 }],
  ];
  for (const [name, settings] of refused) {
    assertThrows(
      () => Device.open({ device: "emulator", ...settings }),
      ArgumentError,
      `Argument ${name}: expected `,
    );
  }
});

Deno.test("Device.open() refuses checks and levels that there are none of, and suggests one", () => {
  const open = (checks: unknown): Device =>
    Device.open({ device: "emulator", ...({ checks } as object) });
  const error = assertThrows(() => open({ race: "warn" }), ArgumentError);
  assertStringIncludes(
    error.message,
    "expected names among bounds, alignment, uninitialized, races",
  );
  assertStringIncludes(error.hint ?? "", "did you mean `races`?");
  for (
    const checks of [{ races: "warning" }, { races: true }, { toString: "off" }, [], null, "on"]
  ) {
    assertThrows(() => open(checks), ArgumentError, "Argument checks");
  }
  for (const checks of [{}, { races: "warn", bounds: undefined }, { exitedLanes: "error" }]) {
    open(checks)[Symbol.dispose]();
  }
});

/** Launches a kernel on 32 threads and one buffer of 32 words of zeros: what is warned of, and the profile. */
function warned(body: string, checks: CheckChoice): {
  readonly warnings: readonly EmulatorWarning[];
  readonly profile: LaunchProfile;
  readonly words: Int32Array;
} {
  const warnings: EmulatorWarning[] = [];
  using device = Device.open({
    device: "emulator",
    checks,
    workers: 1,
    warn: (warning) => warnings.push(warning),
  });
  const module = device.loadModule(new TextEncoder().encode(kernelText(body)), "k");
  const data = device.zeros("int32", [32]);
  const { argumentBlock, launch, profile } = module.function("k").prepare({
    block: [32, 1, 1],
    sharedBytes: 0,
    parameterBytes: 8,
    parameterNames: ["DATA"],
  });
  new DataView(argumentBlock.buffer, argumentBlock.byteOffset).setBigUint64(0, data.address, true);
  launch(1, 1, 1, device.defaultStream.handle);
  const profiled = must(profile?.(1, 1, 1, device.defaultStream.handle), "profile");
  return { warnings, profile: profiled, words: data.readSync() };
}

const RACY = `.reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [p0]; mov.u32 %r0, %tid.x; st.global.u32 [%rd0], %r0;`;
/** Each thread adds one to the word after its own. */
const OUTSIDE = `.reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [p0]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.s64 %rd2, %rd0, %rd1;
  ld.global.u32 %r1, [%rd2+4]; add.u32 %r1, %r1, 1; st.global.u32 [%rd2+4], %r1;`;

Deno.test("Device.open() lets a check warn: once for a device, and in each profile", () => {
  const { warnings, profile } = warned(RACY, { races: "warn" });
  assertEquals(warnings.map(({ check, kind, kernel }) => [check, kind, kernel]), [
    ["races", "race", "k"],
  ]);
  assertStringIncludes(
    warnings[0]?.message ?? "",
    "Kernel k: race: store of 4 bytes at element 0 of DATA",
  );
  assertEquals(profile.warnings, warnings);
});

Deno.test("Device.open() lets a check be disabled", () => {
  const { warnings, profile } = warned(RACY, { races: "off" });
  assertEquals([warnings, profile.warnings], [[], []]);
});

Deno.test("Device.open() leaves accesses out that are out of bounds and only warned of", () => {
  const { warnings, words } = warned(OUTSIDE, { bounds: "warn" });
  assertEquals(warnings.map(({ kind, thread }) => [kind, thread?.[0]]), [
    ["out of bounds", 31],
    ["out of bounds", 31],
  ]);
  assertEquals([...words], [0, ...Array.from({ length: 31 }, () => 2)]);
});

Deno.test("Device.fromDriver() recognises an emulator", () => {
  using device = open();
  assertThrows(() => Device.fromDriver(device.driver, 1), NoDeviceError);
});

Deno.test("Device.empty() holds NaN in every floating type", () => {
  using device = open();
  for (const dtype of ["float32", "float64", "float16"] as const) {
    using tensor = device.empty(dtype, [3]);
    assertEquals([...tensor.readSync()], [NaN, NaN, NaN]);
  }
});

Deno.test("Driver.copyToHost() refuses what is not inside one live allocation", () => {
  using device = open();
  const driver = device.enter();
  const stream = device.defaultStream.handle;
  using a = device.zeros("int8", [100]);
  using _b = device.zeros("int8", [100]);
  const copy = (address: bigint, bytes: number): void =>
    driver.copyToHost(new Uint8Array(bytes), address, stream);
  copy(a.address, 100);
  copy(a.address + 99n, 1);
  const freed = device.empty("int8", [8]);
  const { address } = freed;
  freed[Symbol.dispose]();
  for (
    const [from, bytes] of [[a.address, 101], [a.address - 1n, 1], [0n, 1], [address, 8]] as const
  ) {
    const error = assertThrows(() => copy(from, bytes), CudaError, "cuMemcpyDtoHAsync (");
    assertEquals(error.cudaName, "CUDA_ERROR_INVALID_VALUE");
  }
  assertThrows(() => driver.free(address), CudaError, "cuMemFree");
});

Deno.test("Device.loadModule() refuses what the emulator cannot run", () => {
  using device = Device.open({ device: "emulator", arch: "sm_75" });
  const cubin = new Uint8Array(64);
  cubin.set([0x7f, 0x45, 0x4c, 0x46]);
  assertThrows(() => device.loadModule(cubin, "a.cubin"), ImageError, "it is not PTX text");
  const newer = encode(SCALE.replace("sm_70", "sm_80"));
  assertThrows(
    () => device.loadModule(newer, "a.ptx"),
    ImageError,
    "it is for sm_80, and the emulator is sm_75\nhint: open the emulator for the image's architecture",
  );
  const broken = encode(SCALE.replace("{", "(("));
  const error = assertThrows(() => device.loadModule(broken, "b.ptx"), ImageError, "b.ptx");
  assertMatch(error.message, /line \d+|:\d+/);
});

Deno.test("Device.loadModule() takes code for an `a` target on that architecture alone", () => {
  const image = encode(SCALE.replace(".version 6.4", ".version 8.0").replace("sm_70", "sm_90a"));
  using hopper = Device.open({ device: "emulator", arch: "sm_90" });
  hopper.loadModule(image, "a.ptx");
  using later = Device.open({ device: "emulator", arch: "sm_100" });
  assertThrows(() => later.loadModule(image, "a.ptx"), ImageError, "it is for sm_90a");
});

Deno.test("PreparedLaunch.launch() throws an EmulatorError that names location and element, and the device stays usable", () => {
  using device = open();
  using data = device.tensor(counting(100), [10, 10]);
  const fn = device.loadModule(SCALE_IMAGE, "scale.ptx").function("scale");
  const launcher = fn.prepare({
    block: [128, 1, 1],
    sharedBytes: 0,
    parameterBytes: 16,
    parameterNames: ["X", "count", "factor"],
  });
  const { buffer, byteOffset } = launcher.argumentBlock;
  const view = new DataView(buffer, byteOffset);
  view.setBigUint64(0, data.address, true);
  view.setUint32(8, 101, true);
  view.setFloat32(12, 2, true);
  const { handle } = device.defaultStream;
  const error = assertThrows(() => launcher.launch(1, 1, 1, handle), EmulatorError);
  assertEquals(error.kind, "out of bounds");
  assertEquals(error.kernel, "scale");
  assertEquals([error.block, error.thread], [[0, 0, 0], [100, 0, 0]]);
  assertEquals(error.instruction, "ld.global.f32 %value, [%data];");
  assertEquals(error.source, undefined);
  assertMatch(error.detail, /X \(10 × 10 float32\)/);
  assertMatch(error.detail, /element 100/);
  assertMatch(error.message, /\n {2}in block \(0, 0, 0\), thread \(100, 0, 0\)\n/);
  assertMatch(error.hint ?? "", /mask/);
  view.setUint32(8, 100, true);
  launcher.launch(1, 1, 1, handle);
  assertEquals(data.readSync()[99], 198);
});

Deno.test("PreparedLaunch.launch() finds the use of a disposed tensor", () => {
  using device = open();
  const { launcher, set } = prepareScale(device);
  const data = device.tensor(counting(100), [100]);
  set(data.address, 100, 2);
  data[Symbol.dispose]();
  using _other = device.tensor(counting(100), [100]);
  const error = assertThrows(
    () => launcher.launch(1, 1, 1, device.defaultStream.handle),
    EmulatorError,
  );
  assertEquals(error.kind, "use after free");
});

Deno.test("Graph.launch() throws the fault of a recorded launch", () => {
  using device = open();
  using stream = device.stream();
  const { launcher, set } = prepareScale(device);
  using data = device.tensor(counting(100), [100], { stream });
  using graph = stream.capture(() => {
    set(data.address, 101, 2);
    launcher.launch(1, 1, 1, stream.handle);
  });
  assertThrows(() => graph.launch(), EmulatorError, "out of bounds");
});

Deno.test("Device.open() stops a kernel at its budget", () => {
  using device = Device.open({ device: "emulator", budget: 10_000 });
  const endless = SCALE.replace("ld.param.u64 %data", "again: bra again;\n  ld.param.u64 %data");
  const fn = device.loadModule(encode(endless), "endless.ptx").function("scale");
  const { launch } = fn.prepare({ block: [32, 1, 1], sharedBytes: 0, parameterBytes: 16 });
  const error = assertThrows(() => launch(1, 1, 1, device.defaultStream.handle), EmulatorError);
  assertEquals(error.kind, "instruction budget");
});

Deno.test("Device.open() without checks runs kernels as they are", () => {
  using device = Device.open({ device: "emulator", checks: false });
  const { launcher, set } = prepareScale(device);
  using data = device.tensor(counting(100), [100]);
  set(data.address, 101, 2);
  launcher.launch(1, 1, 1, device.defaultStream.handle);
  assertEquals(data.readSync(), counting(100).map((value) => 2 * value));
});

Deno.test("PreparedLaunch.profile() counts what the kernel does", () => {
  using device = open();
  const { launcher, set } = prepareScale(device);
  using data = device.tensor(counting(256), [256]);
  set(data.address, 200, 2);
  const profile = launcher.profile?.(2, 1, 1, device.defaultStream.handle);
  assert(profile !== undefined);
  assertEquals([profile.kernel, profile.grid, profile.block], ["scale", [2, 1, 1], [128, 1, 1]]);
  // 200 threads are 6 full warps and a quarter; two accesses each.
  assertEquals(profile.global, {
    requests: 14,
    bytes: 1600,
    sectors: 50,
    idealSectors: 50,
  });
  assertEquals(profile.shared, { requests: 0, wavefronts: 0, bankConflicts: 0 });
  assertEquals(
    profile.accesses.map(({ instruction, global: { requests } }) => [instruction, requests]),
    [["ld.global.f32 %value, [%data];", 7], ["st.global.f32 [%data], %value;", 7]],
  );
  const classes = Object.values(profile.instructions).reduce((sum, count) => sum + count, 0);
  assertEquals(classes, profile.warpInstructions);
  assertEquals(profile.divergentBranches, 1);
  const { barriers }: LaunchProfile = profile;
  assertEquals(barriers, 0);
});

Deno.test("Driver.prepareLaunch() refuses blocks and arguments that do not fit the kernel", () => {
  using device = open();
  const fn = device.loadModule(SCALE_IMAGE, "scale.ptx").function("scale");
  const prepare = (block: readonly [number, number, number], parameterBytes: number): unknown =>
    fn.prepare({ block, sharedBytes: 0, parameterBytes });
  // What no GPU takes is refused before the driver.
  for (const block of [[1025, 1, 1], [0, 1, 1], [32, 32, 2]] as const) {
    assertThrows(() => prepare(block, 16), ArgumentError, "block");
  }
  assertThrows(() => prepare([32, 1, 1], 8), CudaError, "8 bytes of arguments");
});

Deno.test("Driver.free() takes memory back in any order, however much there is", () => {
  const driver = openEmulator({});
  driver.makeCurrent(driver.retainContext(0));
  const random = freshRandom();
  const live: bigint[] = [];
  const content = new Uint8Array(4);
  for (let i = 0; i < 60_000; i++) {
    if (live.length > 0 && i >= 30_000) {
      const at = random.below(live.length);
      const last = live.pop();
      const address = live[at] ?? last;
      if (last !== undefined && at < live.length) live[at] = last;
      if (address === undefined) continue;
      driver.copyToHost(content, address, 0n);
      driver.free(address);
    } else live.push(driver.allocate(4));
  }
  assertEquals(live.length, 0);
  driver.close();
});

Deno.test("Device.loadModule() refuses variables that are larger than memory, and keeps nothing of the module", () => {
  const driver = openEmulator({ workers: 1 });
  using device = Device.fromDriver(driver);
  const image = (variable: string, body = ""): Uint8Array =>
    encode(kernelText(body, { head: variable }));
  const { freeBytes } = driver.memoryInfo();
  for (const bytes of [2 ** 32, 2 ** 40, 2 ** 50]) {
    const first = ".global .b8 small[1000000];";
    const text = image(`${first} .global .align 4 .b8 large[${bytes}];`);
    assertThrows(() => device.loadModule(text, "large"), OutOfMemoryError, "Cannot allocate");
  }
  // What was freed last is held back for a while.
  assert(driver.memoryInfo().freeBytes > freeBytes - 1_500_000);
  assertThrows(
    () => device.loadModule(image(".const .b8 c[65537];"), "constant"),
    ImageError,
    "its constant variables have 65537 bytes, and constant memory has 65536",
  );
  const shape = { block: [32, 1, 1], sharedBytes: 0, parameterBytes: 8 } as const;
  for (
    const [body, says] of [
      [".local .b8 l[600000]; .reg .b64 %d; mov.u64 %d, l; ret;", "600000 bytes of local memory"],
      [".local .b8 l[1125899906842624]; ret;", "bytes of local memory"],
      [".shared .b8 s[1125899906842624]; ret;", "cuFuncSetAttribute"],
    ] as const
  ) {
    const module = device.loadModule(image("", body), "kernel");
    assertThrows(() => module.function("k").prepare(shape), CudaError, says);
  }
  const wide = encode(
    kernelText("ret;").replace(".param .u64 p0", ".param .b8 p0[1125899906842624]"),
  );
  const kernel = device.loadModule(wide, "parameters").function("k");
  assertThrows(() => kernel.prepare(shape), CudaError, "bytes of parameters, and there are 32764");
});

Deno.test("PreparedLaunch.launch() refuses grids of more blocks than the budget", () => {
  using device = Device.open({ device: "emulator", workers: 1, budget: 1000 });
  const module = device.loadModule(encode(kernelText("ret;")), "empty");
  const { launch } = module.function("k").prepare({
    block: [32, 1, 1],
    sharedBytes: 0,
    parameterBytes: 8,
  });
  const stream = device.defaultStream.handle;
  launch(1000, 1, 1, stream);
  for (
    const [x, y, z] of [[1001, 1, 1], [2 ** 31 - 1, 65535, 1], [2 ** 31 - 1, 65535, 65535]] as const
  ) {
    const error = assertThrows(() => launch(x, y, z, stream), EmulatorError);
    assertEquals(error.kind, "instruction budget");
    assertStringIncludes(error.detail, "more than the budget of 1000");
  }
});
