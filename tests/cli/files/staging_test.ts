import { readStaged, removeAbandonedStaging, Staging } from "../../../cli/files/staging.ts";
import { sha256, sha256OfFile } from "../../../cli/files/hash.ts";
import { replaceFile } from "../../../cli/files/replace_file.ts";
import { TemporaryFile } from "../../../cli/files/temporary_file.ts";
import { Failure } from "../../../cli/failure.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";
import { randomBytes } from "../../support/random.ts";

/** A folder that is gone when the test is done. */
async function withFolder(test: (folder: string) => Promise<void> | void): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const names = (folder: string): string[] =>
  [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

Deno.test("Staging keeps content on disk until it is disposed", () =>
  withFolder(async (folder) => {
    const content = randomBytes(1000);
    {
      using staging = await Staging.open(folder);
      const [bytes, text] = [staging.add(content), staging.add("π")];
      assertEquals(readStaged(bytes), content);
      assertEquals([bytes.hash, bytes.bytes], [sha256(content), 1000]);
      assertEquals([text.hash, text.bytes], [sha256("π"), 2]);
    }
    assertEquals(names(folder), []);
  }));

Deno.test("Staging removes an output folder that it made in vain, and no other", () =>
  withFolder(async (folder) => {
    const out = `${folder}/a/b`;
    {
      using staging = await Staging.open(out);
      staging.add("x");
      assertEquals(names(out), [".tri-staging", ".tri-staging.lock"]);
    }
    assertEquals(names(`${folder}/a`), []);
    {
      using staging = await Staging.open(folder);
      staging.add("x");
    }
    assertEquals(names(folder), ["a"]);
  }));

Deno.test("A build whose output folder is removed meanwhile fails with a message, and leaves nothing", () =>
  withFolder(async (folder) => {
    const out = `${folder}/out`;
    {
      using staging = await Staging.open(out);
      Deno.removeSync(out, { recursive: true });
      assertThrows(() => staging.add("x"), Failure, "removed while the build ran");
    }
    assertEquals(names(folder), []);
    // What another build has put there stays.
    const first = await Staging.open(out);
    Deno.removeSync(out, { recursive: true });
    using second = await Staging.open(out);
    const staged = second.add("second");
    assertThrows(() => first.add("first"), Failure, "removed while the build ran");
    first[Symbol.dispose]();
    assertEquals(new TextDecoder().decode(readStaged(staged)), "second");
  }));

Deno.test("Staging waits for another build into the folder, and for no other folder", () =>
  withFolder(async (folder) => {
    const events: string[] = [];
    const first = await Staging.open(`${folder}/out`);
    const staged = first.add("first");
    using _other = await Staging.open(`${folder}/other`, () => events.push("waits in vain"));
    const second = Staging.open(`${folder}/out`, () => events.push("waits"));
    assertEquals(new TextDecoder().decode(readStaged(staged)), "first");
    events.push("first ends");
    first[Symbol.dispose]();
    using last = await second;
    last.add("second");
    assertEquals(events, ["waits", "first ends"]);
    assertEquals(names(`${folder}/out`), [".tri-staging", ".tri-staging.lock"]);
  }));

Deno.test("Staging is one process's at a time, however many want the folder", () =>
  withFolder(async (folder) => {
    let inside = 0;
    const most = await Promise.all(Array.from({ length: 20 }, async () => {
      using staging = await Staging.open(`${folder}/out`);
      const found = ++inside;
      const staged = staging.add("x");
      await new Promise((resolve) => setTimeout(resolve));
      assert(readStaged(staged).length === 1);
      inside--;
      return found;
    }));
    assertEquals(Math.max(...most), 1);
    assertEquals(names(`${folder}/out`), []);
  }));

Deno.test("removeAbandonedStaging() removes what a killed build left, not what another build is at", () =>
  withFolder(async (folder) => {
    Deno.mkdirSync(`${folder}/.tri-staging/sub`, { recursive: true });
    Deno.writeTextFileSync(`${folder}/.tri-staging/0`, "left");
    Deno.writeTextFileSync(`${folder}/.tri-staging.lock`, "");
    removeAbandonedStaging(folder);
    assertEquals(names(folder), []);
    {
      using staging = await Staging.open(folder);
      const staged = staging.add("x");
      removeAbandonedStaging(folder);
      assertEquals(readStaged(staged).length, 1);
    }
    removeAbandonedStaging(`${folder}/nowhere`);
    assertEquals(names(folder), []);
  }));

Deno.test("TemporaryFile removes those of processes that ended, not those in use", () =>
  withFolder((folder) => {
    Deno.writeTextFileSync(`${folder}/.tri-scratch-left`, "");
    Deno.writeTextFileSync(`${folder}/other`, "");
    using first = new TemporaryFile(folder, ".tri-scratch-", new Uint8Array([1, 2]));
    assertEquals(Deno.readFileSync(first.path), new Uint8Array([1, 2]));
    {
      using second = new TemporaryFile(folder, ".tri-scratch-", new Uint8Array());
      assert(second.path !== first.path);
      assertEquals(names(folder).length, 3);
    }
    assertEquals(names(folder).length, 2);
  }));

Deno.test("replaceFile() leaves nothing beside the file, and clears away what another one left", () =>
  withFolder((folder) => {
    Deno.writeTextFileSync(`${folder}/.tri-replacing-left`, "");
    for (const text of ["one", "two"]) {
      replaceFile(`${folder}/file`, text);
      assertEquals(Deno.readTextFileSync(`${folder}/file`), text);
    }
    assertEquals(names(folder), ["file"]);
  }));

Deno.test("A lock ends with the process that was killed", () =>
  withFolder(async (folder) => {
    const module = new URL("../../../cli/files/staging.ts", import.meta.url).href;
    const text = `import { Staging } from ${JSON.stringify(module)};
      const staging = await Staging.open(Deno.args[0]);
      staging.add("x");
      console.log("staged");
      await new Promise((resolve) => setTimeout(resolve, 1e6));`;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-q", "-A", `data:application/typescript,${encodeURIComponent(text)}`, folder],
      stdout: "piped",
    }).spawn();
    const reader = child.stdout.getReader();
    must((await reader.read()).value, "a line");
    removeAbandonedStaging(folder);
    assertEquals(names(folder), [".tri-staging", ".tri-staging.lock"]);
    child.kill("SIGKILL");
    await child.status;
    await reader.cancel();
    removeAbandonedStaging(folder);
    assertEquals(names(folder), []);
  }));

Deno.test("sha256OfFile() hashes files of more than one piece", () =>
  withFolder((folder) => {
    const content = new Uint8Array(200_000).map((_, i) => i * 7);
    Deno.writeFileSync(`${folder}/file`, content);
    assertEquals(sha256OfFile(`${folder}/file`), sha256(content));
  }));
