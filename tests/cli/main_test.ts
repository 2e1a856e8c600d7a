import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { testsInTurn } from "../support/sampled.ts";
import { runChecked } from "./support/run_checked.ts";
import { REAL_MAIN, type TriResult, Workspace } from "./support/tri_process.ts";

const test = testsInTurn(2);

const VECTOR_ADD = `// Adds.
#pragma tri variants TYPE in {float, half}
#pragma tri config BLOCK=1024
__global__ void vector_add(TYPE *X, TYPE *Y, TYPE *Z, int N) {
  int r[BLOCK] = get_program_id(0) * BLOCK + 0 ... BLOCK;
  bool check[BLOCK] = r < N;
  *?(check) (Z + r) = *?(check) (X + r) + *?(check) (Y + r);
}
`;

function tri(workspace: Workspace, ...args: string[]): Promise<TriResult> {
  return workspace.tri(args, { main: REAL_MAIN });
}

const BUILD = ["build", "k", "--out", "out", "--arch", "sm_80,sm_90", "--no-cubin"];

Deno.test("tri build compiles a kernel to PTX and a wrapper, and then has nothing to do", async () => {
  using workspace = new Workspace({ "k/add.tc": VECTOR_ADD });
  const { code, stderr } = await tri(workspace, ...BUILD);
  assertEquals(code, 0, stderr);
  assertStringIncludes(stderr, "built 1 source: 1 kernel, 2 variants");
  assertStringIncludes(workspace.read("out/add/vector_add.sm_90.ptx"), ".target sm_90");
  assertStringIncludes(workspace.read("out/add.ts"), "export const vectorAdd");
  assertStringIncludes(workspace.read("out/mod.ts"), "./add.ts");
  const again = await tri(workspace, ...BUILD);
  assertEquals(again.stderr, "nothing to do: 1 kernel up to date in out\n");
});

Deno.test("tri build gives the same bytes in two folders with the real compiler", async () => {
  using one = new Workspace({ "k/add.tc": VECTOR_ADD });
  using two = new Workspace({ "k/add.tc": VECTOR_ADD });
  await Promise.all([tri(one, ...BUILD), tri(two, ...BUILD, "--jobs", "3")]);
  assert(one.files("out").size > 5);
  assertEquals(one.files("out"), two.files("out"));
});

Deno.test("tri check shows mistakes with carets, or as JSON, and exits with 1", async () => {
  using workspace = new Workspace({
    "k/bad.tc": "__global__ void f(int *X) {\n  *(X + missing) = 0;\n}\n",
  });
  const { code, stderr } = await tri(workspace, "check", "k");
  assertEquals(code, 1);
  assertStringIncludes(stderr, "error[E2001]");
  assertStringIncludes(stderr, "2 |   *(X + missing) = 0;\n  |         ^^^^^^^\n");
  const json = JSON.parse((await tri(workspace, "check", "k", "--json")).stdout);
  const [first] = json.diagnostics;
  assertEquals([json.ok, first.code, first.file, first.line], [false, "E2001", "k/bad.tc", 2]);
});

Deno.test("tri inspect prints every phase that needs no other program", async () => {
  using workspace = new Workspace({ "k/add.tc": VECTOR_ADD });
  const expected = {
    tokens: "int r[1024]",
    ast: "vector_add",
    types: "int[1024] r =",
    ir: "func @vector_add",
    layout: "register(",
    ptx: ".target sm_90",
  };
  for (const [phase, part] of Object.entries(expected)) {
    const { code, stdout, stderr } = await tri(workspace, "inspect", "k/add.tc", "--stage", phase);
    assertEquals([code, stderr], [0, ""], phase);
    assertStringIncludes(stdout, part);
  }
});

Deno.test("tri obeys -D, --config and --grid from the command line", async () => {
  using workspace = new Workspace({
    "k/add.tc": VECTOR_ADD.replace(/#pragma.*\n/g, ""),
  });
  const missing = await tri(workspace, "check", "k");
  assertEquals(missing.code, 1, "TYPE and BLOCK are not given");
  const args = ["-DTYPE=float", "--config", "BLOCK=256; num_warps=2", "--grid", "cdiv(N, BLOCK)"];
  const { code, stderr } = await tri(workspace, ...BUILD, ...args);
  assertEquals(code, 0, stderr);
  assertStringIncludes(workspace.read("out/add/vector_add.sm_80.ptx"), ".reqntid 64");
});

test("tri build gives kernels of one name in two files an alias each in the index", async () => {
  const other = VECTOR_ADD.replaceAll("vector_add", "other");
  using workspace = new Workspace({
    "k/a.tc": VECTOR_ADD,
    "k/sub/b-c.tc": VECTOR_ADD + other,
    "k/d.tc": other.replaceAll("other", "third"),
  });
  const { code, stderr } = await tri(workspace, ...BUILD);
  assertEquals(code, 0, stderr);
  const index = workspace.read("out/mod.ts");
  for (
    const part of [
      "  vectorAdd as vectorAdd_a,\n",
      "  vectorAdd as vectorAdd_sub_b_c,\n",
      "  type VectorAddKernel as VectorAddKernel_a,\n",
      "  other,\n",
      'export * from "./d.ts";',
    ]
  ) assertStringIncludes(index, part);
  workspace.write(
    "out/test.ts",
    `import { other, third, vectorAdd_a, vectorAdd_sub_b_c, type VectorAddKernel_a } from "./mod.ts";
    const kernels: VectorAddKernel_a[] = [vectorAdd_a, vectorAdd_sub_b_c];
    console.log(kernels.length, other.variants.length, third.variants.length);`,
  );
  assertEquals(await runChecked(workspace, "out/test.ts"), "2 2 2\n");
});

Deno.test("tri check reports a kernel that no wrapper can be written for, as tri build does", async () => {
  using workspace = new Workspace({
    "k/f.tc": "__global__ void f(int *X, int gridX) {\n  *X = gridX;\n}\n",
  });
  const { code, stderr } = await tri(workspace, "check", "k");
  assertEquals([code, stderr.match(/error\[\w+\]/g)], [1, ["error[E9041]"]]);
  assertStringIncludes(stderr, "rename its parameter gridX");
});

Deno.test("tri check reports a kernel of deno.json that its file does not have", async () => {
  const kernels = { vector_ad: { grid: ["1"], options: { num_warps: 2 } } };
  using workspace = new Workspace({
    "k/add.tc": VECTOR_ADD,
    "deno.json": JSON.stringify({ tri: { files: { "k/add.tc": { kernels } } } }),
  });
  const { code, stderr } = await tri(workspace, "check", "k");
  assertEquals([code, stderr.match(/error\[\w+\]/g)], [1, ["error[E9006]"]]);
  assertStringIncludes(stderr, "there is no kernel `vector_ad` in k/add.tc");
  assertStringIncludes(stderr, "did you mean `vector_add`?");
});

Deno.test("tri inspect names the kernels there are when --kernel is none of them", async () => {
  using workspace = new Workspace({ "k/add.tc": VECTOR_ADD });
  const { code, stderr } = await tri(workspace, "inspect", "k/add.tc", "--kernel", "vector_ad");
  assertEquals(code, 2);
  assertStringIncludes(stderr, "Did you mean vector_add?");
});
