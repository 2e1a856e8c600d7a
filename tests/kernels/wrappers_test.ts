/** Wrappers of the shipped kernels are read by people: facts of many variants are rows of tables. */
import { must } from "../../compiler/support/bug.ts";
import * as kernels from "../../generated/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";

const GENERATED = new URL("../../generated/", import.meta.url);

/** Lines of what the wrapper of one kernel declares, by the kernel's name in its source. */
function linesByKernel(text: string): Map<string, number> {
  const [, ...parts] = text.split(/^(?=type \w+Name =)/m);
  return new Map(parts.map((part) => {
    const [, name] = must(/^ {2}name: "(\w+)",$/m.exec(part), "a kernel's name");
    return [must(name, "name"), part.trimEnd().split("\n").length];
  }));
}

Deno.test("wrappers of kernels with 14 variants and more have at most 300 lines", async () => {
  const lines = new Map<string, number>();
  for await (const { name } of Deno.readDir(GENERATED)) {
    if (!name.endsWith(".ts") || name === "mod.ts") continue;
    const text = await Deno.readTextFile(new URL(name, GENERATED));
    for (const [kernel, count] of linesByKernel(text)) lines.set(kernel, count);
  }
  const wrappers = Object.values(kernels).flatMap((one) => "contract" in one ? [one] : []);
  assertEquals(lines.size, wrappers.length);
  const many = wrappers.filter(({ variants }) => variants.length >= 14);
  assert(many.length > 1);
  for (const { contract: { name } } of many) {
    const count = must(lines.get(name), name);
    assert(count <= 300, `${name}: ${count} lines`);
  }
});
