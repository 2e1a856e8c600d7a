/** Going on from the text after any pass leads to the same PTX. */
import { inspect } from "../../../../compiler/driver/inspect/inspect.ts";
import { inspectIr } from "../../../../compiler/driver/inspect/inspect_ir.ts";
import { PASS_NAMES } from "../../../../compiler/driver/passes/passes.ts";
import type { TargetName } from "../../../../compiler/targets.ts";
import { assert, assertEquals, assertStringIncludes } from "../../../support/assert.ts";
import { testsInTurn } from "../../../support/sampled.ts";
import { shipped } from "../../../support/shipped.ts";

const test = testsInTurn(2);

function ptxFrom(text: string, target: TargetName): string {
  const file = { name: "k.ir", text };
  const ptx = inspectIr(file, { result: "ptx", defaultTarget: target });
  return typeof ptx === "string" ? ptx : ptx.mistake;
}

/** A staged dot, reductions, a transposition with rotated rows, calls. */
const SAMPLES: readonly (readonly [string, string, TargetName])[] = [
  ["matmul.tc", "matmul", "sm_80"],
  ["matmul.tc", "matmul", "sm_70"],
  ["softmax.tc", "softmax", "sm_90"],
  ["transpose.tc", "transpose", "sm_75"],
];

for (const [name, kernel, target] of SAMPLES) {
  test(`inspectIr() makes the same PTX from ${kernel} after any pass, on ${target}`, () => {
    const options = { targets: [target], include: shipped, verify: true };
    const after = (step: string): string =>
      inspect(shipped(name), options, "ir", { kernel, after: step });
    const wanted = ptxFrom(after("build"), target);
    assertStringIncludes(wanted, `.target ${target}`);
    assert(wanted.length > 1000);
    for (const step of PASS_NAMES) assertEquals(ptxFrom(after(step), target), wanted, step);
  });
}

Deno.test("inspectIr() reads its own output again, pass by pass", () => {
  const options = { targets: ["sm_80"], include: shipped } as const;
  const { text } = { text: inspect(shipped("softmax.tc"), options, "ir", { after: "build" }) };
  let now = text;
  for (const step of PASS_NAMES) {
    const file = { name: "k.ir", text: now };
    const next = inspectIr(file, { result: "ir", passes: [step], defaultTarget: "sm_80" });
    assert(typeof next === "string", step);
    now = next;
  }
  const last = PASS_NAMES.at(-1) ?? "";
  assertEquals(now, inspect(shipped("softmax.tc"), options, "ir", { after: last }));
});

Deno.test("inspectIr() continues to a pass, and reports a pass that is already done", () => {
  const file = { name: "f.ir", text: "after cse {}\nfunc @f() {\n  return\n}\n" };
  const request = { result: "ir", defaultTarget: "sm_80" } as const;
  const text = inspectIr(file, { ...request, after: "*" });
  assert(typeof text === "string");
  assertEquals(
    [...text.matchAll(/^(?:after|\/\/) ([\w.-]+)/gm)].map(([, name]) => name),
    PASS_NAMES.slice(PASS_NAMES.indexOf("cse") + 1),
  );
  assertEquals(inspectIr(file, { ...request, after: "simplify" }), {
    mistake: "the function is one after cse, which comes after simplify; --passes runs any pass",
  });
});
