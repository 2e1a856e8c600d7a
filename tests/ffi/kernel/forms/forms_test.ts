/** Forms of an entry, through a generated wrapper on the emulator: which launches take one, and which maps are encoded. */
import { openEmulator } from "../../../../emulator/driver/mod.ts";
import { must } from "../../../../compiler/support/bug.ts";
import type { EntryForm } from "../../../../compiler/options.ts";
import { ArgumentError, ImageError, LaunchError } from "../../../../ffi/errors.ts";
import { Recording } from "../../../../ffi/graph.ts";
import { blocksOf } from "../../../../ffi/kernel/forms/forms.ts";
import { Queues } from "../../../../ffi/kernel/forms/queues.ts";
import { Device, type Tensor } from "../../../../ffi/mod.ts";
import type { TensorMap } from "../../../../ffi/tensor_map.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "../../../support/assert.ts";
import { ROWS_FORM, rowsProduct } from "../../../support/forms/form_kernel.ts";
import { loadWrapper } from "../../../support/load_wrapper.ts";
import {
  elements,
  type Half,
  halfMatrix,
  isProduct,
  type RowsProductOptions,
  type RowsProductWrapper,
} from "../../../support/kernels/rows_product.ts";

const { rowsProduct: product } = await loadWrapper<RowsProductWrapper>(rowsProduct());
const FORM = ROWS_FORM.symbol;

/** A device, and the maps that were encoded on it. */
interface Counting extends Disposable {
  readonly device: Device;
  readonly encoded: TensorMap[];
}

function countingDevice(arch = "sm_90", encodes = true): Counting {
  const driver = openEmulator({ arch });
  const encoded: TensorMap[] = [];
  const encode = driver.encodeTensorMap.bind(driver);
  driver.encodeTensorMap = (map) => {
    encoded.push(map);
    return encodes ? encode(map) : undefined;
  };
  const device = Device.fromDriver(driver);
  return { device, encoded, [Symbol.dispose]: () => device[Symbol.dispose]() };
}

/** The entry that a call runs; its result must be right. */
async function entryOf(a: Half, b: Half, options: RowsProductOptions = {}): Promise<string> {
  using poisoned = a.device.empty("float16", [a.shape[0] ?? 0, b.shape[1] ?? 0]);
  const { result, profile } = product(a, b, { out: poisoned, ...options, profile: true });
  assertEquals(await isProduct(a, b, result), true);
  return profile.kernel;
}

Deno.test("blocksOf() gives code whose blocks do several programs in turn its numbers", () => {
  const view = new DataView(new ArrayBuffer(16));
  const queues = new Queues();
  const turns = { persistent: "x", numbersAt: [8], atOnce: 132, queues } as const;
  const stream = { recording: undefined };
  assertEquals(blocksOf({ view, turns }, [2048, 1, 1], stream), [128, 1, 1]);
  assertEquals(view.getUint32(8, true), 2048);
  assertEquals(blocksOf({ view }, [300, 2, 1], stream), [300, 2, 1]);
});

Deno.test("blocksOf() gives launches that may overlap different queues", () => {
  const view = new DataView(new ArrayBuffer(16));
  const turns = {
    persistent: "several",
    numbersAt: [8, 12],
    atOnce: 15,
    queues: new Queues(),
  } as const;
  const queueOf = (stream: { readonly recording: Recording | undefined }): number => {
    assertEquals(blocksOf({ view, turns }, [1024, 1, 1], stream), [15, 1, 1]);
    assertEquals(view.getUint32(8, true), 1024);
    return view.getUint32(12, true);
  };
  const [one, other] = [{ recording: undefined }, { recording: undefined }];
  const [first, second] = [new Recording(), new Recording()].map((recording) => ({ recording }));
  const all = [one, other, must(first, "recording"), must(second, "recording")];
  assertEquals(new Set(all.map(queueOf)).size, 4);
  assertEquals(all.map(queueOf), all.map(queueOf));
  // What is recorded on another stream is in the same graph.
  assertEquals(queueOf({ ...must(first, "recording") }), queueOf(must(first, "recording")));
});

Deno.test("a call takes the form that is for it, and `form` forbids or demands one", async () => {
  using counting = countingDevice();
  const { device } = counting;
  for (const [m, n, k] of [[64, 128, 448], [64, 72, 40], [3, 8, 8], [17, 200, 64]] as const) {
    using a = halfMatrix(device, m, k);
    using b = halfMatrix(device, k, n);
    assertEquals(await entryOf(a, b), FORM);
    assertEquals(await entryOf(a, b, { form: "fast" }), FORM);
    assertEquals(await entryOf(a, b, { form: "plain" }), "rows_product_a16");
  }
  using a = halfMatrix(device, 4, 8);
  using b = halfMatrix(device, 8, 8);
  const wrong = { form: "tensor" } as unknown as RowsProductOptions;
  const error = assertThrows(() => product(a, b, wrong), ArgumentError);
  assertEquals(error.argument, "form of rows_product");
});

Deno.test("views take a form where their rows are aligned", async () => {
  using counting = countingDevice();
  const { device } = counting;
  using a = halfMatrix(device, 20, 40, { stride: 48, from: 8 });
  using b = halfMatrix(device, 40, 70, { stride: 88, from: 24 });
  using room = halfMatrix(device, 20, 70, { stride: 72, from: 16 });
  assertEquals(await entryOf(a, b, { out: room }), FORM);
  assertEquals(counting.encoded.map(({ extents }) => extents), [[40, 20], [70, 40], [70, 20]]);
  assertEquals(counting.encoded.map(({ strides }) => strides), [[96], [176], [144]]);
});

Deno.test("a launch that breaks a demand takes the entry, with the same result", async () => {
  using counting = countingDevice();
  const { device } = counting;
  const broken: readonly (readonly [Half, Half, Half | undefined, string])[] = [
    [
      halfMatrix(device, 8, 16, { from: 1 }),
      halfMatrix(device, 16, 8),
      undefined,
      "not a multiple of 16",
    ],
    [
      halfMatrix(device, 8, 16, { stride: 20 }),
      halfMatrix(device, 16, 8),
      undefined,
      "strides[0] is 40",
    ],
    [
      halfMatrix(device, 8, 16),
      halfMatrix(device, 16, 9),
      undefined,
      "tensor map of B: strides[0] is 18",
    ],
    [
      halfMatrix(device, 8, 16),
      halfMatrix(device, 16, 8),
      halfMatrix(device, 8, 8, { stride: 12 }),
      "tensor map of C: strides[0] is 24",
    ],
    [
      halfMatrix(device, 8, 8).narrow(0, 0, 0).reshape([8, 0]),
      halfMatrix(device, 8, 8).narrow(0, 0, 0),
      undefined,
      "K >= 1 does not hold with K = 0",
    ],
  ];
  for (const [a, b, out, says] of broken) {
    const options = out === undefined ? {} : { out };
    assertEquals((await entryOf(a, b, options)).startsWith(FORM), false);
    const error = assertThrows(
      () => product(a, b, { ...options, form: "fast" }),
      LaunchError,
      "Cannot launch a faster form of rows_product",
    );
    assertStringIncludes(error.message, `${FORM}: `);
    assertStringIncludes(error.message, says);
    const count = counting.encoded.length;
    product(a, b, options);
    assertEquals(counting.encoded.length, count);
  }
});

Deno.test("rows that all have one address take the entry", async () => {
  using counting = countingDevice();
  const { device } = counting;
  using A = halfMatrix(device, 1, 16);
  using B = halfMatrix(device, 16, 8);
  using C = device.empty("float16", [4, 8]);
  const args = { A, B, C, M: 4, N: 8, K: 16, lda: 0, ldb: 8, ldc: 8 };
  assertEquals(product.launch(args, { profile: true }).kernel, "rows_product_a16");
  const rows = device.tensor(
    Float16Array.from({ length: 64 }, (_, i) => elements(16)[i % 16] ?? 0),
    [4, 16],
  );
  assertEquals(await isProduct(rows, B, C), true);
  const refused = assertThrows(() => product.launch(args, { form: "fast" }), LaunchError);
  assertStringIncludes(refused.message, "the stride of axis 1 is 0, not more than 0");
});

Deno.test("a device without such forms, and a driver without tensor maps, take the entry", async () => {
  using old = countingDevice("sm_80");
  assertEquals(
    await entryOf(halfMatrix(old.device, 8, 16), halfMatrix(old.device, 16, 8)),
    "rows_product_a16",
  );
  const none = assertThrows(
    () => product(halfMatrix(old.device, 8, 16), halfMatrix(old.device, 16, 8), { form: "fast" }),
    LaunchError,
  );
  assertStringIncludes(none.message, "its code for sm_80 has none");
  using refusing = countingDevice("sm_90", false);
  const [a, b] = [halfMatrix(refusing.device, 8, 16), halfMatrix(refusing.device, 16, 8)];
  for (let i = 0; i < 3; i++) assertEquals(await entryOf(a, b), "rows_product_a16");
  const refused = assertThrows(() => product(a, b, { form: "fast" }), LaunchError);
  assertStringIncludes(refused.message, "the driver does not encode it");
});

Deno.test("a driver that does not say where parameters lie takes the entry", () => {
  const driver = openEmulator({ arch: "sm_90" });
  const info = driver.functionInfo.bind(driver);
  driver.functionInfo = (fn) => ({ ...info(fn), parameters: undefined });
  using device = Device.fromDriver(driver);
  const [a, b] = [halfMatrix(device, 8, 16), halfMatrix(device, 16, 8)];
  assertEquals(product(a, b, { profile: true }).profile.kernel, "rows_product_a16");
  const refused = assertThrows(() => product(a, b, { form: "fast" }), LaunchError);
  assertStringIncludes(refused.message, "before CUDA 12.4");
});

Deno.test("maps go where the driver says that they lie", async () => {
  const driver = openEmulator({ arch: "sm_90" });
  const info = driver.functionInfo.bind(driver);
  const prepare = driver.prepareLaunch.bind(driver);
  // As on sm_90, 16 bytes before their offset in the emulator.
  const moved = 16;
  driver.functionInfo = (fn) => {
    const { parameters, ...rest } = info(fn);
    return {
      ...rest,
      parameters: parameters?.map(({ offset, bytes }) =>
        bytes === 128 ? { offset: offset - moved, bytes } : { offset, bytes }
      ),
    };
  };
  driver.prepareLaunch = (fn, shape, name) => {
    if (name !== FORM) return prepare(fn, shape, name);
    const own = prepare(fn, { ...shape, parameterBytes: shape.parameterBytes + moved }, name);
    const argumentBlock = new Uint8Array(shape.parameterBytes);
    return {
      argumentBlock,
      launch: (x, y, z, stream): void => {
        own.argumentBlock.set(argumentBlock.subarray(0, 48));
        own.argumentBlock.set(argumentBlock.subarray(48), 48 + moved);
        own.launch(x, y, z, stream);
      },
    };
  };
  using device = Device.fromDriver(driver);
  const [a, b] = [halfMatrix(device, 8, 16), halfMatrix(device, 16, 8)];
  assertEquals(await isProduct(a, b, product(a, b, { form: "fast" })), true);
});

Deno.test("maps are encoded once for the same numbers", async () => {
  using counting = countingDevice();
  const { device, encoded } = counting;
  using a = halfMatrix(device, 8, 16);
  using b = halfMatrix(device, 16, 8);
  using c = device.empty("float16", [8, 8]);
  using other = halfMatrix(device, 8, 16);
  for (let i = 0; i < 5; i++) product(a, b, { out: c });
  assertEquals(encoded.length, 3);
  // Only the map of what changes, and none for what was there before.
  product(other, b, { out: c });
  assertEquals(encoded.length, 4);
  for (let i = 0; i < 4; i++) {
    product(i % 2 === 0 ? a : other, b, { out: c });
    assertEquals(await isProduct(i % 2 === 0 ? a : other, b, c), true);
  }
  assertEquals(encoded.length, 4);
  product(a.narrow(0, 0, 7), b, { out: c.narrow(0, 0, 7) });
  assertEquals(encoded.length, 6);
  // A program that takes many tensors in turn keeps their maps.
  const many = Array.from({ length: 40 }, () => halfMatrix(device, 8, 16));
  for (let i = 0; i < 80; i++) product(must(many[i % 40], "a matrix"), b, { out: c });
  assertEquals(encoded.length, 46);
  product(a, b, { out: c });
  assertEquals(encoded.length, 46);
  assertEquals(await isProduct(a, b, c), true);
});

Deno.test("prepared calls have maps of their own and encode nothing when they run", async () => {
  using counting = countingDevice();
  const { device, encoded } = counting;
  using b = halfMatrix(device, 16, 8);
  using a = halfMatrix(device, 8, 16);
  using other = halfMatrix(device, 5, 16, { from: 32 });
  const first = product.prepare(a, b);
  const second = product.prepare(other, b);
  const count = encoded.length;
  assertEquals(count, 5);
  for (let i = 0; i < 3; i++) {
    const [c, d] = [first(), second()];
    assertEquals(await isProduct(a, b, c), true);
    assertEquals(await isProduct(other, b, d), true);
    for (const result of [c, d]) result.write(new Float16Array(result.elements));
  }
  assertEquals(encoded.length, count);
  const plain = product.prepare(a, b, { form: "plain" });
  assertEquals(await isProduct(a, b, plain()), true);
  assertEquals(encoded.length, count);
  const odd = halfMatrix(device, 8, 16, { from: 1 });
  assertThrows(() => product.prepare(odd, b, { form: "fast" }), LaunchError);
  assertEquals(await isProduct(odd, b, product.prepare(odd, b)()), true);
});

Deno.test("graphs keep the maps that were in the argument block when they were captured", async () => {
  using counting = countingDevice();
  const { device, encoded } = counting;
  using stream = device.stream();
  using b = halfMatrix(device, 16, 8);
  using a = halfMatrix(device, 8, 16);
  using other = halfMatrix(device, 8, 16, { from: 16 });
  using c = device.zeros("float16", [8, 8]);
  using d = device.zeros("float16", [8, 8]);
  using graph = stream.capture(() => {
    product(a, b, { out: c, stream });
    product(other, b, { out: d, stream });
  });
  product(halfMatrix(device, 8, 16, { from: 40 }), b);
  const count = encoded.length;
  graph.launch();
  stream.synchronize();
  assertEquals(await isProduct(a, b, c), true);
  assertEquals(await isProduct(other, b, d), true);
  assertEquals(encoded.length, count);
});

Deno.test("the wrapper's contract says what each form is for", () => {
  const { targets } = must(product.contract.instances[0], "an instance");
  const form = targets?.["sm_90a"]?.forms?.[0];
  assertEquals(form?.symbol, FORM);
  assertEquals(form?.when.map(({ text }) => text), ["K >= 1"]);
  assertEquals(form?.maps.map(({ param, extents, strides }) => [param, extents, strides]), [
    ["A", ["K", "M"], [1, "lda"]],
    ["B", ["N", "K"], [1, "ldb"]],
    ["C", ["N", "M"], [1, "ldc"]],
  ]);
  assertEquals(targets?.["sm_80"], undefined);
});

/** The product of a wrapper whose form differs from the code's. */
async function withForm(change: Partial<EntryForm>): Promise<RowsProductWrapper["rowsProduct"]> {
  const { rowsProduct: changed } = await loadWrapper<RowsProductWrapper>(
    rowsProduct({ ...ROWS_FORM, ...change }),
  );
  return changed;
}

Deno.test("a form with other parameters than its wrapper passes is refused", async () => {
  using counting = countingDevice();
  const { device } = counting;
  const [a, b] = [halfMatrix(device, 8, 16), halfMatrix(device, 16, 8)];
  const changed = await withForm({ maps: ROWS_FORM.maps.slice(0, 2) });
  const error = assertThrows(() => changed(a, b), ImageError, "takes other parameters");
  assertStringIncludes(error.message, "128 at 64, 128 at 192");
});

Deno.test("a form is not taken on a device with less shared memory than it needs", async () => {
  using counting = countingDevice();
  const { device } = counting;
  const [a, b] = [halfMatrix(device, 8, 16), halfMatrix(device, 16, 8)];
  const changed = await withForm({ sharedBytes: 300_000 });
  assertEquals(changed(a, b, { profile: true }).profile.kernel, "rows_product_a16");
});

Deno.test("a size that is not exact keeps a launch from a form, not from its entry", async () => {
  using counting = countingDevice();
  const { device } = counting;
  const huge = { op: "*", args: [{ op: "param", name: "K" }, { op: "const", value: 2 ** 50 }] };
  const condition = { op: ">", args: [huge, { op: "const", value: 0 }] } as const;
  const [a, b] = [halfMatrix(device, 8, 16), halfMatrix(device, 16, 8)];
  const changed = await withForm({
    when: [{
      condition: condition as EntryForm["when"][number]["condition"],
      text: "K * 2^50 > 0",
    }],
  });
  assertEquals(changed(a, b, { profile: true }).profile.kernel, "rows_product_a16");
  const refused = assertThrows(() => changed(a, b, { form: "fast" }), LaunchError);
  assertStringIncludes(refused.message, "at most 2^52");
});

Deno.test("each device has its own maps", async () => {
  using one = countingDevice();
  using two = countingDevice();
  for (const { device, encoded } of [one, two, one]) {
    using a: Tensor<"float16"> = halfMatrix(device, 8, 16);
    using b = halfMatrix(device, 16, 8);
    assertEquals(await entryOf(a, b), FORM);
    assertEquals(encoded.length >= 3, true);
  }
});
