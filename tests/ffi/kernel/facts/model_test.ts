/** Variants with contracts, alignments and types of their own. */
import { ArgumentError } from "../../../../ffi/errors.ts";
import type { Access } from "../../../../ffi/kernel/facts/facts.ts";
import { modelKernel } from "../../../../ffi/kernel/facts/model.ts";
import { productWithANameThatFillsLines as product } from "../../../golden/codegen/product.ts";
import { assertEquals, assertThrows } from "../../../support/assert.ts";
import { type FakeGpu, fakeGpu } from "../support.ts";

function gpuWithProduct(): FakeGpu {
  const symbols = ["product_f16", "product_f16_small", "product_bf16"];
  return fakeGpu({}, { kernels: Object.fromEntries(symbols.map((symbol) => [symbol, () => {}])) });
}

Deno.test("product() takes the first variant that fits, or the one named, or the one of the given result", () => {
  using gpu = gpuWithProduct();
  const [a, b] = [gpu.device.zeros("float16", [16, 16]), gpu.device.zeros("float16", [16, 16])];
  assertEquals<string>(product(a, b, { alpha: 1 }).dtype, "float32");
  assertEquals<string>(product(a, b, { alpha: 1, variant: "f16_small" }).dtype, "float16");
  const out = gpu.device.zeros("float16", [16, 16]);
  assertEquals(product(a, b, { alpha: 1, out }), out);
  const c = gpu.device.zeros("bfloat16", [16, 16]);
  product(c, gpu.device.zeros("bfloat16", [16, 16]), { alpha: 1 });
  assertEquals(gpu.driver.launches.map(({ kernel }) => kernel), [
    "product_f16",
    "product_f16_small",
    "product_f16_small",
    "product_bf16",
  ]);
});

Deno.test("product() writes a scalar in the type that the variant gives it", () => {
  using gpu = gpuWithProduct();
  const [a, b] = [gpu.device.zeros("float16", [16, 16]), gpu.device.zeros("float16", [16, 16])];
  product(a, b, { alpha: 1.5 });
  product(a, b, { alpha: 1.5, variant: "f16_small" });
  const [wide, narrow] = gpu.driver.launches.map(({ args }) => args);
  assertEquals([wide?.getFloat32(24, true), wide?.getInt32(28, true), wide?.byteLength], [
    1.5,
    16,
    36,
  ]);
  assertEquals([narrow?.getFloat16(24, true), narrow?.getInt32(28, true), narrow?.byteLength], [
    1.5,
    16,
    36,
  ]);
});

Deno.test("product() demands what only its variant demands", () => {
  using gpu = gpuWithProduct();
  const a = gpu.device.zeros("float16", [8, 8]);
  const error = assertThrows(
    () => product(a, gpu.device.zeros("float16", [8, 8]), { alpha: 1 }),
    ArgumentError,
  );
  assertEquals([error.expected, error.actual], ["K % 16 == 0", "K = 8"]);
  product(gpu.device.zeros("bfloat16", [8, 8]), gpu.device.zeros("bfloat16", [8, 8]), { alpha: 1 });
  const odd = gpu.device.zeros("float16", [17, 16]).reshape([16 * 17]).narrow(0, 1, 256).reshape([
    16,
    16,
  ]);
  const unaligned = assertThrows(
    () => product(odd, gpu.device.zeros("float16", [16, 16]), { alpha: 1 }),
    ArgumentError,
  );
  assertEquals(unaligned.argument, "a of product_with_a_name_that_fills_lines");
  assertEquals(unaligned.expected, "an address that is a multiple of 16 bytes");
});

Deno.test("grid() counts with the constants of the variant", () => {
  assertEquals(product.grid({ M: 256 }), [4, 1, 1]);
  assertEquals(product.grid({ M: 256 }, { variant: "bf16" }), [1, 1, 1]);
});

Deno.test("modelKernel() refuses facts that do not fit together", () => {
  const facts = {
    name: "f",
    params: [{ kind: "pointer", name: "p", access: "in" }],
    contract: { grid: null, tensors: [], ranges: [], requires: [] },
    variants: [{ name: "v", bindings: {}, dtypes: {} }],
    instances: [],
    images: [],
  } as const;
  assertThrows(() => modelKernel<"p">(facts), TypeError, "give p no type");
  const typed = {
    ...facts,
    variants: [{ name: "v", bindings: {}, dtypes: { p: "int8" } }],
  } as const;
  assertThrows(() => modelKernel<"p">(typed), TypeError, "no general instance");
});

Deno.test("modelKernel() demands that written memory is disjoint from what the kernel accesses, and from nothing else", () => {
  const apartFor = (
    accesses: readonly Access[],
    noalias: boolean,
    inPlace: readonly string[] = [],
  ): unknown =>
    modelKernel<string>({
      name: "f",
      params: accesses.map((access, index) => ({
        kind: "pointer",
        name: `p${index}`,
        access,
        noalias,
        ...access === "out" ? { inPlace } : {},
      })),
      contract: { grid: null, tensors: [], ranges: [], requires: [] },
      variants: [{
        name: "v",
        bindings: {},
        dtypes: Object.fromEntries(accesses.map((_, index) => [`p${index}`, "int8"])),
      }],
      instances: [{ variant: "v", symbol: "f", threads: 32, sharedBytes: 0, constants: {} }],
      images: [],
    }).apart;
  const pair = (two: number, isInPlace = false): unknown => ({ one: 0, two, isInPlace });
  assertEquals(apartFor(["in", "out"], false), [pair(1)]);
  assertEquals(apartFor(["in", "out"], false, ["p0"]), [pair(1, true)]);
  assertEquals(apartFor(["out", "in", "in"], false, ["p2"]), [pair(1), pair(2, true)]);
  assertEquals(apartFor(["in", "inout"], false), []);
  assertEquals(apartFor(["in", "inout"], true), [pair(1)]);
  assertEquals(apartFor(["in", "in"], true), []);
  for (const noalias of [true, false]) {
    assertEquals(apartFor(["none", "out"], noalias), []);
    assertEquals(apartFor(["inout", "none", "in"], noalias), noalias ? [pair(2)] : []);
  }
});
