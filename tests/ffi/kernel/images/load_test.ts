/** An image is compared with its wrapper when an entry is first used. */
import type { FunctionInfo } from "../../../../ffi/driver.ts";
import { ImageError } from "../../../../ffi/errors.ts";
import { CallArguments } from "../../../../ffi/kernel/call/call_arguments.ts";
import type { Launcher } from "../../../../ffi/kernel/forms/forms.ts";
import type { KernelFacts } from "../../../../ffi/kernel/facts/facts.ts";
import { LoadedKernel } from "../../../../ffi/kernel/images/load.ts";
import { modelKernel } from "../../../../ffi/kernel/facts/model.ts";
import { productWithANameThatFillsLines as product } from "../../../golden/codegen/product.ts";
import { transpose } from "../../../golden/codegen/transpose.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "../../../support/assert.ts";
import { counting, type FakeGpu, fakeGpu } from "../support.ts";

const PTX =
  ".version 7.0\n.target sm_80\n.visible .entry f(\n.param .u64 f_p,\n.param .u32 f_n\n)\n{ ret; }\n";

function facts(ptx: string): KernelFacts {
  return {
    name: "f",
    params: [
      { kind: "pointer", name: "p", access: "in" },
      { kind: "scalar", name: "n", type: "int32" },
    ],
    contract: { grid: null, tensors: [], ranges: [], requires: [] },
    variants: [{ name: "default", bindings: {}, dtypes: { p: "float32" } }],
    instances: [{
      symbol: "f",
      variant: "default",
      threads: 256,
      sharedBytes: 1000,
      constants: {},
    }],
    images: [{ target: "sm_80", kind: "ptx", base64: btoa(ptx) }],
  };
}

/** Loads the only instance. */
function load(gpu: FakeGpu, ptx: string, info: Partial<FunctionInfo> = {}): Launcher {
  const original = gpu.driver.functionInfo.bind(gpu.driver);
  gpu.driver.functionInfo = (fn) => ({ ...original(fn), ...info });
  const model = modelKernel(facts(ptx));
  const call = new CallArguments(model);
  const instance = model.variants[0]?.general;
  if (instance === undefined) throw new TypeError("no instance");
  return new LoadedKernel(facts(ptx), {}, gpu.device).launcher(instance).take(call, undefined);
}

function gpuWith(...symbols: string[]): FakeGpu {
  return fakeGpu({}, { kernels: Object.fromEntries(symbols.map((symbol) => [symbol, () => {}])) });
}

Deno.test("launcher() accepts an image with the wrapper's parameters", () => {
  using gpu = gpuWith("f");
  load(gpu, PTX);
  load(gpu, PTX, { parameters: [{ offset: 0, bytes: 8 }, { offset: 8, bytes: 4 }] });
});

Deno.test("launcher() refuses an image with other parameters, as the driver or the PTX has them", () => {
  using gpu = gpuWith("f");
  const message =
    "f takes other parameters than its wrapper passes (bytes 8 at 0, 8 at 8 instead of 8 at 0, 4 at 8)";
  assertThrows(() => load(gpu, PTX.replace("u32", "u64")), ImageError, message);
  assertThrows(
    () => load(gpu, PTX, { parameters: [{ offset: 0, bytes: 8 }, { offset: 8, bytes: 8 }] }),
    ImageError,
    message,
  );
  assertThrows(() => load(gpu, PTX, { parameters: [] }), ImageError, "bytes none instead of");
});

Deno.test("launcher() refuses an image without the entry", () => {
  using gpu = gpuWith("g");
  const error = assertThrows(() => load(gpu, PTX), ImageError, "it has no kernel f");
  assertStringIncludes(error.message, "tri build");
});

Deno.test("launcher() refuses an entry that cannot run with the wrapper's block", () => {
  using gpu = gpuWith("f");
  assertThrows(
    () => load(gpu, PTX, { maxThreadsPerBlock: 128 }),
    ImageError,
    "at most 128 threads, not 256",
  );
  assertThrows(
    () => load(gpu, PTX, { maxThreadsPerBlock: 256, staticSharedBytes: 227 * 1024 }),
    ImageError,
    "f needs 233448 bytes of shared memory; the device has 232448",
  );
});

Deno.test("launcher() takes the block that the image's target wants", () => {
  const symbols = ["product_f16", "product_f16_small", "product_bf16"];
  for (const [arch, sm, threads] of [["sm_90", 90, 384], ["sm_86", 86, 128]] as const) {
    using gpu = fakeGpu({ arch, sm }, {
      kernels: Object.fromEntries(symbols.map((symbol) => [symbol, () => {}])),
    });
    const a = gpu.device.zeros("float16", [16, 16]);
    product(a, gpu.device.zeros("float16", [16, 16]), { alpha: 1 });
    assertEquals(gpu.driver.launches[0]?.shape.block, [threads, 1, 1]);
  }
});

Deno.test("transpose() reports a missing entry before it launches", () => {
  using gpu = gpuWith("something_else");
  using x = gpu.device.tensor(counting(6), [2, 3]);
  assertThrows(() => transpose(x), ImageError, "it has no kernel transpose_float32");
  assertEquals(gpu.driver.launches.length, 0);
});

Deno.test("launcher() launches as many blocks for each program as the image demands", () => {
  using gpu = gpuWith("f");
  const { driver } = gpu;
  const grids: number[][] = [];
  const prepare = driver.prepareLaunch.bind(driver);
  driver.prepareLaunch = (...args) => ({
    ...prepare(...args),
    launch: (x, y, z) => grids.push([x, y, z]),
  });
  for (const clusterBlocks of [1, 4]) {
    load(gpu, PTX, { clusterBlocks }).prepared.launch(3, 5, 7, 0n);
  }
  assertEquals(grids, [[3, 5, 7], [12, 5, 7]]);
});
