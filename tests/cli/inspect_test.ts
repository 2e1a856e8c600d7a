/** `tri inspect` and passes: after each of them, how long they take, and going on from a file. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { REAL_MAIN, type TriResult, Workspace } from "./support/tri_process.ts";

const VECTOR_ADD = `#pragma tri config BLOCK=1024; num_warps=8
#pragma tri specialize(off)
__global__ void vector_add(float *X, float *Y, float *Z, int N) {
  int r[BLOCK] = get_program_id(0) * BLOCK + 0 ... BLOCK;
  bool check[BLOCK] = r < N;
  *?(check) (Z + r) = *?(check) (X + r) + *?(check) (Y + r);
}
`;

function inspect(workspace: Workspace, ...args: string[]): Promise<TriResult> {
  return workspace.tri(["inspect", ...args], { main: REAL_MAIN });
}

Deno.test("tri inspect --after prints the function after a pass, with what is needed to continue from it", async () => {
  using workspace = new Workspace({ "k/add.tc": VECTOR_ADD });
  const { code, stdout, stderr } = await inspect(workspace, "k/add.tc", "--after", "cse");
  assertEquals([code, stderr], [0, ""]);
  assertMatch(stdout, /^after cse \{num_warps = 8, floats = \["contract"\]\}\nfunc @vector_add\(/);
  assertEquals(stdout.match(/^func/gm)?.length, 1);
});

Deno.test("tri inspect --after '*' prints every pass, and which changes nothing", async () => {
  using workspace = new Workspace({ "k/add.tc": VECTOR_ADD });
  const { stdout } = await inspect(workspace, "k/add.tc", "--after", "*", "--arch", "sm_80");
  assertMatch(stdout, /^after build \{/);
  assertMatch(stdout, /^\/\/ accumulate: unchanged$/m);
  assertMatch(stdout, /^after assign-layouts \{target = "sm_80", num_warps = 8, /m);
});

Deno.test("tri inspect --after refuses what is no pass", async () => {
  using workspace = new Workspace({ "k/add.tc": VECTOR_ADD });
  const near = await inspect(workspace, "k/add.tc", "--after", "simplfy");
  assertEquals([near.code, near.stderr], [
    2,
    "error: --after simplfy: there is no such pass\nDid you mean simplify?\n",
  ]);
  const far = await inspect(workspace, "k/add.tc", "--after", "everything");
  assertStringIncludes(
    far.stderr,
    "Passes: simplify, straighten-loops, hoist-invariants, cse, whole-masks, zero-remainders, ",
  );
});

Deno.test("tri inspect --time prints how long each step takes", async () => {
  using workspace = new Workspace({ "k/add.tc": VECTOR_ADD });
  const { code, stdout, stderr } = await inspect(workspace, "k/add.tc", "--time");
  assertEquals([code, stderr], [0, ""]);
  for (const step of ["check", "build", "cse.2", "contract", "assign-layouts", "emit", "print"]) {
    const arch = ["assign-layouts", "emit", "print"].includes(step) ? "sm_90" : "all";
    assertMatch(
      stdout,
      new RegExp(`^vector_add +${arch} +${step.replace(".", "\\.")} +\\d+\\.\\d\\d$`, "m"),
    );
  }
  assertMatch(stdout, /^all +\d+\.\d\d +100 %$/m);
});

Deno.test("tri inspect FILE.ir continues with the named passes, or with all remaining ones", async () => {
  using workspace = new Workspace({ "k/add.tc": VECTOR_ADD });
  const before = await inspect(workspace, "k/add.tc", "--after", "build");
  const after = await inspect(workspace, "k/add.tc", "--after", "hoist-invariants");
  workspace.write("add.ir", before.stdout);
  const passes = await inspect(workspace, "add.ir", "--passes", "simplify,hoist-invariants");
  assertEquals([passes.code, passes.stdout], [0, after.stdout]);
  const until = await inspect(workspace, "add.ir", "--after", "hoist-invariants");
  assertEquals(until.stdout, after.stdout);
  const ptx = await inspect(workspace, "add.ir", "--arch", "sm_80");
  assertEquals(ptx.code, 0, ptx.stderr);
  assertStringIncludes(ptx.stdout, ".target sm_80");
  assertStringIncludes(ptx.stdout, ".reqntid 256");
});

Deno.test("tri inspect FILE.ir says what is wrong with the text or the passes", async () => {
  using workspace = new Workspace({ "f.ir": "func @f() {\n  jump\n}\n", "e.ir": "" });
  const says = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await inspect(workspace, ...args);
    assertEquals(code, 2);
    return stderr;
  };
  assertStringIncludes(await says("f.ir"), "f.ir, line 2: expected an operation, found `jump`");
  assertStringIncludes(await says("e.ir"), "e.ir has no function");
  workspace.write("f.ir", "func @f() {\n  return\n}\n");
  assertStringIncludes(
    await says("f.ir", "--passes", "cse,nothing"),
    "there is no pass nothing; there are simplify, ",
  );
});

Deno.test("tri build --verify checks the code after every pass, and builds the same", async () => {
  using workspace = new Workspace({ "k/add.tc": VECTOR_ADD });
  const build = ["build", "k", "--arch", "sm_80", "--no-cubin", "--out"];
  const options = { main: REAL_MAIN };
  assertEquals((await workspace.tri([...build, "out/a"], options)).code, 0);
  assertEquals((await workspace.tri([...build, "out/b", "--verify"], options)).code, 0);
  assertEquals(workspace.read("out/b/add.ts"), workspace.read("out/a/add.ts"));
  assertStringIncludes((await workspace.tri([...build, "out/b"], options)).stderr, "nothing to do");
});

Deno.test("tri keeps the function before a pass that fails, and says how to repeat it", async () => {
  using workspace = new Workspace({ "k/a.tc": "breaks some_kernel\n" });
  const { code, stderr } = await workspace.process(["build", "k", "--out", "out"], {
    env: { TMPDIR: `${workspace.path}/out` },
  });
  assertEquals(code, 1);
  assertStringIncludes(stderr, "Pass second failed on @some_kernel: no reason");
  const [, file = ""] = /is in (\S+\.ir);/.exec(stderr) ?? [];
  assert(file.startsWith(workspace.path), stderr);
  assertEquals(Deno.readTextFileSync(file), "func @some_kernel() {}\n");
  assertMatch(
    stderr,
    /`tri inspect \S+some_kernel\.second\.ir --passes second` repeats the failure/,
  );
});
