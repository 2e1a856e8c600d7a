import { assert, assertEquals } from "../support/assert.ts";
import { Workspace } from "./support/tri_process.ts";
import { Watching } from "./support/watching.ts";

const BUILD = ["build", "k", "--out", "out", "--arch", "sm_80", "--no-cubin", "--watch"];

function watching(workspace: Workspace, args: readonly string[]): Watching {
  return new Watching(workspace.command(args));
}

Deno.test("tri build --watch builds what changed, a line per build, and ends with 0 on SIGINT", async () => {
  using workspace = new Workspace({ "k/a.tc": "kernel one\n", "k/b.tc": "kernel other\n" });
  await using tri = watching(workspace, BUILD);
  await tri.line("built 2 sources");
  await tri.line("watching");
  workspace.write("k/a.tc", "kernel two\n");
  assert(/^built 1 source: .*; files: /.test(await tri.line("built")));
  assert([...workspace.files("out").keys()].includes("out/a/two.sm_80.ptx"));
  assert(![...workspace.files("out").keys()].includes("out/a/one.sm_80.ptx"));
  assertEquals(await tri.end(), 0);
});

Deno.test("tri build --watch --json prints a document a line", async () => {
  using workspace = new Workspace({ "k/a.tc": "kernel one\n" });
  const child = workspace.command([...BUILD, "--json"]).spawn();
  // If this stream was closed, writing to it would fail.
  const said = new Response(child.stderr).text();
  const found: unknown[] = [];
  let rest = "";
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    const [unfinished = "", ...lines] = `${rest}${part}`.split("\n").toReversed();
    rest = unfinished;
    for (const line of lines.toReversed()) {
      found.push(JSON.parse(line).ok);
      if (found.length === 1) workspace.write("k/a.tc", "error oh\n");
      else child.kill("SIGINT");
    }
  }
  assertEquals([(await child.status).code, found], [0, [true, false]], await said);
});

Deno.test("tri build --watch survives mistakes and builds when they are fixed", async () => {
  using workspace = new Workspace({ "k/a.tc": "kernel one\n" });
  await using tri = watching(workspace, BUILD);
  await tri.line("watching");
  workspace.write("k/a.tc", "error oh\n");
  await tri.line("error[E2001]: oh");
  await tri.line("nothing was written");
  workspace.write("k/a.tc", "kernel two\n");
  await tri.line("built 1 source");
  assertEquals(await tri.end("SIGTERM"), 0);
});

Deno.test("tri build --watch follows new, renamed and deleted files, and a folder that is deleted and made again", async () => {
  using workspace = new Workspace({ "k/a.tc": "kernel a\n" });
  await using tri = watching(workspace, BUILD);
  await tri.line("watching");
  workspace.write("k/deep/b.tc", "kernel b\n");
  await tri.line("built 1 source: 2 kernels");
  Deno.renameSync(`${workspace.path}/k/a.tc`, `${workspace.path}/k/c.tc`);
  await tri.line("built 1 source: 2 kernels");
  const files = [...workspace.files("out").keys()];
  assert(files.includes("out/c.ts") && !files.includes("out/a.ts"));
  workspace.remove("k/deep");
  await tri.line("removed");
  workspace.remove("k");
  await tri.line("error: No such file or folder: k");
  workspace.write("k/c.tc", "kernel again\n");
  await tri.line("built 1 source: 1 kernel");
  assertEquals(await tri.end(), 0);
});

Deno.test("tri build --watch sees included files, also those that were missing, and deno.json", async () => {
  using workspace = new Workspace({ "k/a.tc": 'include "x.inc"\n', "deno.json": "{}" });
  await using tri = watching(workspace, BUILD);
  await tri.line("cannot include");
  workspace.write("k/x.inc", "kernel one\n");
  await tri.line("built 1 source");
  workspace.write("k/x.inc", "kernel two\n");
  await tri.line("built 1 source");
  workspace.write("deno.json", '{ "tri": { "files": { "k/a.tc": { "defines": { "A": 1 } } } } }');
  await tri.line("built 1 source");
  workspace.write("deno.json", "{");
  await tri.line("error[E9020]");
});

Deno.test("tri check --watch checks again, and is still when nothing that counts changes", async () => {
  using workspace = new Workspace({ "k/a.tc": "kernel one\n" });
  await using tri = watching(workspace, ["check", "k", "--watch"]);
  await tri.line("1 file checked");
  await tri.line("watching");
  workspace.write("k/notes.txt", "nothing to compile\n");
  workspace.write("k/a.tc", "kernel one\n");
  workspace.write("k/b.tc", "kernel other\n");
  assertEquals(await tri.line("checked"), "2 files checked, nothing to report");
});

Deno.test("tri build --watch ends at once where it could never work", async () => {
  using workspace = new Workspace({ "k/a.tc": "kernel one\n" });
  const folder = await workspace.tri(["build", "missing", "--out", "out", "--watch"]);
  assertEquals(folder.code, 2);
  assertEquals((await workspace.tri([...BUILD, "--check"])).code, 2);
});
