/** Instances for ranges of an argument: `specialize(auto && e) for NAME in {…}`. */
import type { InstanceInfo } from "../../../compiler/contract/types.ts";
import { must } from "../../../compiler/support/bug.ts";
import type { TargetName } from "../../../compiler/targets.ts";
import { Device, type Profiled, type Tensor } from "../../../ffi/mod.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { loadWrapper } from "../../support/load_wrapper.ts";
import { freshRandom } from "../../support/random.ts";

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

/** Whether a branch goes back. */
const hasLoop = (ptx: string): boolean =>
  [...ptx.matchAll(/\bbra\S* (\w+);/g)].some(({ index, 1: label }) => {
    const at = ptx.indexOf(`\n${label}:`);
    return at >= 0 && at < index;
  });

Deno.test("an instance for rows of one tile has no loop and loads once; the general one has loops", () => {
  const { texts: [ptx = ""] } = instancesOf(
    `#pragma tri specialize(auto && 1 <= N && N <= COLS) for COLS in {512}`,
  );
  const [, general = "", special = ""] = ptx.split(".entry ");
  assertEquals(special.match(/\bld\.global/g)?.length, 1);
  // The quotients have a branch, to a label after it.
  assert(hasLoop(general));
  assert(!hasLoop(special));
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

Deno.test("__TRI_SPECIALIZED__ in the number of a configuration tells the general instance from the others", () => {
  const { codes, instances } = instancesOf(`
#pragma tri specialize(auto) for COLS in {256}
#pragma tri config; num_warps=!__TRI_SPECIALIZED__ ? 4 : COLS / 128`);
  assertEquals(codes, []);
  assertEquals(instances.map(({ config: { numWarps } }) => numWarps), [4, 2]);
});

Deno.test("numbers of a specialisation are in place of those of its configuration", () => {
  const { codes, instances, texts: [ptx = ""] } = instancesOf(`
#pragma tri config; num_warps=8, max_registers=128
#pragma tri specialize(auto && N <= COLS) for COLS in {256, 1024}; num_warps=COLS / 256
#pragma tri specialize(auto); num_ctas=1, max_registers=64`);
  assertEquals(codes, []);
  const registers = [...ptx.matchAll(/\.entry (\w+)[^{]*\.maxnreg (\d+)/g)];
  assertEquals(
    instances.map(({ symbol, config: { numWarps } }) => [
      symbol,
      numWarps,
      registers.find(([, name]) => name === symbol)?.[2],
    ]),
    [
      ["normalise", 8, "128"],
      ["normalise_s1", 1, "128"],
      ["normalise_s2", 4, "128"],
      ["normalise_a16", 8, "64"],
    ],
  );
});

Deno.test("a specialisation has no options that change results", () => {
  const { codes } = instancesOf(`
#pragma tri specialize(auto) for COLS in {64}
#pragma tri specialize(N == 1); ftz(on)`);
  assertEquals(codes, ["E9005"]);
});

Deno.test("an option whose expression gives no value of it is E9014, of unknown names E9013", () => {
  const codes = (option: string): readonly string[] =>
    instancesOf(`#pragma tri specialize(N <= COLS) for COLS in {64}
#pragma tri ${option}`).codes;
  assertEquals(new Set(codes("num_warps=COLS / 20")), new Set(["E9014"]));
  assertEquals(new Set(codes("num_warps=ROWS / 20")), new Set(["E9013"]));
});

interface Wrapper {
  readonly normalise: (
    x: Matrix,
    options: { readonly out: Matrix; readonly profile: true },
  ) => Profiled<Matrix>;
}
type Matrix = Tensor<"float32", 2>;

/** The specialisations of the text below, in order; rows are aligned whose length is a multiple of 4. */
const INSTANCES = [
  { suffix: "_s1", columns: 16, isAligned: true, isCluster: false },
  { suffix: "_s2", columns: 64, isAligned: true, isCluster: false },
  { suffix: "_s3", columns: 256, isAligned: true, isCluster: true },
  { suffix: "_s4", columns: 32, isAligned: false, isCluster: false },
];

function instanceFor(n: number, hasClusters: boolean): string {
  const found = INSTANCES.find(({ columns, isAligned, isCluster }) =>
    n <= columns && (!isAligned || n % 4 === 0) && (!isCluster || hasClusters)
  );
  return `normalise${found?.suffix ?? ""}`;
}

Deno.test("instances for ranges give what the general one gives, on targets with and without clusters", async () => {
  const source = rows(`
#pragma tri specialize(auto && 1 <= N && N <= COLS) for COLS in {16, 64, 256}
#pragma tri specialize(1 <= N && N <= COLS) for COLS in {32}
#pragma tri num_warps=1
#pragma tri num_ctas=max(1, COLS / 128)
#pragma tri grid(M)
#pragma tri tensor X : in float[M, N] strides [ldx, 1]
#pragma tri tensor Y : out float[M, N] strides [ldy, 1]`);
  const text = source.text.replace("int N,", "int M, int N,");
  const { kernels: [kernel], diagnostics } = compileFile({ ...source, text }, {
    targets: ["sm_80", "sm_90"],
  });
  assertEquals(diagnostics, []);
  const { normalise } = await loadWrapper<Wrapper>(must(kernel, "the kernel"));
  const random = freshRandom();
  for (const arch of ["sm_80", "sm_90"]) {
    using device = Device.open({ device: "emulator", arch });
    for (const n of [0, 1, 7, 16, 17, 32, 64, 65, 200, 256, 300, 1000]) {
      // Positive whole numbers: the sum is exact, and a quotient is rounded once.
      const values = Float32Array.from({ length: 3 * n }, () => 1 + random.below(100));
      const out = device.tensor(new Float32Array(3 * n).fill(NaN), [3, n]);
      const { profile } = normalise(device.tensor(values, [3, n]), { out, profile: true });
      if (n > 0) {
        assertEquals(profile.kernel, instanceFor(n, arch === "sm_90"), `${arch}, N = ${n}`);
      }
      const wanted = values.map((value, i) => {
        const row = Math.floor(i / n);
        return value / values.subarray(row * n, row * n + n).reduce((a, b) => a + b, 0);
      });
      assertEquals(await out.read(), wanted, `${arch}, N = ${n}`);
    }
  }
});

Deno.test("a specialisation that demands what an earlier one does exists where that one is left out", () => {
  const source = rows(`
#pragma tri specialize(auto && N <= COLS) for COLS in {256}; num_ctas=2
#pragma tri specialize(auto && N <= COLS) for COLS in {256}; num_warps=8
#pragma tri specialize(N <= COLS) for COLS in {256}
#pragma tri specialize(auto && N <= COLS) for COLS in {128}
#pragma tri grid(1)`);
  const { kernels, diagnostics } = compileFile(source, { targets: ["sm_80", "sm_90"] });
  assertEquals(diagnostics.filter(({ severity }) => severity === "error"), []);
  const [kernel] = kernels;
  const symbolsOn = (target: string): readonly string[] =>
    must(kernel, "the kernel").instances
      .filter(({ availableOn }) => availableOn?.some((one) => one === target) ?? true)
      .map(({ symbol }) => symbol);
  assertEquals(symbolsOn("sm_80"), ["normalise", "normalise_s2", "normalise_s3", "normalise_s4"]);
  assertEquals(symbolsOn("sm_90"), ["normalise", "normalise_s1", "normalise_s3", "normalise_s4"]);
});
