import { runtime as deno } from "../../../ffi/runtime/deno.ts";
import { replaceFile as nodeReplaceFile } from "../../../ffi/runtime/node_files.ts";
import { type Files, replaceWhole } from "../../../ffi/runtime/replace_whole.ts";
import { TemporaryFile } from "../../../cli/files/temporary_file.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";

const RUNTIMES = { deno: deno.replaceFile, node: nodeReplaceFile };

for (const [name, replaceFile] of Object.entries(RUNTIMES)) {
  Deno.test(`replaceFile() on ${name} leaves the new file alone in its folder, or the old one`, () => {
    const folder = Deno.makeTempDirSync();
    const names = (): string[] => [...Deno.readDirSync(folder)].map((entry) => entry.name).sort();
    const url = new URL(`file://${folder}/a.json`);
    assertEquals([replaceFile(url, "one"), replaceFile(url, "two")], [
      { kind: "written" },
      { kind: "written" },
    ]);
    assertEquals([Deno.readTextFileSync(url), names()], ["two", ["a.json"]]);
    Deno.mkdirSync(`${folder}/b.json/full`, { recursive: true });
    // A folder is not replaced; what was written for it is removed.
    assertThrows(() => replaceFile(new URL(`file://${folder}/b.json`), "three"));
    assertEquals(names(), ["a.json", "b.json"]);
    assertThrows(() => replaceFile(new URL(`file://${folder}/none/c.json`), "four"));
    Deno.removeSync(folder, { recursive: true });
  });
}

Deno.test("replaceWhole() uses the names of files that the next `tri` command removes", () => {
  const folder = Deno.makeTempDirSync();
  const files: Files = {
    write: (url) => Deno.writeTextFileSync(url, "half of it"),
    rename: () => {
      throw new Error("killed here");
    },
    // A killed process removes nothing.
    remove: () => {},
    isAbsence: () => false,
  };
  assertThrows(() => replaceWhole(new URL(`file://${folder}/a.json`), files));
  assertEquals([...Deno.readDirSync(folder)].length, 1);
  {
    using file = new TemporaryFile(folder, ".tri-replacing-", new Uint8Array(1));
    assert(Deno.statSync(file.path).isFile);
  }
  assertEquals([...Deno.readDirSync(folder)], []);
  Deno.removeSync(folder);
});

Deno.test("replaceWhole() writes again what was taken for abandoned", () => {
  const renamed: string[] = [];
  const files: Files = {
    write: () => {},
    rename: (from) => {
      renamed.push(from.href);
      if (renamed.length < 3) throw new Deno.errors.NotFound();
    },
    remove: () => {},
    isAbsence: (error) => error instanceof Deno.errors.NotFound,
  };
  assertEquals(replaceWhole(new URL("file:///a.json"), files), { kind: "written" });
  assertEquals(new Set(renamed).size, 3);
});
