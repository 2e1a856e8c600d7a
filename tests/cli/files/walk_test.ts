import { entriesBelow, withoutGlobs } from "../../../cli/files/walk.ts";
import { assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { Workspace } from "../support/tri_process.ts";

const FILES = {
  "k/b.tc": "",
  "k/a.tc": "",
  "k/a.h": "",
  "k/deep/er/c.tc": "",
  "k/[x].tc": "",
  "k/node_modules/other/d.tc": "",
  "k/out/e.tc": "",
};

Deno.test("entriesBelow() gives files by name, without those of packages and of the folder left out", () => {
  using workspace = new Workspace(FILES);
  const top = `${workspace.path}/k`;
  assertEquals(
    entriesBelow(top, `${top}/out`).map(([path]) => path.slice(top.length)),
    ["/[x].tc", "/a.h", "/a.tc", "/b.tc", "/deep/er/c.tc"],
  );
});

Deno.test("withoutGlobs() gives the files that globs match, and leaves what exists or matches nothing", () => {
  using workspace = new Workspace(FILES);
  const found = (glob: string): string[] =>
    withoutGlobs([`${workspace.path}/${glob}`]).map((path) => path.slice(workspace.path.length));
  assertEquals(found("k/?.tc"), ["/k/a.tc", "/k/b.tc"]);
  assertEquals(found("k/{a,b}.{tc,h}"), ["/k/a.h", "/k/a.tc", "/k/b.tc"]);
  assertEquals(found("k/**/c.tc"), ["/k/deep/er/c.tc"]);
  assertEquals(found("*/deep/**/*.tc"), ["/k/deep/er/c.tc"]);
  assertEquals(found("k/[x].tc"), ["/k/[x].tc"]);
  for (const alone of ["k/*.cu", "none/*.tc", "k"]) assertEquals(found(alone), [`/${alone}`]);
});

Deno.test("tri check takes globs that a shell did not expand", async () => {
  using workspace = new Workspace({
    "k/a.tc": "__global__ void a(int* X) { *X = 1; }",
    "k/b.tc": "__global__ void b(int* X) { *X = 2; }",
  });
  const found = await workspace.tri(["check", "k/a*", "*/b.tc"]);
  assertEquals(found.code, 0);
  assertStringIncludes(found.stderr, "2 files checked, nothing to report\n");
  const { code, stderr } = await workspace.tri(["check", "k/c*.tc"]);
  assertEquals(code, 2);
  assertStringIncludes(stderr, "No such file or folder: k/c*.tc");
});
