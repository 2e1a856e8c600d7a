/** Tuning at run time, on a fake GPU whose clock the tests set, with the golden wrapper of a tuned kernel. */
import { ArgumentError, LaunchError, PermissionError, TriError } from "../../../../ffi/errors.ts";
import { parseTuneFile } from "../../../../ffi/kernel/tuning/tune_file.ts";
import { Device } from "../../../../ffi/mod.ts";
import { transpose as tuned } from "../../../golden/codegen/tuned.ts";
import { assert, assertEquals, assertRejects } from "../../../support/assert.ts";
import { type FakeGpu, fakeGpu } from "../support.ts";

const FIRST = "transpose_float16_s1";
const OTHER = "transpose_float16_s1_TM128_TN32_num_warps8";

/** A GPU on which a launch takes so many milliseconds. */
function gpuWithClock(milliseconds: Readonly<Record<string, number>>): FakeGpu {
  let now = 0;
  const take = (name: string): [string, () => void] => [name, () => {
    now += milliseconds[name] ?? 0;
  }];
  return fakeGpu({ name: "NVIDIA H200" }, {
    kernels: Object.fromEntries([FIRST, OTHER, "transpose_float16"].map(take)),
    clock: () => now,
  });
}

function arguments_(device: Device, M = 512, N = 512): Parameters<typeof tuned.tune>[0] {
  const X = device.zeros("float16", [M, N]);
  const Y = device.zeros("float16", [N, M]);
  return { X, Y, M, N, ldx: N, ldy: M };
}

Deno.test("tune() times what is shipped and lets launches of that key take the fastest", async () => {
  using gpu = gpuWithClock({ [FIRST]: 3, [OTHER]: 2 });
  const args = arguments_(gpu.device);
  tuned.launch(args);
  assertEquals(gpu.lastKernel(), FIRST);
  assertEquals(await tuned.tune(args), {
    gpu: "NVIDIA H200",
    key: { M: 512, N: 512 },
    best: "TM=128, TN=32; num_warps=8",
    timings: [
      { config: "TM=128, TN=32; num_warps=8", microseconds: 2000 },
      { config: "TM=64, TN=32", microseconds: 3000 },
    ],
  });
  tuned.launch(args);
  assertEquals(gpu.lastKernel(), OTHER);
});

Deno.test("tune() saves: what the file held stays, and the next build reads it", async () => {
  using gpu = gpuWithClock({ [FIRST]: 2, [OTHER]: 3 });
  const path = Deno.makeTempFileSync({ suffix: ".tune.json" });
  const save = new URL(`file://${path}`);
  try {
    Deno.removeSync(path);
    await tuned.tune(arguments_(gpu.device), { save });
    await tuned.tune(arguments_(gpu.device, 1024, 512), { save });
    const file = parseTuneFile(Deno.readTextFileSync(path));
    assert(typeof file !== "string");
    const found = file.gpus["NVIDIA H200"]?.kernels["transpose"]?.["float16"]?.["s1"] ?? {};
    assertEquals(Object.keys(found), ["M=512, N=512", "M=1024, N=512"]);
    assertEquals(found["M=512, N=512"]?.["TM=64, TN=32"], {
      code: "",
      driver: 13000,
      microseconds: 2000,
      rounds: 7,
    });
    Deno.writeTextFileSync(path, "{}");
    await assertRejects(() => tuned.tune(arguments_(gpu.device), { save }), TriError, "format 1");
  } finally {
    Deno.removeSync(path);
  }
  const other = new URL("https://example.com/a.tune.json");
  await assertRejects(() => tuned.tune(arguments_(gpu.device), { save: other }), ArgumentError);
});

Deno.test({
  name: "tune() says which permission saving lacks",
  permissions: { read: true, write: false },
  fn: async () => {
    using gpu = gpuWithClock({ [FIRST]: 2, [OTHER]: 3 });
    const save = new URL("file:///some/where/f.tune.json");
    const error = await assertRejects(
      () => tuned.tune(arguments_(gpu.device), { save }),
      PermissionError,
    );
    assertEquals(error.hint, "run with --allow-read --allow-write=/some/where");
  },
});

Deno.test("tune() refuses an emulator, an empty launch, and a call that has no choice", async () => {
  using emulator = Device.open({ device: "emulator" });
  const emulated = await assertRejects(() => tuned.tune(arguments_(emulator)), TriError);
  assert(emulated instanceof LaunchError, emulated.message);
  using gpu = gpuWithClock({ [FIRST]: 2, [OTHER]: 3 });
  await assertRejects(() => tuned.tune(arguments_(gpu.device, 0, 512)), LaunchError, "empty");
  // Odd sizes get the general code, of which there is one.
  await assertRejects(() => tuned.tune(arguments_(gpu.device, 511, 513)), LaunchError, "one");
});
