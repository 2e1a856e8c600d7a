/** Which configurations are compiled, how their entries are called, and the key that decides between them. */
import { type Configurations, listConfigurations } from "../../../compiler/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { parsePtx } from "../../../compiler/ptx/parse.ts";
import type { TargetName } from "../../../compiler/targets.ts";
import { assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";

const SCALE = (pragmas: string): { name: string; text: string } => ({
  name: "scale.tc",
  text: `${pragmas}
__global__ void scale(float *X, float *Y, int n, int times) {
  int r[TM] = get_program_id(0) * TM + 0 ... TM;
  float x[TM] = *?(r < n) (X + r);
  for (int i = 0; i < times; i++) x = x * 2;
  *?(r < n) (Y + r) = x;
}`,
});

const FILTERED = SCALE(`
#pragma tri configs TM in {64, 128}; num_warps in {1, 2} if TM != 64 || __TRI_SPECIALIZED__
#pragma tri config TM=256; num_warps=8, num_stages=2`);

function entries(
  file: { name: string; text: string },
  configurations?: Configurations,
): string[] {
  const { kernels, diagnostics } = compileFile(file, {
    targets: ["sm_80"],
    ...(configurations === undefined ? {} : { configurations }),
  });
  assertEquals(diagnostics, []);
  return kernels.flatMap(({ instances, modules }) => {
    assertEquals(
      modules.flatMap((module) => module.entries.map(({ symbol }) => symbol)),
      instances.map(({ symbol }) => symbol),
    );
    return instances.map(({ symbol, config, configuration: info }) =>
      `${symbol}: ${config.bindings["TM"]} ${config.numWarps}` +
      (info === undefined ? "" : ` | ${info.label} | ${info.first} ${info.specialization}`)
    );
  });
}

Deno.test("compileFile() makes entries of the first configuration that the filter leaves, and says nothing of others", () => {
  assertEquals(entries(FILTERED), ["scale: 128 1", "scale_a16: 64 1"]);
});

Deno.test("compileFile() gives all instances of an automatic specialisation what was timed for one of them", () => {
  const file = SCALE(`#pragma tri configs TM in {64, 128, 256}`);
  const text = file.text.replaceAll("+ r)", "+ r * s)").replace("int times", "int times, int s");
  const also = [{ kernel: "scale", variant: "default", specialization: "a1", configs: ["TM=256"] }];
  assertEquals(entries({ ...file, text }, { also }), [
    "scale: 64 4 | TM=64 | scale general",
    "scale_a16: 64 4 | TM=64 | scale_a16 a16",
    "scale_a1: 64 4 | TM=64 | scale_a1 a1",
    "scale_a16_TM256: 256 4 | TM=256 | scale_a16 a16",
    "scale_a1_TM256: 256 4 | TM=256 | scale_a1 a1",
  ]);
});

Deno.test("compileFile() makes entries of all configurations: the first keeps its name, the others get theirs", () => {
  assertEquals(entries(FILTERED, "all"), [
    "scale: 128 1 | TM=128; num_warps=1 | scale general",
    "scale_a16_TM128_num_warps1: 128 1 | TM=128; num_warps=1 | scale_a16 a16",
    "scale_TM128_num_warps2: 128 2 | TM=128; num_warps=2 | scale general",
    "scale_a16_TM128_num_warps2: 128 2 | TM=128; num_warps=2 | scale_a16 a16",
    "scale_TM256_num_warps8_num_stages2: 256 8 | TM=256; num_warps=8, num_stages=2 | scale general",
    "scale_a16_TM256_num_warps8_num_stages2: 256 8 | TM=256; num_warps=8, num_stages=2 | scale_a16 a16",
    "scale_a16: 64 1 | TM=64; num_warps=1 | scale_a16 a16",
    "scale_a16_TM64_num_warps2: 64 2 | TM=64; num_warps=2 | scale_a16 a16",
  ]);
});

Deno.test("compileFile() makes entries of one configuration where the filter leaves it, under the plain names", () => {
  assertEquals(entries(FILTERED, { only: "TM=64; num_warps=2" }), ["scale_a16: 64 2"]);
  assertEquals(entries(FILTERED, { only: "TM=128; num_warps=2" }), [
    "scale: 128 2",
    "scale_a16: 128 2",
  ]);
});

Deno.test("compileFile() adds chosen configurations to the first: of each ranking the first that the filter leaves", () => {
  const chosen = (specialization: string, ...configs: string[]): Configurations => ({
    also: [{ kernel: "scale", variant: "default", specialization, configs }],
  });
  assertEquals(entries(FILTERED, chosen("a16", "TM=32", "TM=64; num_warps=2")), [
    "scale: 128 1 | TM=128; num_warps=1 | scale general",
    "scale_a16: 64 1 | TM=64; num_warps=1 | scale_a16 a16",
    "scale_a16_TM64_num_warps2: 64 2 | TM=64; num_warps=2 | scale_a16 a16",
  ]);
  // The filter does not leave it for the general instance.
  assertEquals(entries(FILTERED, chosen("general", "TM=64; num_warps=2")), entries(FILTERED));
  // A winner that comes first anyway, another kernel, nothing known of today's configurations.
  assertEquals(entries(FILTERED, chosen("a16", "TM=64; num_warps=1")), entries(FILTERED));
  assertEquals(entries(FILTERED, chosen("a16", "TM=512")), entries(FILTERED));
  assertEquals(entries(FILTERED, { also: [] }), entries(FILTERED));
});

/** What each target has, with tiles and what they are called, and where instances are said to be available. */
function byTarget(
  file: { name: string; text: string },
  targets: readonly TargetName[],
  configurations?: Configurations,
): Record<string, readonly string[]> {
  const { kernels, diagnostics } = compileFile(file, {
    targets,
    ...(configurations === undefined ? {} : { configurations }),
  });
  assertEquals(diagnostics, []);
  const { instances, modules } = must(kernels[0], "a kernel");
  return Object.fromEntries(modules.map(({ target, entries, ptx }) => {
    const own = instances.filter(({ availableOn }) => availableOn?.includes(target) ?? true);
    const symbols = own.map(({ symbol }) => symbol);
    assertEquals(entries.map(({ symbol }) => symbol), symbols);
    assertEquals(parsePtx(ptx).kernels.map(({ name }) => name), symbols);
    const shown = own.toSorted((a, b) =>
      (a.configuration?.rank ?? 0) - (b.configuration?.rank ?? 0)
    )
      .map(({ symbol, config, configuration }) =>
        `${symbol}: ${config.bindings["TM"]} ${configuration?.first ?? symbol}`
      );
    return [target, shown];
  }));
}

const BY_TARGET = SCALE(`
#pragma tri specialize(n % 4 == 0)
#pragma tri configs TM in {512} if __TRI_ARCH_SPECIFIC__ == 900 && __TRI_SPECIALIZED__
#pragma tri configs TM in {256} if __TRI_ARCH__ >= 800 && __TRI_ARCH__ < 900
#pragma tri configs TM in {64} if __TRI_SPECIALIZED__ && !__TRI_ARCH_SPECIFIC__
#pragma tri config TM=128`);

Deno.test("compileFile() makes entries of the first configuration of each target, and none where the filter does not leave it", () => {
  assertEquals(byTarget(BY_TARGET, ["sm_75", "sm_80", "sm_90", "sm_90a"]), {
    sm_75: ["scale_TM128: 128 scale", "scale_s1_TM64: 64 scale_s1"],
    sm_80: ["scale: 256 scale", "scale_s1_TM256: 256 scale_s1"],
    sm_90: ["scale_TM128: 128 scale", "scale_s1_TM64: 64 scale_s1"],
    sm_90a: ["scale_s1: 512 scale_s1", "scale_TM128: 128 scale"],
  });
  assertEquals(byTarget(BY_TARGET, ["sm_75"]), {
    sm_75: ["scale: 128 scale", "scale_s1: 64 scale_s1"],
  });
});

Deno.test("compileFile() adds chosen configurations on the targets that the filter leaves them to", () => {
  const configurations: Configurations = {
    also: [{
      kernel: "scale",
      variant: "default",
      specialization: "s1",
      configs: ["TM=512", "TM=256", "TM=128"],
    }],
  };
  assertEquals(byTarget(BY_TARGET, ["sm_75", "sm_80", "sm_90a"], configurations), {
    sm_75: ["scale_TM128: 128 scale", "scale_s1_TM64: 64 scale_s1", "scale_s1_TM128: 128 scale_s1"],
    sm_80: ["scale: 256 scale", "scale_s1_TM256: 256 scale_s1"],
    sm_90a: ["scale_s1: 512 scale_s1", "scale_TM128: 128 scale"],
  });
  assertEquals(byTarget(BY_TARGET, ["sm_80", "sm_90a"], { only: "TM=512" }), {
    sm_80: [],
    sm_90a: ["scale_s1: 512 scale_s1"],
  });
});

Deno.test("compileFile() lets the text of a kernel distinguish sm_90a from sm_90", () => {
  const text =
    `__global__ void which(int *X) { *X = __TRI_ARCH__ + (__TRI_ARCH_SPECIFIC__ == 900); }`;
  const { kernels } = compileFile({ name: "k.tc", text }, { targets: ["sm_90", "sm_90a"] });
  const stored = (kernels[0]?.modules ?? []).map(({ ptx }) => /, (90\d)/.exec(ptx)?.[1]);
  assertEquals(stored, ["900", "901"]);
});

Deno.test("listConfigurations() lists what filters leave and says whether there is a choice", () => {
  const options = { targets: ["sm_80"] } as const;
  assertEquals(listConfigurations(FILTERED, options), [{
    kernel: "scale",
    configs: [
      "TM=128; num_warps=1",
      "TM=128; num_warps=2",
      "TM=256; num_warps=8, num_stages=2",
      "TM=64; num_warps=1",
      "TM=64; num_warps=2",
    ],
    isChoice: true,
  }]);
  // Two configurations, but each instance can have only one of them.
  const single = SCALE(`
#pragma tri configs TM in {64} if __TRI_SPECIALIZED__
#pragma tri configs TM in {128} if !__TRI_SPECIALIZED__`);
  assertEquals(listConfigurations(single, options), [
    { kernel: "scale", configs: ["TM=128", "TM=64"], isChoice: false },
  ]);
});

Deno.test("compileFile() chooses a configuration for each condition of `specialize`, by its number", () => {
  const pragmas = `#pragma tri specialize(n <= 64 && X % 16 == 0, X % 16 == 0, n % 4 == 0)
#pragma tri configs TM in {256} if __TRI_SPECIALIZED__ == 0 || __TRI_SPECIALIZED__ == 2
#pragma tri configs TM in {64}; num_warps in {2}, max_registers in {32} if __TRI_SPECIALIZED__ == 1`;
  // Entries are in the order of the conditions, which is that of a launch's choice. None is left for the third.
  assertEquals(entries(SCALE(pragmas)), [
    "scale: 256 4",
    "scale_s1: 64 2",
    "scale_s2: 256 4",
    "scale_s3: 256 4",
  ]);
  const more = `${pragmas}\n#pragma tri configs TM in {32} if __TRI_SPECIALIZED__ == 2`;
  assertEquals(entries(SCALE(more), "all"), [
    "scale: 256 4 | TM=256 | scale general",
    "scale_s1: 64 2 | TM=64; num_warps=2, max_registers=32 | scale_s1 s1",
    "scale_s2: 256 4 | TM=256 | scale_s2 s2",
    "scale_s3: 256 4 | TM=256 | scale_s3 s3",
    "scale_s2_TM32: 32 4 | TM=32 | scale_s2 s2",
  ]);
  const [kernel] = compileFile(SCALE(pragmas), { targets: ["sm_80"] }).kernels;
  assertEquals(
    kernel?.modules.flatMap(({ ptx }) => ptx.match(/\.maxnreg \d+/g) ?? []),
    [".maxnreg 32"],
  );
});

Deno.test("compileFile() takes the key from the pragma, else from attributes, else from the grid and loop bounds", () => {
  const keyOf = (file: { name: string; text: string }): readonly string[] | undefined =>
    compileFile(file, { targets: ["sm_80"] }).kernels[0]?.key;
  assertEquals(keyOf(SCALE("#pragma tri config TM=64")), ["n", "times"]);
  assertEquals(keyOf(SCALE("#pragma tri config TM=64\n#pragma tri key(times)")), ["times"]);
  assertEquals(keyOf(SCALE("#pragma tri config TM=64\n#pragma tri key()")), []);
  const { name, text } = SCALE("#pragma tri config TM=64");
  assertEquals(keyOf({ name, text: text.replace("int n,", "int n __retune,") }), ["n"]);
  // True or false only where asked for; what is neither that nor an integer cannot be asked for.
  const more = text.replace("int times", "bool twice, float by, int times")
    .replace("x * 2", "x * (twice ? 2 : by)");
  assertEquals(keyOf({ name, text: more }), ["n", "times"]);
  assertEquals(keyOf({ name, text: `#pragma tri key(twice, n)\n${more}` }), ["n", "twice"]);
  const { diagnostics } = compileFile({ name, text: `#pragma tri key(by, n)\n${more}` }, {
    targets: ["sm_80"],
  });
  assertEquals(diagnostics.map(({ code }) => code), ["E9012"]);
  assertEquals(keyOf({ name, text: more.replace("twice,", "twice __retune,") }), ["twice"]);
});
