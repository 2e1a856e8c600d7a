/** Names of `.tc` files and of their folders: either what was built can be imported, or the name is refused. */
import { Reporter } from "../../../compiler/support/diagnostic.ts";
import { checkStem } from "../../../cli/build/source_name.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { sampled, testsInTurn } from "../../support/sampled.ts";
import { runChecked, runUnchecked } from "../support/run_checked.ts";
import { Shop } from "../support/shop.ts";
import { REAL_MAIN, Workspace } from "../support/tri_process.ts";

const test = testsInTurn(2);

/** Each kernel copies one element, so that its image is loaded. */
const kernel = (name: string): string =>
  `#pragma tri grid(1)\n__global__ void ${name}(int *X, int *Y) { *Y = *X; }\n`;

const GOOD = [
  "plain",
  "a b",
  " first and last ",
  "quo'te\"d",
  "-dash",
  ".dot",
  "...dots",
  "ünï🧮",
  "a:b",
  "100$&+,;=@!~*()[]{}|^`<>",
  "con",
  "x".repeat(240),
  "e\u0301", // Decomposed, which some file systems compose.
  'sp ace/-/in"ner/.x',
  "a.b.c",
];

const BAD: readonly (readonly [string, string])[] = [
  ["percent%41", '"%" has a special meaning in imports'],
  ["hash#q", '"#" has'],
  ["what?", '"?" has'],
  ["back\\slash", '"\\" has'],
  ["fol#der/x", '"#" has'],
  ["new\nline", "U+000A"],
  ["tab\there", "U+0009"],
  ["del\x7f", "U+007F"],
  ["nel\x85", "U+0085"],
  ["sep\u2028", "U+2028"],
  ["", "the folder of its images"],
  [".", "the folder of its images"],
  ["..", "the folder of its images"],
  ["sub/..", "the folder of its images"],
  ["sub/", "the folder of its images"],
  ["types.d", "declarations"],
  ["mod", "tri uses mod"],
  ["manifest.json", "tri uses manifest.json"],
  [".tri-build.json", "tri uses .tri-build.json"],
  [".tri-staging/x", "tri uses .tri-staging"],
  ["mod.d.ts", "tri uses mod.d.ts"],
];

function messagesOf(stem: string): string[] {
  const reporter = new Reporter();
  checkStem(stem, { name: `${stem}.tc`, text: "" }, reporter);
  return reporter.diagnostics.map(({ code, message }) => `${code} ${message}`);
}

Deno.test("checkStem() takes names that are the same as paths and as URLs, and says what is wrong with others", () => {
  for (const stem of [...GOOD, "mod/x", "sub/mod", "a/manifest.json"]) {
    assertEquals(messagesOf(stem), [], stem);
  }
  for (const [stem, part] of BAD) {
    const [message = "", ...more] = messagesOf(stem);
    assertEquals(more, []);
    assert(message.startsWith("E9040 "), `${stem}: ${message}`);
    assertStringIncludes(message, part);
  }
});

test("tri build gives wrappers that can be imported and run, whatever the sources are called", async () => {
  using workspace = new Workspace();
  GOOD.forEach((stem, i) => workspace.write(`k/${stem}.tc`, kernel(`f${i}`)));
  for (const emit of sampled(["ts", "js"], 1)) {
    const { code, stderr } = await workspace.tri(
      ["build", "k", "--out", "out", "--arch", "sm_80", "--no-cubin", "--emit", emit],
      { main: REAL_MAIN },
    );
    assertEquals(code, 0, stderr);
    workspace.write(
      "out/main.ts",
      `import * as all from "./mod.${emit}";
      import { Device } from "@tri/tri/ffi";
      using device = Device.open();
      using x = device.tensor(new Int32Array([7]), [1]);
      for (const call of [${GOOD.map((_, i) => `all.f${i}`).join(", ")}]) {
        using y = device.empty("int32", [1]);
        call.launch({ X: x, Y: y }, { stream: device.defaultStream });
        console.log((await y.read())[0]);
      }`,
    );
    const run = emit === "ts" ? runChecked : runUnchecked;
    assertEquals(await run(workspace, "out/main.ts"), "7\n".repeat(GOOD.length));
  }
});

Deno.test("tri build refuses other names one by one and builds the rest", async () => {
  using shop = new Shop({ "kernels/good.tc": "kernel foo\n" });
  const bad = BAD.filter(([stem]) => stem !== "" && !stem.endsWith("/"));
  for (const [stem] of bad) shop.write(`kernels/${stem}.tc`, "kernel bar\n");
  const { code, stderr } = await shop.build();
  assertEquals([code, stderr.match(/error\[E9040\]/g)?.length], [1, bad.length], stderr);
  assertEquals(shop.read("out/mod.ts"), 'export * from "./good.ts";\n');
  const check = await shop.tri(["check", "kernels"]);
  assertEquals([check.code, check.stderr.match(/error\[E9040\]/g)?.length], [1, bad.length]);
});

test("tri build takes operands and an output folder of any name", async () => {
  using workspace = new Workspace();
  const folder = "we\nird #%41?\"'\\";
  workspace.write(`${folder}/k/f.tc`, kernel("f"));
  workspace.write(`${folder}/k/assert.tc`, kernel("g").replace("{", "{ assert(*X > 0);"));
  const out = `${folder}/o#u%41t`;
  const { code, stderr } = await workspace.tri(
    ["build", `${folder}/k`, "--out", out, "--arch", "sm_80", "--bundle", `${folder}/b.js`],
    { main: REAL_MAIN },
  );
  assertEquals(code, 0, stderr);
  workspace.write(
    `${out}/main.ts`,
    `import * as all from "./mod.ts";\nimport * as bundle from "../b.js";
    console.log(all.f.variants.length, bundle.g.variants.length);`,
  );
  assertEquals(await runUnchecked(workspace, `${out}/main.ts`), "1 1\n");
});
