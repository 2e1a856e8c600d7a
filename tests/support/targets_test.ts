import { assertEquals, assertThrows } from "./assert.ts";
import { lowerGeneral, printEntry } from "./compiler/lowering.ts";
import { bodyOf, entriesOf, groupTargets, TARGET_NAMES } from "./targets.ts";
import type { TargetName } from "../../compiler/targets.ts";

const module = (target: TargetName, body: string, version = "8.0"): string =>
  `// made for ${target}\n.version ${version}\n.target ${target}\n.entry k() {\n  ${body}\n}\n`;

Deno.test("bodyOf() leaves out version, target and comments, and nothing else", () => {
  assertEquals(bodyOf(module("sm_80", "ret;")), bodyOf(module("sm_90", "ret;", "8.4")));
  const others = [
    module("sm_80", "trap;"),
    module("sm_80", "ret; // sm_80"),
    module("sm_80", "ret;").replace(".entry k", ".entry l"),
    module("sm_80", ".reg .b32 %r<2>; ret;"),
    module("sm_80", '.pragma "nounroll"; ret;'),
  ].map(bodyOf);
  assertEquals(new Set([...others, bodyOf(module("sm_80", "ret;"))]).size, 6);
});

Deno.test("groupTargets() puts targets together whose bodies are equal, and only those", () => {
  const targets = ["sm_75", "sm_80", "sm_86", "sm_90"] as const;
  const bodyFor = (target: TargetName): string => target === "sm_80" ? "trap;" : "ret;";
  assertEquals(groupTargets((target) => module(target, bodyFor(target)), targets), [
    { first: "sm_75", targets: ["sm_75", "sm_86", "sm_90"] },
    { first: "sm_80", targets: ["sm_80"] },
  ]);
  const own = groupTargets((target) => module(target, `mov.u32 %r1, ${target.length};`));
  assertEquals(own.flatMap((group) => group.targets).toSorted(), TARGET_NAMES.toSorted());
});

Deno.test("groupTargets() distinguishes targets that have other instructions for a reduction or a start", () => {
  const text = `#pragma tri grid(1)
__global__ void k(int *X, int *Y) { *Y = (*(X + 0 ... 1024))[+]; }`;
  const groups = groupTargets((target) => printEntry(lowerGeneral(text, target).kernel, target));
  assertEquals(groups.map(({ first }) => first), ["sm_70", "sm_80", "sm_90"]);
});

Deno.test("entriesOf() keeps the entries of one variant, and what is outside of entries", () => {
  const entry = (name: string): string => `.visible .entry ${name}(\n)\n{\n  ret;\n}\n`;
  const head = ".target sm_80\n.global .u32 counter;\n";
  const names = ["k_float16", "k_float16_a16_TM32", "k_bfloat16", "k_float32"];
  const ptx = head + names.map(entry).join("");
  const kept = (variant: string): string[] =>
    [...entriesOf(ptx, variant).matchAll(/entry (\w+)/g)].map(([, name = ""]) => name);
  assertEquals(kept("float16"), ["k_float16", "k_float16_a16_TM32"]);
  assertEquals(kept("bfloat16"), ["k_bfloat16"]);
  assertEquals(entriesOf(ptx, "float32").startsWith(head), true);
  assertThrows(() => entriesOf(ptx, "float64"), Error, "no entry of float64");
});
