import { assertEquals } from "../../support/assert.ts";
import { type KernelPlan, planInstances } from "../../../compiler/instances/instances.ts";
import { assignItems } from "../../../compiler/instances/items.ts";
import { parsePragmaLine, readPragmas } from "../../../compiler/pragma/read_pragmas.ts";
import { type Diagnostic, Reporter } from "../../../compiler/support/diagnostic.ts";
import type { TargetName } from "../../../compiler/targets.ts";
import type { Define } from "../../../compiler/options.ts";
import { testsInTurn } from "../../support/sampled.ts";

const test = testsInTurn(3);

interface Planned {
  readonly plan: KernelPlan;
  readonly diagnostics: readonly Diagnostic[];
}

/** Plans kernel `k` with these pragmas, `-D`s and overrides as `text @ origin`, strongest first. */
function plan(
  pragmas: readonly string[],
  defines: readonly string[] = [],
  overrides: readonly string[] = [],
  targets: readonly TargetName[] = ["sm_80"],
): Planned {
  const reporter = new Reporter();
  const text = [...pragmas.map((line) => `#pragma tri ${line}`), "__global__ void k() {}"].join(
    "\n",
  );
  const groups = readPragmas({ name: "k.tc", text }, undefined, reporter);
  const parsed = overrides.flatMap((line) => {
    const [item = "", origin = ""] = line.split(" @ ");
    const read = parsePragmaLine(item, origin, reporter);
    return read === undefined ? [] : [{ kernel: undefined, isForFile: false, item: read, origin }];
  });
  const items = assignItems(
    groups,
    parsed,
    [{ name: "k", offset: text.length - 6 }],
    "k.tc",
    reporter,
  );
  const made = planInstances("k", items.get("k") ?? [], defines.map(readDefine), targets, reporter);
  return { plan: made, diagnostics: reporter.diagnostics };
}

function readDefine(text: string): Define {
  const [name = "", value] = text.split("=");
  return { name, value: value ?? null };
}

/** `name: bindings | configuration, warps`. */
function show({ plan: { instances } }: Planned): string[] {
  const list = (bindings: Readonly<Record<string, string>>): string =>
    Object.entries(bindings).map(([name, value]) => `${name}=${value}`).join(" ");
  return instances.map(({ variant, config, options }) =>
    `${variant.name}: ${list(variant.bindings)} | ${list(config)}, ${options.numWarps ?? "any"}`
  );
}

const codes = ({ diagnostics }: Planned): string[] => diagnostics.map(({ code }) => code);

Deno.test("planInstances() makes one instance of a kernel without pragmas", () => {
  const made = plan([], ["TM=32", "OLD"]);
  assertEquals(show(made), ["default:  | , any"]);
  assertEquals(made.plan.instances[0]?.defines, [{ name: "TM", value: "32" }, {
    name: "OLD",
    value: null,
  }]);
});

Deno.test("planInstances() multiplies variants lines and adds each variant", () => {
  const made = plan([
    "variants TYPE in {float, half}",
    "variants SPLIT in {1, 2}",
    "variant quick: TYPE=char, SPLIT=4",
  ]);
  assertEquals(show(made).map((line) => line.split(":")[0]), [
    "float32_SPLIT1",
    "float32_SPLIT2",
    "float16_SPLIT1",
    "float16_SPLIT2",
    "quick",
  ]);
});

Deno.test("planInstances() names variants by dtype, and distinguishes equal ones", () => {
  const made = plan(["variants TYPE in {unsigned char, long long, int32_t}, OP in {a + b, a - b}"]);
  assertEquals(show(made).map((line) => line.split(":")[0]), [
    "uint8_OPa_b",
    "uint8_OPa_b_2",
    "int64_OPa_b",
    "int64_OPa_b_2",
    "int32_OPa_b",
    "int32_OPa_b_2",
  ]);
});

Deno.test("planInstances() takes the first configuration that each variant's filter lets through", () => {
  const made = plan([
    "variants TYPE in {float, half, double}",
    "configs TM in {32, 64, 128}; num_warps in {8, 2} if TM * sizeof(TYPE) == 256",
  ]);
  assertEquals(show(made), [
    "float32: TYPE=float | TM=64, 8",
    "float16: TYPE=half | TM=128, 8",
    "float64: TYPE=double | TM=32, 8",
  ]);
});

Deno.test("planInstances() takes equal configurations with different filters for different ones", () => {
  const made = plan([
    "variants TYPE in {float, half, double}",
    "configs TM in {32} if sizeof(TYPE) == 4",
    "configs TM in {32} if sizeof(TYPE) == 2",
    "config TM=64",
  ]);
  assertEquals(show(made), [
    "float32: TYPE=float | TM=32, any",
    "float16: TYPE=half | TM=32, any",
    "float64: TYPE=double | TM=64, any",
  ]);
});

Deno.test("planInstances() lets a -D replace a parameter everywhere, and says so", () => {
  const made = plan(["variants TYPE in {float, half}", "configs TM in {32, 64}"], [
    "TYPE=half",
    "TM=16",
  ]);
  assertEquals(show(made), ["float16: TYPE=half | TM=16, any"]);
  assertEquals(codes(made), ["W9001", "W9001"]);
  assertEquals(codes(plan(["variant TYPE=half"], ["TYPE=half"])), []);
});

Deno.test("planInstances() reads a list in -D as configurations", () => {
  const made = plan(["configs TM in {32} if TM * TN > 2048"], ["TN=[32, 64, 128]"]);
  assertEquals(show(made), ["default:  | TM=32 TN=128, any"]);
});

Deno.test("planInstances() lets the configuration's options win over the file's, and overrides over both", () => {
  const lines = ["num_warps=2", "config TM=32; num_warps=8"];
  assertEquals(show(plan(lines)), ["default:  | TM=32, 8"]);
  assertEquals(show(plan(["num_warps=2", "config TM=32"])), ["default:  | TM=32, 2"]);
  assertEquals(show(plan(lines, [], ["num_warps=16 @ <--num-warps>"])), ["default:  | TM=32, 16"]);
});

Deno.test("planInstances() lets a specialisation's numbers win over the configuration's, and overrides over both", () => {
  const pragmas = ["config; num_warps=8", "specialize(auto); num_warps=4"];
  assertEquals(show(plan(pragmas)), ["default:  | , 8", "default:  | , 4"]);
  assertEquals(show(plan(pragmas, [], ["num_warps=2 @ --num-warps"])), [
    "default:  | , 2",
    "default:  | , 2",
  ]);
});

Deno.test("planInstances() replaces an item of a weaker source and warns where they differ", () => {
  const made = plan(["config TM=32", "config TM=64"], [], [
    "config TM=64 @ <--config>",
    "config TM=128 @ <deno.json>",
  ]);
  assertEquals(show(made), ["default:  | TM=64, any"]);
  assertEquals(made.diagnostics.map(({ code, span }) => `${code} ${span.file.name}`), [
    "W9001 <deno.json>",
    "W9001 k.tc",
  ]);
});

Deno.test("planInstances() reports a parameter of both kinds, and filters that leave nothing", () => {
  assertEquals(codes(plan(["variants TM in {32}", "configs TM in {64}"])), ["E9010"]);
  assertEquals(codes(plan(["configs TM in {32, 64} if TM > 64"])), ["E9014"]);
  assertEquals(codes(plan(["configs TM in {32} if TM / 0"])), ["E5171"]);
  assertEquals(codes(plan(["configs TM in {32} if TN > 1"])), ["E9013"]);
});

Deno.test("assignItems() gives a group to the next kernel unless it is directed elsewhere", () => {
  const reporter = new Reporter();
  const text = ["grid(1)", "kernel b", "num_warps=8", "kernel c, nope"].map((line) =>
    `#pragma tri ${line}\n`
  ).join("");
  const groups = readPragmas({ name: "k.tc", text: `${text}void a() {}` }, undefined, reporter);
  const sites = ["a", "b", "c"].map((name, index) => ({ name, offset: text.length + index }));
  const assigned = assignItems(groups, [], sites, "k.tc", reporter);
  assertEquals(
    [...assigned].map(([name, items]) => `${name}: ${items.map(({ item }) => item.kind).join()}`),
    [
      "a: grid",
      "b: option",
      "c: ",
    ],
  );
  assertEquals(reporter.diagnostics.map(({ code }) => code), ["E9006"]);
});

Deno.test("planInstances() refuses variants that multiply beyond the limit, and all at once", () => {
  const axes = Array.from({ length: 30 }, (_, i) => `A${i} in {1, 2, 3, 4}`);
  const inLines = plan(axes.map((axis) => `variants ${axis}`));
  assertEquals([show(inLines), codes(inLines)], [[], ["E9030"]]);
  const inOne = plan([`variants ${axes.join(", ")}`]);
  assertEquals([show(inOne), codes(inOne)], [[], ["E9030"]]);
  const conditions = Array.from({ length: 5000 }, (_, i) => `n == ${i}`);
  assertEquals(codes(plan([`specialize(${conditions.join(", ")})`])), ["E9030"]);
});

Deno.test("planInstances() refuses thousands of parameters without a look at each combination of them", () => {
  // Combinations up to the limit, each of all parameters, took 100 s.
  const lines = Array.from({ length: 1500 }, (_, i) => `variants A${i} in {1, 2}`);
  const many = plan(lines);
  assertEquals([show(many), codes(many)], [[], ["E9030"]]);
});

Deno.test("planInstances() does not multiply values that come to the same", () => {
  // One after the other these would be 2^65 combinations.
  const lines = Array.from({ length: 65 }, (_, i) => `variants A in {${i}, 1}`);
  const twice = plan(lines);
  assertEquals([...new Set(codes(twice))], ["E9010"]);
  const axes = Array.from({ length: 65 }, (_, i) => `A${i} in {1, 1}`).join(", ");
  const same = plan([`variants ${axes}`]);
  assertEquals([same.plan.instances.length, codes(same)], [1, []]);
  const other = Array.from({ length: 65 }, (_, i) => `A${i} in {1, 2}`).join(", ");
  const replaced = plan([`variants ${other}`], Array.from({ length: 65 }, (_, i) => `A${i}=7`));
  assertEquals(replaced.plan.instances.length, 1);
  assertEquals([...new Set(codes(replaced))], ["W9001"]);
});

test("planInstances() takes the first of 4^30 configurations, and refuses to look through all", () => {
  const axes = Array.from({ length: 30 }, (_, i) => `A${i} in {1, 2, 3, 4}`).join(", ");
  const first = plan([`configs ${axes} if A29 > 1`]);
  assertEquals(codes(first), []);
  const config = first.plan.instances[0]?.config ?? {};
  assertEquals([config.A0, config.A28, config.A29], ["1", "1", "2"]);
  const none = plan([`configs ${axes} if A0 > 4`]);
  assertEquals([show(none), codes(none)], [[], ["E9030"]]);
});
