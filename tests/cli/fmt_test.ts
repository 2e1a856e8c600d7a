import { assertEquals, assertStringIncludes } from "../support/assert.ts";
import { Workspace } from "./support/tri_process.ts";

const UGLY = "__global__ void f( float*X ){*X=1;}\n";
const PRETTY = "__global__ void f(float *X) { *X = 1; }\n";

Deno.test("tri fmt formats files and headers of folders, and leaves other files alone", async () => {
  using workspace = new Workspace({
    "k/a.tc": UGLY,
    "k/sub/b.h": "#define  A   1\nint x=A;",
    "k/c.cu": UGLY,
    "k/node_modules/d.tc": UGLY,
    "k/e.tc": PRETTY,
  });
  const { code, stdout, stderr } = await workspace.tri(["fmt", "k"]);
  assertEquals([code, stdout, stderr], [0, "", "3 files checked, 2 changed\n"]);
  assertEquals(workspace.read("k/a.tc"), PRETTY);
  assertEquals(workspace.read("k/sub/b.h"), "#define  A   1\nint x = A;\n");
  assertEquals(workspace.read("k/c.cu"), UGLY);
  assertEquals(workspace.read("k/node_modules/d.tc"), UGLY);
  const again = await workspace.tri(["fmt"]);
  assertEquals([again.code, again.stderr], [0, "3 files checked, 0 changed\n"]);
  assertEquals((await workspace.tri(["fmt", "-q"])).stderr, "");
});

Deno.test("tri fmt --check prints a diff, writes nothing and exits with 1", async () => {
  using workspace = new Workspace({ "a.tc": UGLY, "b.tc": PRETTY });
  const { code, stdout, stderr } = await workspace.tri(["fmt", "--check", "a.tc", "b.tc", "a.tc"]);
  assertEquals([code, stderr], [1, "not formatted: a.tc\n"]);
  assertEquals(
    stdout,
    `--- a.tc\n+++ a.tc\tformatted\n@@ -1,1 +1,1 @@\n-${UGLY}+${PRETTY}`,
  );
  assertEquals(workspace.read("a.tc"), UGLY);
  const formatted = await workspace.tri(["fmt", "--check", "b.tc"]);
  assertEquals([formatted.code, formatted.stdout], [0, ""]);
});

Deno.test("tri fmt leaves a file with a syntax error as it is, reports it and formats the others", async () => {
  const broken = "__global__ void f( float*X ) { *X=1 }\n";
  const open = "int x[2;\n";
  using workspace = new Workspace({ "a.tc": UGLY, "broken.tc": broken, "open.h": open });
  const { code, stderr } = await workspace.tri(["fmt"]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, "error[E5003]: expected `;`");
  assertStringIncludes(stderr, " --> broken.tc:1:");
  assertStringIncludes(stderr, "error[E5003]: `[` is never closed\n --> open.h:1:6");
  assertEquals(workspace.read("broken.tc"), broken);
  assertEquals(workspace.read("open.h"), open);
  assertEquals(workspace.read("a.tc"), PRETTY);
});

Deno.test("tri fmt formats a file whose types are macros of deno.json or of a missing header", async () => {
  using workspace = new Workspace({
    "deno.json": '{ "tri": { "files": {} } }',
    "a.tc": '#include "nowhere.h"\nBEGIN void f( T*X )END\n',
  });
  assertEquals((await workspace.tri(["fmt", "a.tc"])).code, 0);
  assertEquals(workspace.read("a.tc"), '#include "nowhere.h"\nBEGIN void f(T *X) END\n');
});

Deno.test("tri fmt exits with 2 for operands that it cannot format", async () => {
  using workspace = new Workspace({ "a.cu": "", "empty/x.txt": "" });
  const said = async (...words: string[]): Promise<unknown[]> => {
    const { code, stderr } = await workspace.tri(["fmt", ...words]);
    return [code, stderr.split("\n")[0]];
  };
  assertEquals(await said("a.cu"), [2, "error: Not a Triton-C file: a.cu"]);
  assertEquals(await said("b.tc"), [2, "error: No such file or folder: b.tc"]);
  assertEquals(await said("empty"), [2, "error: No .tc or .h file in empty"]);
  assertEquals(await said("-", "a.cu"), [
    2,
    "error: - must be the only operand: it is text on stdin",
  ]);
});
