/** checkKernel(): right kernels pass, wrong ones are found and made small, and a seed repeats everything. */
import { copy } from "../../generated/copy.ts";
import { vectorAdd } from "../../generated/vector_add.ts";
import { atomicSum } from "../../generated/reduce_sum.ts";
import { Device, type Tensor } from "../../ffi/mod.ts";
import { checkKernel, KernelMismatch } from "../../testing/mod.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "../support/assert.ts";
import { nextSeed } from "../support/seed.ts";

const VECTORS = {
  sizes: { N: [0, 3000] },
  inputs: {
    x: { dtype: "float32", shape: ["N"] },
    y: { dtype: "float32", shape: ["N"], values: ["special", "uniform"] },
  },
} as const;

function open(): Device {
  return Device.open({ device: "emulator" });
}

Deno.test("checkKernel() accepts kernels that are right, for all types and layouts", async () => {
  using device = open();
  await checkKernel({
    ...VECTORS,
    device,
    seed: nextSeed(),
    cases: 20,
    run: ({ x, y }) => vectorAdd(x, y),
    reference: ({ x, y }) => x.map((value, i) => Math.fround(value + must(y[i], "an element"))),
  });
  await checkKernel({
    sizes: { M: [0, 70], N: [0, 70] },
    inputs: {
      x: { dtype: "int64", shape: ["M", "N"], values: ["special"] },
      h: { dtype: "float16", shape: [3, "N"], values: ["special"] },
    },
    device,
    seed: nextSeed(),
    cases: 10,
    run: ({ x, h }) => ({ x: copy(x), h: copy(h) }),
    reference: ({ x, h }) => ({ x, h }),
  });
});

/** What a wrong kernel is reported as. */
async function mismatch(
  run: (x: Tensor<"float32", 1>, y: Tensor<"float32", 1>) => Tensor,
  seed: number,
): Promise<KernelMismatch> {
  using device = open();
  const check = checkKernel({
    ...VECTORS,
    device,
    seed,
    run: ({ x, y }) => run(x, y),
    reference: ({ x, y }) => x.map((value, i) => Math.fround(value + must(y[i], "an element"))),
  });
  return await assertRejects(() => check, KernelMismatch);
}

Deno.test("checkKernel() makes a failing case as small as it can", async () => {
  const wrong = (x: Tensor<"float32", 1>, y: Tensor<"float32", 1>): Tensor => {
    const sum = vectorAdd(x, y);
    if (sum.elements >= 17) sum.narrow(0, 16, 1).fill(1000);
    return sum;
  };
  const seed = nextSeed();
  const error = await mismatch(wrong, seed);
  assertEquals([error.sizes, error.seed], [{ N: 17 }, seed]);
  assertStringIncludes(error.message, "element [16] is 1000 instead of ");
  assertStringIncludes(error.message, "\n  x: float32[17], contiguous, integers\n");
  assertStringIncludes(error.message, `TRI_SEED=${seed} repeats it`);
  assertEquals((await mismatch(wrong, seed)).message, error.message);
});

Deno.test("checkKernel() reports results of another size, and errors of the kernel", async () => {
  const short = await mismatch((x, y) => {
    const sum = vectorAdd(x, y);
    return sum.elements === 0 ? sum : sum.narrow(0, 1, sum.elements - 1);
  }, nextSeed());
  assertEquals(short.sizes, { N: 1 });
  assertStringIncludes(short.message, "0 elements, 1 in the reference");
  const thrown = await mismatch((x, y) => {
    if (x.elements > 4) throw new RangeError("too many");
    return vectorAdd(x, y);
  }, nextSeed());
  assertEquals(thrown.sizes, { N: 5 });
  assertStringIncludes(thrown.message, "it throws RangeError: too many");
});

Deno.test("checkKernel() compares within a tolerance, infinities and NaN exactly", async () => {
  using device = open();
  const near = (absolute: number): Promise<void> =>
    checkKernel({
      sizes: { N: [1, 500] },
      inputs: { x: { dtype: "float32", shape: ["N"] }, y: { dtype: "float32", shape: [1] } },
      device,
      seed: nextSeed(),
      cases: 10,
      run: ({ x, y }) => {
        y.fill(0);
        atomicSum(x, y);
        return y;
      },
      reference: ({ x }) => [x.reduce((sum, value) => sum + value, 0.5)],
      tolerance: { absolute },
    });
  await near(0.51);
  await assertRejects(() => near(0.49), KernelMismatch);
});

Deno.test("checkKernel() says which tolerance is missing where a float differs by a rounding, and only there", async () => {
  using device = open();
  const check = (factor: number): Promise<void> =>
    checkKernel({
      sizes: { N: [1, 9] },
      inputs: { x: { dtype: "float32", shape: ["N"], values: ["uniform"] } },
      device,
      seed: nextSeed(),
      run: ({ x }) => vectorAdd(x, x),
      reference: ({ x }) => x.map((value) => 2 * value * factor),
    });
  const near = await assertRejects(() => check(1 + 2 ** -24), KernelMismatch);
  assertStringIncludes(near.message, "tolerance: { relative: 2 ** -23 } allows it");
  const far = await assertRejects(() => check(1 + 2 ** -20), KernelMismatch);
  assert(!far.message.includes("tolerance"), far.message);
});

Deno.test("checkKernel() refuses a seed that is none", async () => {
  const check = { ...VECTORS, run: vectorless, reference: () => [], seed: 0.5 };
  const error = await assertRejects(() => checkKernel(check), Error);
  assert(error.message.includes("seed"), error.message);
});

function vectorless({ x }: { readonly x: Tensor }): Tensor {
  return x;
}
