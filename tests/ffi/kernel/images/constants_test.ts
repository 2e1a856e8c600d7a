/** Constant memory of kernels on stand-ins for GPUs: what is set is in every image, whenever that is loaded. */
import { Device } from "../../../../ffi/device.ts";
import { ArgumentError, CudaError } from "../../../../ffi/errors.ts";
import { type ConstantBuffers, defineConstants } from "../../../../ffi/kernel/images/constants.ts";
import { defineKernel } from "../../../../ffi/kernel/define.ts";
import type { KernelFacts } from "../../../../ffi/kernel/facts/facts.ts";
import type { Stream } from "../../../../ffi/stream.ts";
import { assert, assertEquals, assertThrows } from "../../../support/assert.ts";
import { FakeDriver } from "../../../support/driver/fake_driver.ts";

const AD = { name: "AD", bytes: 8 };

interface Kernel {
  (args: Readonly<Record<string, never>>, options?: { readonly stream?: Stream }): void;
  prepare(
    args: Readonly<Record<string, never>>,
    options: { readonly stream: Stream },
  ): () => void;
  readonly constants: ConstantBuffers;
}

/** A kernel without parameters. */
function facts(name = "read", constantBuffers = [AD]): KernelFacts<never> {
  return {
    name,
    params: [],
    contract: { grid: [{ text: "1", value: () => 1 }], tensors: [], ranges: [], requires: [] },
    variants: [{ name: "default", bindings: {}, dtypes: {} }],
    instances: [{ symbol: name, variant: "default", constants: {}, threads: 32, sharedBytes: 0 }],
    images: [{ target: "sm_90", kind: "ptx", base64: btoa(`.visible .entry ${name}() {}`) }],
    constantBuffers,
  };
}

const define = (name?: string, shared?: ConstantBuffers): Kernel =>
  defineKernel<Kernel, never>(facts(name), shared);

/** A GPU whose modules have the variables, and what AD held at each launch. */
function gpu(variables: Readonly<Record<string, number>> = { AD: 8 }): {
  readonly driver: FakeDriver;
  readonly device: Device;
  readonly seen: number[][];
} {
  const seen: number[][] = [];
  const at = (): bigint => {
    const call = driver.calls.findLast(({ name, args }) =>
      name === "findVariable" && args[1] === "AD"
    );
    return driver.findVariable(BigInt(String(call?.args[0])), "AD")?.address ?? 0n;
  };
  const look = (): void => {
    seen.push([...driver.bytes(at(), variables["AD"] ?? 0)]);
  };
  const driver: FakeDriver = new FakeDriver({ variables, kernels: { read: look, again: look } });
  return { driver, device: Device.fromDriver(driver), seen };
}

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

Deno.test("set() fills what is loaded later, and what is loaded already", () => {
  const kernel = define();
  kernel.constants["AD"]?.set(bytes(1, 2, 3, 4, 5, 6, 7, 8));
  const first = gpu();
  const second = gpu();
  using one = first.device;
  using two = second.device;
  kernel({}, { stream: one.defaultStream });
  kernel.constants["AD"]?.set(Uint16Array.of(0x0a09), 2);
  kernel({}, { stream: one.defaultStream });
  kernel({}, { stream: two.defaultStream });
  assertEquals(first.seen, [[1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 9, 10, 5, 6, 7, 8]]);
  assertEquals(second.seen, [[1, 2, 9, 10, 5, 6, 7, 8]]);
});

Deno.test("A kernel whose constants were never set copies nothing", () => {
  const kernel = define();
  const { driver, device } = gpu();
  using _ = device;
  kernel({}, { stream: device.defaultStream });
  assertEquals(driver.names().filter((name) => name === "copyToDevice"), []);
});

Deno.test("set() takes typed arrays, views and buffers, and refuses what does not fit", () => {
  const [buffer] = Object.values(defineConstants([AD]));
  assert(buffer !== undefined);
  buffer.set(new ArrayBuffer(8));
  buffer.set(new DataView(new ArrayBuffer(16), 4, 8));
  buffer.set(Float32Array.of(1, 2));
  buffer.set(new BigInt64Array(1));
  buffer.set(new Uint8Array(0), 8);
  for (
    const [data, offset, actual] of [
      [new Uint8Array(9), 0, "9 bytes at offset 0"],
      [new Int32Array(2), 4, "8 bytes at offset 4"],
    ] as const
  ) {
    const error = assertThrows(() => buffer.set(data, offset), ArgumentError);
    assertEquals([error.argument, error.expected, error.actual], [
      "data of AD.set",
      "at most 8 bytes",
      actual,
    ]);
  }
  for (const offset of [-1, 0.5, NaN, Infinity, 2 ** 53]) {
    const error = assertThrows(() => buffer.set(new Uint8Array(1), offset), ArgumentError);
    assertEquals([error.argument, error.actual], ["offset of AD.set", `${offset}`]);
  }
  const wrong: unknown = [1, 2];
  const error = assertThrows(() => buffer.set(wrong as Uint8Array), ArgumentError);
  assertEquals(error.expected, "a typed array or an ArrayBuffer");
});

Deno.test("Kernels of one file share their constants, each image as much as it has", () => {
  const shared = defineConstants([AD, { name: "BD", bytes: 4 }]);
  const [read, again] = [define("read", shared), define("again", shared)];
  assertEquals(Object.keys(read.constants), ["AD"]);
  assert(read.constants["AD"] === again.constants["AD"]);
  const { device, seen } = gpu({ AD: 6 });
  using _ = device;
  read({}, { stream: device.defaultStream });
  shared["AD"]?.set(bytes(1, 2, 3, 4, 5, 6, 7, 8));
  again({}, { stream: device.defaultStream });
  shared["AD"]?.set(bytes(0, 0), 6);
  shared["AD"]?.set(bytes(9, 9), 5);
  again({}, { stream: device.defaultStream });
  assertEquals(seen, [[0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5], [1, 2, 3, 4, 5, 6], [
    1,
    2,
    3,
    4,
    5,
    9,
  ]]);
});

Deno.test("set() reaches devices that work, and forgets those that are closed", () => {
  const kernel = define();
  const [first, second] = [gpu(), gpu()];
  using two = second.device;
  {
    using one = first.device;
    for (const device of [one, two]) kernel({}, { stream: device.defaultStream });
    first.driver.fail("copyToDevice", "CUDA_ERROR_ILLEGAL_ADDRESS");
    assertThrows(() => kernel.constants["AD"]?.set(bytes(7)), CudaError);
  }
  kernel({}, { stream: two.defaultStream });
  assertEquals(
    second.seen.at(-1),
    [7, 0, 0, 0, 0, 0, 0, 0].map((value, i) => i === 0 ? value : 0xa5),
  );
  kernel.constants["AD"]?.set(bytes(8), 1);
  assertEquals(first.driver.calls.filter(({ name }) => name === "copyToDevice").length, 1);
});

Deno.test("Launches on other streams wait for set(), and set() for them", () => {
  const kernel = define();
  const { driver, device } = gpu();
  using _ = device;
  using other = device.stream();
  kernel({}, { stream: other });
  const orders = (body: () => void): unknown[] => {
    const before = driver.calls.length;
    body();
    return driver.calls.slice(before).flatMap(({ name, args }) =>
      name === "recordEvent" ? [args[1]] : name === "waitForEvent" ? [args[0]] : []
    );
  };
  const main = device.defaultStream.handle;
  assertEquals(orders(() => kernel.constants["AD"]?.set(bytes(1))), [other.handle, main]);
  assertEquals(orders(() => kernel({}, { stream: other })), [main, other.handle]);
  const prepared = kernel.prepare({}, { stream: other });
  assertEquals(orders(prepared), []);
  kernel.constants["AD"]?.set(bytes(2));
  assertEquals(orders(prepared), [main, other.handle]);
});

Deno.test("A recorded launch sees what is set before the graph is launched, and loads while recording", () => {
  const kernel = define();
  kernel.constants["AD"]?.set(bytes(1, 1, 1, 1, 1, 1, 1, 1));
  const { device, seen } = gpu();
  using _ = device;
  using stream = device.stream();
  using graph = stream.capture(() => kernel({}, { stream }));
  graph.launch();
  kernel.constants["AD"]?.set(bytes(2));
  graph.launch();
  assertEquals(seen, [[1, 1, 1, 1, 1, 1, 1, 1], [2, 1, 1, 1, 1, 1, 1, 1]]);
});

Deno.test("contract lists the constants and their bytes", () => {
  const kernel = defineKernel<Kernel & { readonly contract: KernelFacts<never> }, never>(facts());
  assertEquals(kernel.contract.constantBuffers, [AD]);
  const [buffer] = Object.values(kernel.constants);
  assertEquals([buffer?.name, buffer?.bytes], ["AD", 8]);
  const { constantBuffers: _, ...without } = facts();
  assertEquals("constants" in defineKernel<object, never>(without), false);
});
