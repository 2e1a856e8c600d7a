/** What the model of `tri tune --estimate` counts, beside what each kernel must move. */
import { listConfigurations } from "../../../compiler/driver/configurations.ts";
import { inspect, inspectIr, namesOf, passNames } from "../../../compiler/mod.ts";
import { type Estimate, Estimator } from "../../../cli/tune/estimate.ts";
import { runsOf } from "../../../cli/tune/arguments.ts";
import { compileGroups } from "../../../cli/tune/candidates.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { testsInTurn } from "../../support/sampled.ts";
import { shipped } from "../../support/shipped.ts";

const test = testsInTurn(3);

type Sizes = readonly (readonly [name: string, value: number])[];

/** Estimates of aligned code, if there is any, by configuration; without registers, because nothing is assembled. */
async function estimate(
  kernel: string,
  sizes: Sizes,
  ...overrides: readonly string[]
): Promise<Map<string, Estimate>> {
  const url = new URL(`../../../kernels/${kernel}.tc`, import.meta.url);
  const file = { ...shipped(`${kernel}.tc`), name: `kernels/${kernel}.tc` };
  const groups = await compileGroups(
    { file, path: url.pathname, stem: kernel },
    {
      targets: ["sm_90"],
      include: shipped,
      kernels: [kernel],
      overrides: overrides.map((text) => ({ text, origin: "<test>" })),
      suppress: ["W9001"],
    },
    { compileFile, listConfigurations, inspect, inspectIr, namesOf, passNames },
    [],
    1,
    (config, message) => {
      throw new Error(`${config}: ${message}`);
    },
  );
  const group = must(
    groups.find((each) => each.specialization !== "general") ?? groups[0],
    "code",
  );
  const runs = runsOf(group, [new Map(sizes)]);
  assert(typeof runs !== "string");
  using estimator = new Estimator();
  const { ranking, failures } = estimator.rank(must(runs[0], "run"));
  assertEquals(failures, []);
  return new Map(ranking.map((one) => [one.config, one]));
}

test("An estimate of a product moves each tile of A and B that a block reads, and C", async () => {
  const [M, N, K] = [4096, 2048, 128];
  const found = await estimate(
    "matmul",
    [["M", M], ["N", N], ["K", K]],
    "variant float16: TYPE=half, SUM=float, OUT=half",
    "configs MB in {64, 128}, NB in {128}, KB in {32}; num_warps in {8}",
  );
  assertEquals(found.size, 2);
  for (const [config, { blocks, movedBytes }] of found) {
    const [MB = 0, NB = 0] = (config.match(/\d+/g) ?? []).map(Number);
    assertEquals(blocks, (M / MB) * (N / NB));
    assertEquals(movedBytes, blocks * (2 * K * (MB + NB) + 2 * MB * NB), config);
  }
});

test("An estimate of a transposition or a sum moves every element once, whatever the tile", async () => {
  const transposed = await estimate(
    "transpose",
    [["M", 4096], ["N", 8192]],
    "variant TYPE=float",
    "configs TM in {32, 512}, TN in {32}; num_warps in {4}",
  );
  assertEquals([...transposed.values()].map(({ movedBytes }) => movedBytes), [
    2 * 4 * 4096 * 8192,
    2 * 4 * 4096 * 8192,
  ]);
  const summed = await estimate(
    "vector_add",
    [["N", 1 << 24]],
    "variant TYPE=float",
    "configs BLOCK in {256, 4096}; num_warps in {4}",
  );
  assertEquals([...summed.values()].map(({ movedBytes }) => movedBytes), [3 << 26, 3 << 26]);
});

test("An estimate keeps to the sizes that no timing depends on, such as heads that share keys", async () => {
  const sizes = [["B", 1], ["H", 4], ["KH", 2], ["M", 32], ["N", 32]] as const;
  const moved = async (causal: number): Promise<number> => {
    const found = await estimate(
      "attention",
      [...sizes, ["causal", causal]],
      "variant TYPE=float, D=64",
      "configs BM in {16, 32}, BN in {16}; num_warps in {4}",
    );
    assertEquals([...found.values()].map(({ blocks }) => blocks), [8, 4]);
    return must([...found.values()][0], "an estimate").movedBytes;
  };
  // What is true or false is no size: rows that see all keys load more of them.
  const [all, some] = [await moved(0), await moved(1)];
  assert(all > some, `${all} and ${some}`);
});
