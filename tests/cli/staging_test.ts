import { readStaged, Staging } from "../../cli/staging.ts";
import { sha256, sha256OfFile } from "../../cli/hash.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { randomBytes } from "../support/random.ts";

/** A folder that is gone when the test is done. */
async function withFolder(test: (folder: string) => void): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const names = (folder: string): string[] => [...Deno.readDirSync(folder)].map(({ name }) => name);

Deno.test("Staging keeps content on disk until it is disposed", () =>
  withFolder((folder) => {
    const content = randomBytes(1000);
    {
      using staging = new Staging(folder);
      const [bytes, text] = [staging.add(content), staging.add("π")];
      assertEquals(readStaged(bytes), content);
      assertEquals([bytes.hash, bytes.bytes], [sha256(content), 1000]);
      assertEquals([text.hash, text.bytes], [sha256("π"), 2]);
    }
    assertEquals(names(folder), []);
  }));

Deno.test("Staging removes an output folder that it made in vain, and no other", () =>
  withFolder((folder) => {
    const out = `${folder}/a/b`;
    {
      using staging = new Staging(out);
      staging.add("x");
      assert(names(out).length === 1);
    }
    assertEquals(names(`${folder}/a`), []);
    {
      using staging = new Staging(folder);
      staging.add("x");
    }
    assertEquals(names(folder), ["a"]);
  }));

Deno.test("Staging clears away what a killed build left, not what another build is at", () =>
  withFolder((folder) => {
    const [old, young] = [`${folder}/.tri-staging-old`, `${folder}/.tri-staging-young`];
    Deno.mkdirSync(old);
    Deno.mkdirSync(young);
    const yesterday = new Date(Date.now() - 86_400_000);
    Deno.utimeSync(old, yesterday, yesterday);
    using staging = new Staging(folder);
    staging.add("x");
    assert(!names(folder).includes(".tri-staging-old"));
    assert(names(folder).includes(".tri-staging-young"));
  }));

Deno.test("sha256OfFile() hashes files of more than one piece", () =>
  withFolder((folder) => {
    const content = new Uint8Array(200_000).map((_, i) => i * 7);
    Deno.writeFileSync(`${folder}/file`, content);
    assertEquals(sha256OfFile(`${folder}/file`), sha256(content));
  }));
