import { cacheEntries } from "../../../cli/remote/folder_cache.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { sampled } from "../../support/sampled.ts";
import { BUILD, Shop } from "../support/shop.ts";
import { type TriResult, Workspace } from "../support/tri_process.ts";

const FILES = {
  "deno.json": "{}",
  "kernels/a.tc": 'include "i.h"\nkernel foo\n',
  "kernels/sub/b.tc": "kernel bar\n",
  "kernels/i.h": "kernel inner\n",
};

type Environment = Readonly<Record<string, string>>;

/** A folder for caches, and builds in checkouts of their own. */
class Cached extends Workspace {
  readonly folder = `${this.path}/cache`;
  readonly url = `file://${this.folder}`;

  async build(
    env: Environment = {},
    files: Readonly<Record<string, string>> = FILES,
  ): Promise<TriResult & { readonly files: Map<string, string> }> {
    using shop = new Shop(files);
    const words = [...BUILD, "--remote-cache", this.url];
    const result = await shop.tri(words, { env: { ...shop.options.env, ...env } });
    return { ...result, files: shop.files("out") };
  }

  cache(action: string, env: Environment = {}): Promise<TriResult> {
    return this.tri(["cache", action, "--remote-cache", this.url], { env });
  }
}

const notes = ({ stderr }: TriResult): string[] =>
  stderr.split("\n").filter((line) => line.startsWith("note: "));

Deno.test("tri build --remote-cache file: stores in a folder, and another checkout takes from it", async () => {
  using cached = new Cached({});
  const cold = await cached.build();
  assertEquals([cold.code, notes(cold)], [0, []], cold.stderr);
  assertStringIncludes(cold.stderr, "remote cache: 0 of 2 sources fetched, 2 stored");
  const warm = await cached.build();
  assertStringIncludes(warm.stderr, "remote cache: 2 of 2 sources fetched\n");
  assertEquals(warm.files, cold.files);
  const only = await cached.build({ TRI_REMOTE_CACHE_WRITE: "0" }, {
    ...FILES,
    "kernels/sub/b.tc": "kernel other\n",
  });
  assertStringIncludes(only.stderr, "remote cache: 1 of 2 sources fetched\n");
});

Deno.test("tri build takes any damaged entry of a folder for a miss, with one note, and stores it again", async () => {
  using cached = new Cached({});
  const cold = await cached.build();
  const entries = cacheEntries(cached.folder);
  assert(entries.length > 4);
  for (const [index, { path }] of entries.entries()) {
    const good = Deno.readFileSync(path);
    const damaged = [
      good.slice(0, -1),
      new Uint8Array(),
      good.with(good.length - 1, must(good.at(-1), "a byte") ^ 1),
      good.with(0, must(good[0], "a byte") ^ 1),
    ];
    for (const bad of sampled(damaged, 1, index)) {
      Deno.writeFileSync(path, bad);
      const verified = await cached.cache("verify");
      assertEquals([verified.code, verified.stdout], [
        1,
        `${path} is damaged; the next build ignores it\n`,
      ]);
      const again = await cached.build();
      assertEquals([again.code, notes(again).length], [0, 1], again.stderr);
      assertEquals(again.files, cold.files);
      assertEquals(Deno.readFileSync(path), good);
    }
  }
  assertEquals((await cached.cache("verify")).code, 0);
});

Deno.test("tri build removes from a folder what was used least recently", async () => {
  using cached = new Cached({});
  await cached.build();
  const bytes = cacheEntries(cached.folder).reduce((sum, entry) => sum + entry.bytes, 0);
  for (const { path } of cacheEntries(cached.folder)) Deno.utimeSync(path, 1000, 1000);
  const other = { ...FILES, "kernels/a.tc": "kernel other\n" };
  // The second source is taken from the cache, so it counts as used.
  const grown = await cached.build({ TRI_REMOTE_CACHE_LIMIT: String(bytes) }, other);
  assertStringIncludes(grown.stderr, "1 of 2 sources fetched, 1 stored");
  const left = cacheEntries(cached.folder);
  assert(left.reduce((sum, entry) => sum + entry.bytes, 0) <= bytes);
  assertStringIncludes((await cached.build({}, other)).stderr, "2 of 2 sources fetched");
  const first = await cached.build();
  assertEquals([first.code, notes(first)], [0, []]);
  assertStringIncludes(first.stderr, "1 of 2 sources fetched, 1 stored");
  const wrong = await cached.build({ TRI_REMOTE_CACHE_LIMIT: "much" });
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.stderr, "TRI_REMOTE_CACHE_LIMIT=much: not a size");
});

Deno.test("tri cache lists and clears the cache in a folder", async () => {
  using cached = new Cached({});
  await cached.build();
  const count = cacheEntries(cached.folder).length;
  const listed = await cached.cache("list", { TRI_REMOTE_CACHE_LIMIT: "500K" });
  assertStringIncludes(listed.stdout, `cache ${cached.folder}: ${count} entries, `);
  assertStringIncludes(listed.stdout, "kB of at most 512 kB\n");
  assertStringIncludes((await cached.cache("list")).stdout, "kB of at most 4.29 GB\n");
  const cleared = await cached.cache("clear");
  assertEquals(cleared.stderr, `${count} entries removed from ${cached.folder}\n`);
  assertEquals(cacheEntries(cached.folder), []);
  const server = await cached.tri(["cache", "clear", "--remote-cache", "http://cache"]);
  assertEquals(server.code, 2);
  assertStringIncludes(server.stderr, "not the URL of a folder");
});

Deno.test("tri build goes on with one note where the folder of a cache cannot be used", async () => {
  using cached = new Cached({ "cache": "a file" });
  const built = await cached.build();
  assertEquals([built.code, notes(built).length], [0, 1], built.stderr);
  assertStringIncludes(built.stderr, "building without it");
  const nowhere = await cached.tri(["cache", "--remote-cache", "file://host/folder"]);
  assertEquals(nowhere.code, 2);
  assertStringIncludes(nowhere.stderr, "not the URL of a folder of this machine");
});
