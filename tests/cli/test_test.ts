import config from "../../deno.json" with { type: "json" };
import { exampleModule, examplesIn } from "../../cli/test/examples.ts";
import { testsOf } from "../../cli/test/find.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { testsInTurn } from "../support/sampled.ts";
import { REAL_MAIN, Workspace } from "./support/tri_process.ts";

const test = testsInTurn(2);

const ROOT = new URL("../../", import.meta.url);

const KERNEL = `// Multiplies by a number: Y[i] = factor * X[i].
//
// \`\`\`ts
// import { Device } from "@tri/tri/ffi";
// const y = scale(device.tensor(new Float32Array([1, 2, 3])), { factor: 2 });
// assert.deepEqual(await y.read(), new Float32Array([2, 4, 6]));
// assert(device instanceof Device);
// \`\`\`
#pragma tri config B=256
__global__ void scale(float *X, float *Y, float factor, int N) {
  int r[B] = get_program_id(0) * B + 0 ... B;
  *?(r < N) (Y + r) = factor * *?(r < N) (X + r);
}
`;
const TEST = `import assert from "node:assert/strict";
import { checkKernel } from "@tri/tri/testing";
import { scale } from "../generated/scale.ts";

Deno.test("scale() is right", async () => {
  assert.equal(Deno.env.get("TRI_DEVICE"), "emulator");
  await checkKernel({
    sizes: { N: [0, 600] },
    inputs: { x: { dtype: "float32", shape: ["N"] } },
    cases: 5,
    run: ({ x }) => scale(x, { factor: 3 }),
    reference: ({ x }) => x.map((value) => Math.fround(3 * value)),
  });
});
Deno.test("scale() is wrong", () => assert.fail("on purpose"));
`;

/** Runs with the permission set of the task. */
async function triTest(
  workspace: Workspace,
  ...words: string[]
): Promise<readonly [number, string]> {
  const imports = Object.fromEntries(
    Object.entries(config.imports).map(([name, target]) => [
      name,
      target.startsWith("./") ? new URL(target, ROOT).href : target,
    ]),
  );
  const settings = { permissions: config.permissions, imports, exclude: ["generated"] };
  workspace.write("deno.json", JSON.stringify(settings));
  const options = ["--arch", "sm_90", "--no-cubin", "--device", "emulator"];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-q",
      "--config",
      "deno.json",
      "--no-prompt",
      "--no-check",
      "-P=tests",
      REAL_MAIN,
      "test",
    ]
      .concat("kernels", options, words),
    cwd: workspace.path,
    env: { NO_COLOR: "1" },
  }).output();
  return [code, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)];
}

test("tri test builds kernels, then runs their tests and the examples in their comments", async () => {
  using workspace = new Workspace({
    "kernels/scale.tc": KERNEL,
    "kernels/other.tc": "__global__ void other(float *X) { *X = 1; }\n",
    "tests/scale_test.ts": TEST,
  });
  const [code, said] = await triTest(workspace);
  assertEquals(code, 1, said);
  assertStringIncludes(said, "without tests: kernels/other.tc\ntesting 1 file and 1 example\n");
  assertStringIncludes(said, "scale() is right ... ok");
  assertStringIncludes(said, "scale() is wrong ... FAILED");
  assertStringIncludes(said, "kernels/scale.tc:10: an example of scale ... ok");
  assertEquals([...workspace.files("kernels").keys()].sort(), [
    "kernels/other.tc",
    "kernels/scale.tc",
  ]);
  const [filtered, short] = await triTest(workspace, "--filter", "is right");
  assertEquals(filtered, 0, short);
  assertStringIncludes(short, "1 passed");
});

Deno.test("examplesIn() finds the blocks above each kernel", () => {
  const text = `${KERNEL}
// \`\`\`sh
// no
// \`\`\`
__global__ void none(float *X) { *X = 1; }
/* \`\`\`js
   one();
   \`\`\`
   \`\`\`ts
   two();
   \`\`\` */
__global__ void two(float *X) { *X = 1; }
`;
  const examples = examplesIn({ name: "a.tc", text });
  assertEquals(examples.map(({ kernel, line }) => `${kernel} ${line}`), [
    "scale 10",
    "two 25",
    "two 25",
  ]);
  assertEquals(examples.map(({ code }) => code.trim()).slice(1), ["one();", "two();"]);
});

Deno.test("exampleModule() imports what examples do not import or declare themselves", () => {
  const file = { name: "k/a.tc", text: "__global__ void my_kernel(float *X) {}\n" };
  const module = (code: string): string =>
    exampleModule(file, [{ kernel: "my_kernel", line: 1, code }], "../out/a.ts");
  const plain = module("myKernel(device);\n");
  assertStringIncludes(plain, 'import { myKernel } from "../out/a.ts";');
  assertStringIncludes(plain, "const device = AnyDevice.open(");
  const own = module(
    'import assert from "node:assert";\nimport {\n  myKernel,\n} from "./x.ts";\nconst device = 1;\n',
  );
  assert(!own.includes("../out/a.ts") && !own.includes("assert/strict"), own);
  assert(!own.includes("AnyDevice.open"), own);
});

Deno.test("testsOf() finds tests beside a source and in the folder tests", () => {
  using workspace = new Workspace({
    "k/a.tc": "",
    "k/a_test.ts": "",
    "k/a.test.mjs": "",
    "k/ab_test.ts": "",
    "tests/deep/a_test.js": "",
    "tests/a_test.txt": "",
  });
  const { path } = workspace;
  assertEquals(
    testsOf(`${path}/k/a.tc`, path).map((found) => found.slice(path.length + 1)),
    ["k/a.test.mjs", "k/a_test.ts", "tests/deep/a_test.js"],
  );
});
