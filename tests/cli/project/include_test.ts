import { includeFinder, probeAgain } from "../../../cli/project/include.ts";
import { sha256 } from "../../../cli/files/hash.ts";
import { assertEquals } from "../../support/assert.ts";
import { Workspace } from "../support/tri_process.ts";

const FROM = { name: "k/main.tc", text: "" };

Deno.test("includeFinder() looks beside the file first, then in the -I folders in order", () => {
  using workspace = new Workspace({ "p/k/a.h": "near", "p/i1/a.h": "one", "p/i2/b.h": "two" });
  const root = `${workspace.path}/p`;
  const { resolve } = includeFinder(root, [`${root}/i1`, `${root}/i2`]);
  assertEquals(resolve("a.h", "quoted", FROM), { name: "k/a.h", text: "near" });
  assertEquals(resolve("a.h", "angled", FROM), { name: "i1/a.h", text: "one" });
  assertEquals(resolve("b.h", "quoted", FROM), { name: "i2/b.h", text: "two" });
  assertEquals(resolve("c.h", "quoted", FROM), undefined);
});

Deno.test("includeFinder() gives the same object for the same file", () => {
  using workspace = new Workspace({ "k/a.h": "" });
  const { resolve } = includeFinder(workspace.path, []);
  const other = { name: "k/sub/x.h", text: "" };
  assertEquals(
    resolve("a.h", "quoted", FROM) === resolve("../a.h", "quoted", other),
    true,
  );
});

Deno.test("includeFinder() distinguishes a file outside the project from a missing one", () => {
  using workspace = new Workspace({ "secret.h": "", "p/k/main.tc": "" });
  const { resolve } = includeFinder(`${workspace.path}/p`, []);
  assertEquals(resolve("../../secret.h", "quoted", FROM), "outside");
  assertEquals(resolve(`${workspace.path}/secret.h`, "quoted", FROM), "outside");
  assertEquals(resolve("../../none.h", "quoted", FROM), undefined);
});

Deno.test("probeAgain() sees what changed, came and went since", () => {
  using workspace = new Workspace({ "k/a.h": "1", "i/b.h": "2" });
  const finder = includeFinder(workspace.path, [`${workspace.path}/i`]);
  finder.resolve("a.h", "quoted", FROM);
  finder.resolve("b.h", "quoted", FROM);
  assertEquals(finder.probes, { "k/a.h": sha256("1"), "k/b.h": null, "i/b.h": sha256("2") });
  assertEquals(probeAgain(workspace.path, finder.probes), finder.probes);
  workspace.write("k/a.h", "3");
  workspace.write("k/b.h", "4");
  workspace.remove("i/b.h");
  assertEquals(probeAgain(workspace.path, finder.probes), {
    "k/a.h": sha256("3"),
    "k/b.h": sha256("4"),
    "i/b.h": null,
  });
});

/** What the system has to say differs; that there is a reason counts. */
function isRefused(found: ReturnType<ReturnType<typeof includeFinder>["resolve"]>): boolean {
  return typeof found === "object" && "refused" in found && found.refused !== "";
}

Deno.test("includeFinder() opens neither devices nor pipes, and reads no file without end", () => {
  using workspace = new Workspace({ "k/main.tc": "" });
  const { resolve, probes } = includeFinder(workspace.path, []);
  Deno.symlinkSync("/dev/zero", `${workspace.path}/k/zero.h`);
  Deno.symlinkSync("circle.h", `${workspace.path}/k/circle.h`);
  new Deno.Command("mkfifo", { args: [`${workspace.path}/k/pipe.h`] }).outputSync();
  Deno.mkdirSync(`${workspace.path}/k/folder.h`);
  const large = Deno.openSync(`${workspace.path}/k/large.h`, { create: true, write: true });
  large.truncateSync(2 ** 40);
  large.close();
  for (const name of ["zero.h", "pipe.h", "large.h", "circle.h"]) {
    assertEquals([name, isRefused(resolve(name, "quoted", FROM))], [name, true]);
    assertEquals(probes[`k/${name}`], null);
  }
  assertEquals(resolve("folder.h", "quoted", FROM), undefined);
  assertEquals(resolve("/dev/zero", "quoted", FROM), "outside");
  assertEquals(resolve("../../../../../../../../dev/zero", "quoted", FROM), "outside");
  assertEquals(probeAgain(workspace.path, probes), probes);
});

Deno.test("includeFinder() takes names that no file can have", () => {
  using workspace = new Workspace({ "k/main.tc": "" });
  const { resolve } = includeFinder(workspace.path, []);
  for (const name of ["x".repeat(100_000), "a/".repeat(50_000), "a\0b"]) {
    const found = resolve(name, "quoted", FROM);
    assertEquals(found === undefined || isRefused(found), true, name.slice(0, 10));
  }
});
