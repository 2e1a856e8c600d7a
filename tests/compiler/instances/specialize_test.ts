/** Instances for ranges of an argument: `specialize(auto && e) for NAME in {…}`. */
import type { InstanceInfo } from "../../../compiler/contract/types.ts";
import type { TargetName } from "../../../compiler/targets.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";

const rows = (pragmas: string): { name: string; text: string } => ({
  name: "normalise.tc",
  text: `${pragmas}
__global__ void normalise(float *X, float *Y, int N, int ldx, int ldy) {
  int r[COLS] = 0 ... COLS;
  float *px[COLS] = X + get_program_id(0) * ldx + r;
  float *py[COLS] = Y + get_program_id(0) * ldy + r;
  float sums[COLS] = 0;
  for (int k = 0; k < N; k += COLS) sums += *?(r < N - k) (px + k);
  float sum = sums[+];
  for (int k = 0; k < N; k += COLS) *?(r < N - k) (py + k) = *?(r < N - k) (px + k) / sum;
}`,
});

interface Found {
  readonly codes: readonly string[];
  readonly instances: readonly InstanceInfo[];
  /** PTX, for each target. */
  readonly texts: readonly string[];
}

function instancesOf(pragmas: string, targets: readonly TargetName[] = ["sm_80"]): Found {
  const { kernels, diagnostics } = compileFile(rows(pragmas), { targets });
  return {
    codes: diagnostics.map(({ code }) => code),
    instances: kernels.flatMap(({ instances }) => instances),
    texts: kernels.flatMap(({ modules }) => modules.map(({ ptx }) => ptx)),
  };
}

Deno.test("specialize(…) for NAME in {…} gives each range its value and what expressions of options make of it", () => {
  const { codes, instances } = instancesOf(`
#pragma tri specialize(auto && 1 <= N && N <= COLS) for COLS in {256, 1024}
#pragma tri specialize(1 <= N && N <= COLS) for COLS in {128}
#pragma tri num_warps=max(2, COLS / 128)`);
  assertEquals(codes, []);
  const aligned = ["X % 16 == 0", "Y % 16 == 0", "N % 4 == 0", "ldx % 4 == 0", "ldy % 4 == 0"];
  assertEquals(
    instances.map(({ symbol, config, specialization }) => [
      symbol,
      config.bindings["COLS"],
      config.numWarps,
      specialization.map(({ text }) => text),
    ]),
    [
      ["normalise", "128", 2, []],
      ["normalise_s1", "256", 2, ["1 <= N && N <= COLS", ...aligned]],
      ["normalise_s2", "1024", 8, ["1 <= N && N <= COLS", ...aligned]],
      ["normalise_s3", "128", 2, ["1 <= N && N <= COLS"]],
    ],
  );
});

Deno.test("an instance for rows of one tile has no loop and loads once; the general one has loops", () => {
  const { texts: [ptx = ""] } = instancesOf(
    `#pragma tri specialize(auto && 1 <= N && N <= COLS) for COLS in {512}`,
  );
  const [, general = "", special = ""] = ptx.split(".entry ");
  assertMatch(general, /\bbra\b/);
  assertEquals(special.match(/\bld\.global/g)?.length, 1);
  assertEquals(special.match(/\bbra/g), null);
});

Deno.test("a condition that holds for no arguments gives no instance", () => {
  const { instances } = instancesOf(
    `#pragma tri specialize(N <= COLS && COLS > 100) for COLS in {64, 128}`,
  );
  assertEquals(instances.map(({ symbol }) => symbol), ["normalise", "normalise_s2"]);
});

Deno.test("a specialisation of several blocks is left out where there are no clusters", () => {
  const { codes, instances } = instancesOf(
    `
#pragma tri specialize(N <= COLS) for COLS in {512, 256}
#pragma tri num_ctas=COLS / 256`,
    ["sm_80", "sm_90"],
  );
  assertEquals(codes, []);
  assertEquals(
    instances.map(({ symbol, availableOn }) => [symbol, availableOn]),
    [["normalise", undefined], ["normalise_s1", ["sm_90"]], ["normalise_s2", undefined]],
  );
});

Deno.test("a configuration that names the parameter of specialize() is E9010", () => {
  const codes = (pragmas: string): readonly string[] => instancesOf(pragmas).codes;
  assertEquals(
    codes(`#pragma tri config COLS=32
#pragma tri specialize(N <= COLS) for COLS in {64}`),
    ["E9010"],
  );
});

Deno.test("an option whose expression gives no value of it is E9014, of unknown names E9013", () => {
  const codes = (option: string): readonly string[] =>
    instancesOf(`#pragma tri specialize(N <= COLS) for COLS in {64}
#pragma tri ${option}`).codes;
  assertEquals(new Set(codes("num_warps=COLS / 20")), new Set(["E9014"]));
  assertEquals(new Set(codes("num_warps=ROWS / 20")), new Set(["E9013"]));
});
