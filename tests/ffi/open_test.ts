/** Which device a program gets, on machines that tests make up. */
import { Device } from "../../ffi/device.ts";
import type { Driver } from "../../ffi/driver.ts";
import type { EmulatorSettings } from "../../emulator/driver/settings.ts";
import {
  ArgumentError,
  CudaError,
  DriverFailedError,
  DriverNotFoundError,
  NoDeviceError,
  PermissionError,
  type TriError,
} from "../../ffi/errors.ts";
import { chooseDriver, type Machine, type OpenOptions } from "../../ffi/open.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { FakeDriver } from "../support/driver/fake_driver.ts";

interface Setup {
  readonly variable?: string;
  readonly libraries?: readonly string[];
  readonly allowed?: readonly string[];
  /** GPUs, or what opening the driver throws. */
  readonly cuda?: number | TriError;
}

interface Opened {
  readonly device: string;
  readonly why: string;
  readonly settings: EmulatorSettings | undefined;
  /** Libraries that were tried. */
  readonly opened: readonly string[];
  /** Lines on stderr. */
  readonly printed: readonly string[];
}

/** What is opened, as "emulator" or "cuda:N". */
function open(setup: Setup, options: OpenOptions = {}): Opened {
  const { cuda = 1 } = setup;
  let settings: EmulatorSettings | undefined;
  const opened: string[] = [];
  const printed: string[] = [];
  const machine: Machine = {
    readVariable: (name) => name === "TRI_DEVICE" ? setup.variable : undefined,
    libraries: setup.libraries ?? ["libcuda.so.1", "/lib/libcuda.so.1"],
    allowed: (libraries) => ({ paths: setup.allowed ?? libraries, lacks: "it may not" }),
    openCuda: (libraries): Driver => {
      opened.push(...libraries);
      if (typeof cuda !== "number") throw cuda;
      return new FakeDriver({ devices: Array.from({ length: cuda }, () => ({})) });
    },
    openEmulator: (given): Driver => {
      settings = given;
      return new FakeDriver({ devices: [{ kind: "emulator", name: "the emulator" }] });
    },
    print: (line) => printed.push(line),
  };
  const { driver, ordinal, why } = chooseDriver(options, machine);
  const isEmulator = driver.deviceInfo(0).kind === "emulator";
  return { device: isEmulator ? "emulator" : `cuda:${ordinal}`, why, settings, opened, printed };
}

const NOT_FOUND = new DriverNotFoundError(["libcuda.so.1", "libcuda.so"]);
const MISMATCH = new CudaError({
  name: "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
  code: 803,
  description: "system has unsupported display driver / cuda driver combination",
  call: "cuInit",
});

Deno.test("chooseDriver() takes the first GPU, and says how many there are", () => {
  assertEquals(open({}).device, "cuda:0");
  assertEquals(open({}).why, "there is a GPU");
  assertEquals(open({ cuda: 4 }).why, "it is the first of 4 GPUs");
});

Deno.test("chooseDriver() takes the emulator where there is no GPU, and says why there is none", () => {
  const reasons: readonly (readonly [Setup, string])[] = [
    [{ cuda: NOT_FOUND }, "there is no NVIDIA driver (libcuda.so.1)"],
    [{ libraries: [] }, "NVIDIA has no driver for this system"],
    [{ cuda: new NoDeviceError("none") }, "the NVIDIA driver sees no GPU"],
    [{ cuda: 0 }, "the NVIDIA driver sees no GPU"],
    [
      { cuda: NOT_FOUND, allowed: ["/lib/libcuda.so.1"] },
      "the NVIDIA driver is not where the program may load it from (/lib/libcuda.so.1)",
    ],
    [{ allowed: [] }, "it may not"],
  ];
  for (const [setup, why] of reasons) {
    const opened = open(setup, { arch: "sm_75" });
    assertEquals([opened.device, opened.why], ["emulator", why]);
    assertEquals(opened.settings, { arch: "sm_75" });
  }
});

Deno.test("chooseDriver() says on stderr that it takes the emulator, unless that is asked for", () => {
  const line = "tri: using the emulator, because there is no NVIDIA driver (libcuda.so.1). " +
    "TRI_DEVICE=gpu demands a GPU, TRI_DEVICE=emulator or { notice: false } hides this line.";
  assertEquals(open({ cuda: NOT_FOUND }).printed, [line]);
  assertEquals(open({ cuda: NOT_FOUND }, { notice: false }).printed, []);
  assertEquals(open({ cuda: NOT_FOUND, variable: "emulator" }).printed, []);
  assertEquals(open({ cuda: NOT_FOUND }, { device: "emulator" }).printed, []);
  assertEquals(open({}).printed, []);
  assertThrows(
    () => open({}, { notice: "no" } as unknown as OpenOptions),
    ArgumentError,
    "Argument notice: expected true or false",
  );
  assertEquals(open({}, { device: "gpu", notice: false }).device, "cuda:0");
});

Deno.test("chooseDriver() tries what is allowed, and all where a GPU was asked for", () => {
  const allowed = ["/lib/libcuda.so.1"];
  assertEquals(open({ allowed }).opened, allowed);
  assertEquals(open({ allowed }, { device: 0 }).opened, ["libcuda.so.1", "/lib/libcuda.so.1"]);
});

Deno.test("chooseDriver() does not replace a driver that is there and fails", () => {
  const error = assertThrows(
    () => open({ cuda: MISMATCH }),
    DriverFailedError,
    "The CUDA driver is installed but does not work: cuInit failed with CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
  );
  assertEquals(error.cause, MISMATCH);
  assertEquals(
    error.hint,
    `${MISMATCH.hint}; or run kernels on the emulator: TRI_DEVICE=emulator or Device.open({ device: "emulator" })`,
  );
  const broken = new DriverFailedError("libcuda.so.1 does not load");
  assertEquals(assertThrows(() => open({ cuda: broken }), DriverFailedError), broken);
});

Deno.test("chooseDriver() does what TRI_DEVICE says", () => {
  assertEquals(open({ variable: "emulator" }), {
    device: "emulator",
    why: "TRI_DEVICE is emulator",
    settings: {},
    opened: [],
    printed: [],
  });
  assertEquals(open({ variable: "cuda", cuda: 2 }).device, "cuda:0");
  assertEquals(open({ variable: "gpu", cuda: 2 }).device, "cuda:0");
  assertEquals(open({ variable: "cuda:1", cuda: 2 }).device, "cuda:1");
  assertEquals(open({ variable: "cuda:1", cuda: 2 }).why, "TRI_DEVICE is cuda:1");
});

Deno.test("chooseDriver() does what the option says, whatever TRI_DEVICE is", () => {
  assertEquals(open({ variable: "cuda" }, { device: "emulator", checks: false }), {
    device: "emulator",
    why: "the program asks for it",
    settings: { checks: false },
    opened: [],
    printed: [],
  });
  assertEquals(open({ variable: "emulator" }, { device: 1 }).device, "cuda:1");
  assertEquals(open({ variable: "no such" }, { device: "cuda:3" }).device, "cuda:3");
});

Deno.test("chooseDriver() never takes the emulator where a GPU was asked for", () => {
  const refused = new PermissionError("no FFI permission");
  for (const cuda of [NOT_FOUND, MISMATCH, refused]) {
    for (const device of ["gpu", "cuda", "cuda:1", 0] as const) {
      assertEquals(assertThrows(() => open({ cuda }, { device })), cuda);
    }
    assertEquals(assertThrows(() => open({ cuda, variable: "cuda" })), cuda);
    assertEquals(assertThrows(() => open({ cuda, variable: "gpu" })), cuda);
  }
});

Deno.test("chooseDriver() lists the devices where it is given another word", () => {
  assertThrows(
    () => open({ variable: "tpu" }),
    ArgumentError,
    'Argument TRI_DEVICE: expected "emulator", "gpu" (any), "cuda" (the first GPU), "cuda:1" (by number), got "tpu"',
  );
  const wrong: unknown[] = ["cpu", "cuda:", "cuda:x", "CUDA", "", null, true, {}];
  for (const device of wrong) {
    const error = assertThrows(
      () => open({}, { device } as OpenOptions),
      ArgumentError,
      "Argument device: expected ",
    );
    assert(error.message.includes("or a GPU's number"));
  }
});

Deno.test("chooseDriver() refuses options of the emulator beside a GPU", () => {
  assertThrows(
    () => open({}, { device: "cuda", checks: false }),
    ArgumentError,
    'Argument checks: expected nothing beside a GPU; it is an option of { device: "emulator" }, got false',
  );
  assertEquals(open({}, { device: "cuda", arch: undefined }).device, "cuda:0");
  // They stand by in case that there is no GPU.
  assertEquals(open({}, { arch: "sm_75" }).device, "cuda:0");
});

Deno.test("Device.open() refuses options that there are not, and what is no object", () => {
  const open = (options: unknown): () => unknown => () =>
    Reflect.apply(Device.open, Device, [options]);
  for (
    const [options, argument] of [
      [{ devise: "emulator" }, "options of Device.open"],
      ["emulator", "options of Device.open"],
      [null, "options of Device.open"],
      [{ device: Symbol("s") }, "device"],
      [{ device: null }, "device"],
      [{ device: ["emulator"] }, "device"],
      [{ device: "emulator", print: 5 }, "print"],
      [{ device: "emulator", warn: 5 }, "warn"],
      [{ device: "emulator", arch: ["sm_90"] }, "arch"],
      [{ device: "emulator", arch: 90n }, "arch"],
      [{ device: "emulator", workers: Symbol("s") }, "workers"],
      [{ device: "emulator", checks: Symbol("s") }, "checks"],
    ] as const
  ) assertEquals(assertThrows(open(options), ArgumentError).argument, argument);
  assertThrows(open({ devise: "emulator" }), ArgumentError, "did you mean `device`?");
});

Deno.test("Device.open() takes nothing from Object.prototype", () => {
  Object.assign(Object.prototype, { arch: "sm_1", print: 5 });
  try {
    using device = Device.open({ device: "emulator" });
    assertEquals(device.arch, "sm_90");
  } finally {
    for (const name of ["arch", "print"]) Reflect.deleteProperty(Object.prototype, name);
  }
});
