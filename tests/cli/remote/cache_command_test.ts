import { assert, assertEquals, assertMatch, assertStringIncludes } from "../../support/assert.ts";
import { Workspace } from "../support/tri_process.ts";

const BUILD = ["build", "k", "--out", "out", "--arch", "sm_80", "--no-cubin"];
const FILES = {
  "k/a.tc": 'kernel one\ninclude "x.inc"\n',
  "k/x.inc": "",
  "k/b.tc": "kernel two\n",
};

Deno.test("tri build --explain says why each source is built", async () => {
  using workspace = new Workspace(FILES);
  const explained = async (): Promise<string> =>
    (await workspace.tri([...BUILD, "--explain"])).stderr.replace(/^built .*$[^]*/m, "");
  assertEquals(await explained(), "k/a.tc: not built yet\nk/b.tc: not built yet\n");
  assertStringIncludes(await explained(), "nothing to do");
  workspace.write("k/x.inc", "kernel three\n");
  workspace.write("k/b.tc", "kernel four\n");
  assertEquals(
    await explained(),
    "k/a.tc: an included file changed: k/x.inc\nk/b.tc: the source changed\n",
  );
  workspace.remove("k/b.tc");
  workspace.remove("out/a.ts");
  assertEquals(await explained(), "k/a.tc: a.ts is missing\nb: the source is gone\n");
});

Deno.test("tri cache lists sources with what was written for them, and what was changed since", async () => {
  using workspace = new Workspace(FILES);
  const empty = await workspace.tri(["cache", "--out", "out"]);
  assertEquals([empty.code, empty.stderr], [0, "nothing is recorded in out\n"]);
  await workspace.tri(BUILD);
  workspace.write("out/b.ts", "mine\n");
  const { stdout } = await workspace.tri(["cache", "list", "--out", "out"]);
  assertEquals(
    stdout,
    "k/a.tc: 1 kernel, 2 files, 240 B\nk/b.tc: 1 kernel, 2 files, 216 B; changed or missing: b.ts\n",
  );
  const json = JSON.parse((await workspace.tri(["cache", "--json", "--out", "out"])).stdout);
  assertEquals(json.sources.map(({ source }: { source: string }) => source), ["k/a.tc", "k/b.tc"]);
});

Deno.test("tri cache verify fails with 1 where files are not what tri wrote", async () => {
  using workspace = new Workspace(FILES);
  const args = ["cache", "verify", "--out", "out"];
  assertEquals((await workspace.tri(args)).stderr, "nothing is recorded in out\n");
  await workspace.tri(BUILD);
  const whole = await workspace.tri(args);
  assertEquals([whole.code, whole.stdout], [0, ""]);
  assertMatch(whole.stderr, /^[1-9]\d* files of out as written\n$/);
  workspace.write("out/b.ts", "mine\n");
  workspace.remove("out/a.ts");
  const { code, stdout, stderr } = await workspace.tri(args);
  assertEquals(code, 1);
  assertEquals(stdout.split("\n").sort().slice(1), [
    "a.ts was changed or is missing",
    "b.ts was changed or is missing",
  ]);
  assertStringIncludes(stderr, "tri build writes them again");
  const json = JSON.parse((await workspace.tri([...args, "--json"])).stdout);
  assertEquals([json.ok, json.changed.sort()], [false, ["a.ts", "b.ts"]]);
});

Deno.test("tri cache clear removes what tri wrote, and keeps what others wrote or changed", async () => {
  using workspace = new Workspace({ ...FILES, "out/notes.md": "mine\n" });
  await workspace.tri(BUILD);
  workspace.write("out/b.ts", "mine\n");
  const { code, stderr } = await workspace.tri(["cache", "clear", "--out", "out"]);
  assertEquals(code, 0);
  assertStringIncludes(stderr, "kept, because it was changed: b.ts\n");
  assertStringIncludes(stderr, "6 files removed from out\n");
  assertEquals([...workspace.files("out").keys()].sort(), ["out/b.ts", "out/notes.md"]);
  const again = await workspace.tri(["cache", "clear", "--out", "out"]);
  assertEquals([again.code, again.stderr], [0, "nothing is recorded in out\n"]);
});

Deno.test("tri cache exits with 2 for what it cannot do", async () => {
  using workspace = new Workspace();
  const { code, stderr } = await workspace.tri(["cache", "claer"]);
  assertEquals([code, stderr], [2, "error: tri cache cannot claer\nDid you mean clear?\n"]);
  assert((await workspace.tri(["cache", "list", "clear"])).code === 2);
});
