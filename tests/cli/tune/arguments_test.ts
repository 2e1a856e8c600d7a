import { listConfigurations } from "../../../compiler/driver/configurations.ts";
import { inspect, inspectIr, namesOf, passNames } from "../../../compiler/mod.ts";
import { compileGroups, type Group } from "../../../cli/tune/candidates.ts";
import { makeArguments, runsOf } from "../../../cli/tune/arguments.ts";
import { Failure } from "../../../cli/failure.ts";
import { readTuneFile } from "../../../cli/tune/file.ts";
import { costOf, runsOfShard } from "../../../cli/tune/shard.ts";
import { Device, Tensor } from "../../../ffi/mod.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { shipped } from "../../support/shipped.ts";

async function groupsOf(kernel: string, ...overrides: readonly string[]): Promise<Group[]> {
  const url = new URL(`../../../kernels/${kernel}.tc`, import.meta.url);
  const file = { ...shipped(`${kernel}.tc`), name: `kernels/${kernel}.tc` };
  return await compileGroups(
    { file, path: url.pathname, stem: kernel },
    {
      targets: ["sm_80"],
      include: shipped,
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
}

/** The key's values, run by run. */
function keysOf(group: Group, sizes: readonly (readonly [string, number])[][] = []): unknown {
  const runs = runsOf(group, sizes.map((values) => new Map(values)));
  return typeof runs === "string"
    ? runs
    : runs.map(({ arguments: { scalars } }) => group.key.map((name) => scalars.get(name)));
}

Deno.test("runsOf() chooses sizes that a call takes the code for: even ones for the specialised, odd for the general", async () => {
  const groups = await groupsOf(
    "transpose",
    "variant TYPE=float",
    "configs TM in {32, 64}, TN in {64}",
  );
  assertEquals(groups.map((group) => [group.specialization, group.key, keysOf(group)]), [
    ["general", ["M", "N"], [[1023, 1023], [4095, 4095]]],
    ["a16", ["M", "N"], [[1024, 1024], [4096, 4096]]],
  ]);
  const sizes = [[["M", 100], ["N", 64]], [["M", 7], ["N", 9]]] as const;
  assertEquals(groups.map((group) => keysOf(group, sizes.map((size) => [...size]))), [
    [[7, 9]],
    [[100, 64]],
  ]);
});

Deno.test("compileGroups() gives an entry the same hash, whatever is compiled with it", async () => {
  const codesOf = async (variants: string): Promise<[string, string[]][]> => {
    const groups = await groupsOf("transpose", variants, "configs TM in {32, 64}, TN in {64}");
    return groups.map(({ variant, specialization, candidates }) => [
      `${variant} ${specialization}`,
      candidates.map(({ code }) => code),
    ]);
  };
  const together = new Map(await codesOf("variants TYPE in {float, int8}"));
  assertEquals(together.size, 4);
  for (const variants of ["variant TYPE=float", "variant TYPE=int8"]) {
    for (const [entry, codes] of await codesOf(variants)) {
      assertEquals(codes, together.get(entry), entry);
    }
  }
});

Deno.test("makeArguments() fills what is read with numbers from 0.5 to 1 of either sign, and integers with zeros", async () => {
  using device = Device.open({ device: "emulator" });
  for (const [type, isFloat] of [["half", true], ["double", true], ["int", false]] as const) {
    const [group] = await groupsOf(
      "transpose",
      `variant TYPE=${type}`,
      "configs TM in {32, 64}, TN in {64}",
    );
    assert(group !== undefined);
    const [run] = runsOf(group, [new Map([["M", 33], ["N", 65]])]);
    assert(typeof run === "object");
    using made = new DisposableStack();
    const { X, M, ldx } = makeArguments(run.arguments, device, made);
    assertEquals([M, ldx], [33, 65]);
    assert(X instanceof Tensor);
    const values = [...await X.read()].map(Number);
    assertEquals(values.length, 33 * 65);
    const isRight = (value: number): boolean =>
      isFloat ? Math.abs(value) >= 0.5 && Math.abs(value) <= 1 : value === 0;
    assert(values.every(isRight));
    if (isFloat) assert(new Set(values).size > 500 && values.some((value) => value < 0));
  }
});

Deno.test("runsOf() lays matrices by columns for the code that demands it", async () => {
  const groups = await groupsOf(
    "matmul",
    "variants TYPE in {half}",
    // The last condition holds for rows that are aligned too, and has a configuration before the others.
    "configs MB in {16}, NB in {64}, KB in {32} if __TRI_SPECIALIZED__ == 5",
    "configs MB in {32, 64}, NB in {64}, KB in {32}",
  );
  const found = groups.map((group) => runsOf(group, []));
  const runs = found.flatMap((found) => typeof found === "object" ? found.slice(0, 1) : []);
  assertEquals(found.filter((found) => typeof found === "string"), [
    // The general code is for matrices whose columns are apart.
    "no sizes were found for which a call selects this code",
  ]);
  const strides = ["stride_a_0", "stride_a_1", "stride_b_0", "stride_b_1"];
  assertEquals(
    runs.map(({ group, arguments: { scalars } }) => [
      group.specialization,
      ...strides.map((name) => scalars.get(name)),
    ]),
    [
      ["s1", 1024, 1, 1024, 1],
      ["s2", 1024, 1, 1, 1024],
      ["s3", 1, 1024, 1024, 1],
      ["s4", 1, 1024, 1, 1024],
      ["s5", 1023, 1, 1023, 1],
    ],
  );
});

Deno.test("runsOf() refuses sizes without elements, of which no estimate is a number", async () => {
  const [group] = await groupsOf(
    "transpose",
    "variant TYPE=float",
    "configs TM in {32, 64}, TN in {64}",
  );
  assert(group !== undefined);
  for (const M of [0, -1]) {
    assertEquals(
      keysOf(group, [[["M", M], ["N", 64]]]),
      `X of these sizes, [${M}, 64], has no elements`,
    );
  }
});

Deno.test("readTuneFile() takes no folder for a file that is missing", () => {
  const folder = Deno.makeTempDirSync();
  try {
    assertThrows(() => readTuneFile(folder), Failure, `${folder} is a folder`);
    assertEquals(Object.keys(readTuneFile(`${folder}/none.tune.json`).gpus), []);
  } finally {
    Deno.removeSync(folder);
  }
});

Deno.test("Parts of a split share no run, leave none out, and cost about the same", async () => {
  const groups = await groupsOf(
    "transpose",
    "variant TYPE=float",
    "configs TM in {32, 64}, TN in {64}",
  );
  const runs = groups.flatMap((group) => {
    const sizes = [100, 101, 5000, 5001, 9999, 10_000].map((n) => new Map([["M", n], ["N", n]]));
    const found = runsOf(group, sizes);
    return typeof found === "string" ? [] : found;
  });
  assertEquals(runs.length, 6);
  const count = 3;
  const parts = [1, 2, 3].map((index) => runsOfShard(runs, { index, count, from: "test" }));
  assertEquals(new Set(parts.flat()), new Set(runs));
  assertEquals(parts.flat().length, runs.length);
  const costs = parts.map((part) => part.reduce((sum, run) => sum + costOf(run), 0));
  const most = Math.max(...runs.map(costOf));
  assert(Math.max(...costs) - Math.min(...costs) <= most, `${costs}`);
});
