import { assert, assertEquals, assertMatch, assertStringIncludes } from "../../support/assert.ts";
import { CacheServer, type Fault } from "../support/cache_server.ts";
import { BUILD, Shop } from "../support/shop.ts";
import type { TriResult } from "../support/tri_process.ts";

const FILES = {
  "deno.json": "{}",
  "kernels/a.tc": 'include "i.h"\nkernel foo\n',
  "kernels/sub/b.tc": "kernel bar\n",
  "kernels/i.h": "kernel inner\n",
};

type Environment = Readonly<Record<string, string>>;

/** A build in a checkout of its own; what it wrote, and what it said. */
async function build(
  args: readonly string[],
  env: Environment = {},
  files: Readonly<Record<string, string>> = FILES,
): Promise<TriResult & { readonly files: Map<string, string> }> {
  using shop = new Shop(files);
  const result = await shop.tri([...BUILD, ...args], { env: { ...shop.options.env, ...env } });
  return { ...result, files: shop.files("out") };
}

const writing = (url: string): string[] => ["--remote-cache", url, "--remote-cache-write"];
const reading = (url: string): string[] => ["--remote-cache", url];
const notes = ({ stderr }: TriResult): string[] =>
  stderr.split("\n").filter((line) => line.startsWith("note: "));

Deno.test("tri build --remote-cache gives a second checkout the bytes of the first", async () => {
  await using server = new CacheServer();
  const cold = await build(writing(server.url));
  assertEquals([cold.code, notes(cold)], [0, []], cold.stderr);
  assertStringIncludes(cold.stderr, "remote cache: 0 of 2 sources fetched, 2 stored");
  assertEquals(server.paths("ac").length, 4);

  const warm = await build(reading(server.url));
  assertEquals([warm.code, notes(warm)], [0, []], warm.stderr);
  assertStringIncludes(warm.stderr, "remote cache: 2 of 2 sources fetched\n");
  assertEquals(warm.files, cold.files);
  assertEquals(cold.files, (await build([])).files);
  assertStringIncludes((await build(reading(server.url))).stderr, "built 2 sources: 3 kernels");
});

Deno.test("tri build --remote-cache stores nothing without --remote-cache-write, and contents before entries with it", async () => {
  await using server = new CacheServer();
  await build(reading(server.url));
  assertEquals(server.values.size, 0);
  await build([...reading(server.url)], { TRI_REMOTE_CACHE_WRITE: "1" });
  const puts = server.requests.filter((line) => line.startsWith("PUT"));
  const firstEntry = puts.findIndex((line) => line.includes("/ac/"));
  assert(firstEntry > 0 && puts.slice(firstEntry).every((line) => line.includes("/ac/")));
  // What is there is not sent again.
  server.requests.length = 0;
  await build([...writing(server.url), "--force"]);
  assertEquals(server.requests.filter((line) => line.startsWith("PUT /team/cas")), []);
});

Deno.test("tri build --remote-cache fetches what fits the includes, options and sources, and only that", async () => {
  await using server = new CacheServer();
  const other = { ...FILES, "kernels/i.h": "kernel inner\nkernel more\n" };
  const first = await build(writing(server.url));
  const second = await build(writing(server.url), {}, other);
  assertStringIncludes(second.stderr, "remote cache: 1 of 2 sources fetched, 1 stored");
  for (const [files, expected] of [[FILES, first], [other, second]] as const) {
    const again = await build(reading(server.url), {}, files);
    assertStringIncludes(again.stderr, "2 of 2 sources fetched");
    assertEquals(again.files, expected.files);
  }
  for (const options of [["-D", "N=2"], ["--no-cubin"], ["--emit", "js"], ["--embed"]]) {
    const result = await build([...reading(server.url), ...options]);
    assertStringIncludes(result.stderr, "0 of 2 sources fetched", options.join(" "));
  }
  // The same text at another place has another wrapper.
  const moved = await build(reading(server.url), {}, {
    "deno.json": "{}",
    "kernels/b.tc": "kernel bar\n",
  });
  assertStringIncludes(moved.stderr, "0 of 1 source fetched");
});

Deno.test("tri build --remote-cache does not ask when the output folder has it, nor with --force", async () => {
  await using server = new CacheServer();
  using shop = new Shop(FILES);
  await shop.build(...writing(server.url));
  server.requests.length = 0;
  assertStringIncludes((await shop.build(...reading(server.url))).stderr, "nothing to do");
  assertStringIncludes((await shop.build(...reading(server.url), "--force")).stderr, "0 of 2");
  assertEquals(server.requests, []);
});

Deno.test("tri build --remote-cache does not store sources with warnings, so everyone sees them", async () => {
  await using server = new CacheServer();
  const files = { ...FILES, "kernels/sub/b.tc": "warn odd\nkernel bar\n" };
  const first = await build(writing(server.url), {}, files);
  assertStringIncludes(first.stderr, "0 of 2 sources fetched, 1 stored");
  const second = await build(reading(server.url), {}, files);
  assertStringIncludes(second.stderr, "1 of 2 sources fetched");
  assertStringIncludes(second.stderr, "warning[W1003]: odd");
});

const FAULTS: readonly (readonly [string, Fault, RegExp])[] = [
  ["a poisoned blob", { kind: "poisoned" }, /has another hash; compiling that source here$/],
  ["a blob without end", { kind: "endless" }, /has another hash; compiling that source here$/],
  ["a server that dies half-way", { kind: "half" }, /; building without it$/],
  ["a slow server", { kind: "slow" }, /: no answer in 0\.2 s; building without it$/],
  [
    "a server that answers 401",
    { kind: "status", status: 401, methods: ["GET"] },
    /: 401 Unauthorized \(TRI_REMOTE_CACHE_TOKEN.*\); building without it$/,
  ],
  [
    "a server with a defect",
    { kind: "status", status: 500, methods: ["GET", "PUT", "HEAD"] },
    /: 500 Internal Server Error; building without it$/,
  ],
];

for (const [what, fault, note] of FAULTS) {
  Deno.test(`tri build --remote-cache takes ${what} as a miss, with one note`, async () => {
    const plain = await build([]);
    await using server = new CacheServer();
    await build(writing(server.url));
    server.fault = fault;
    // The others answer, be it late on a machine that is busy.
    const limit = fault.kind === "slow" ? "0.2" : "30";
    const result = await build(reading(server.url), { TRI_REMOTE_CACHE_TIMEOUT: limit });
    assertEquals([result.code, notes(result).length], [0, 1], result.stderr);
    assertMatch(notes(result)[0] ?? "", note);
    assertEquals(result.files, plain.files);
  });
}

Deno.test("tri build --remote-cache-write mends a poisoned blob", async () => {
  await using server = new CacheServer();
  await build(writing(server.url));
  for (const path of server.paths("cas")) server.values.set(path, new Uint8Array([1, 2, 3]));
  const mending = await build(writing(server.url));
  assertEquals([mending.code, notes(mending).length], [0, 1], mending.stderr);
  // Records were wrong, so files were not asked for: the second build finds those.
  await build(writing(server.url));
  const mended = await build(reading(server.url));
  assertEquals(notes(mended), []);
  assertStringIncludes(mended.stderr, "2 of 2 sources fetched");
});

Deno.test("tri build --remote-cache-write reads on where the server refuses to store", async () => {
  await using server = new CacheServer();
  await build(writing(server.url));
  server.fault = { kind: "status", status: 403, methods: ["PUT"] };
  const files = { ...FILES, "kernels/c.tc": "kernel third\n" };
  const result = await build(writing(server.url), {}, files);
  assertEquals(result.code, 0);
  assertEquals(notes(result).length, 1);
  assertMatch(notes(result)[0] ?? "", /: 403 Forbidden; nothing more is stored$/);
  assertStringIncludes(result.stderr, "remote cache: 2 of 3 sources fetched\n");
});

Deno.test("tri build --remote-cache builds where no server listens", async () => {
  const server = new CacheServer();
  const { url } = server;
  await server[Symbol.asyncDispose]();
  const result = await build(writing(url));
  assertEquals([result.code, notes(result).length], [0, 1], result.stderr);
  assertMatch(notes(result)[0] ?? "", /Connection refused; building without it$/);
});

Deno.test("tri build --remote-cache writes nothing that an entry of the cache puts elsewhere", async () => {
  await using server = new CacheServer();
  await build(writing(server.url));
  // `out/a.ts` of the list becomes a path of the same length that leaves the folder.
  for (const path of server.paths("ac")) {
    const bytes = server.values.get(path) ?? new Uint8Array();
    const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("").replace(
      "\x04a.ts",
      "\x04../x",
    );
    server.values.set(path, Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
  }
  const result = await build(reading(server.url));
  assertEquals([result.code, notes(result).length], [0, 1], result.stderr);
  assertStringIncludes(notes(result)[0] ?? "", "its entry for kernels/a.tc is not one of tri");
  assertEquals(result.files, (await build([])).files);
});

Deno.test("tri build --remote-cache proves who asks by a token or a password of the environment", async () => {
  const tries: readonly (readonly [string, Environment])[] = [
    ["Bearer s3cret", { TRI_REMOTE_CACHE_TOKEN: "s3cret" }],
    // `printf 'ci:pässword' | base64`
    ["Basic Y2k6cMOkc3N3b3Jk", {
      TRI_REMOTE_CACHE_USER: "ci",
      TRI_REMOTE_CACHE_PASSWORD: "pässword",
    }],
  ];
  for (const [authorization, env] of tries) {
    await using server = new CacheServer({ authorization });
    const cold = await build(writing(server.url), env);
    assertStringIncludes(cold.stderr, "2 stored");
    assertStringIncludes((await build(reading(server.url), env)).stderr, "2 of 2");
    const unknown = await build(reading(server.url));
    assertStringIncludes(notes(unknown)[0] ?? "", "401");
    assert(!cold.stderr.includes("s3cret"));
  }
});

Deno.test("tri build --remote-cache stores frames of zstd if told to, and reads both", async () => {
  await using server = new CacheServer();
  const cold = await build(writing(server.url), { TRI_REMOTE_CACHE_ZSTD: "1" });
  assert(server.encodings.includes("zstd"));
  const warm = await build(reading(server.url));
  assertStringIncludes(warm.stderr, "2 of 2 sources fetched");
  assertEquals(warm.files, cold.files);
});

Deno.test("tri build takes the remote cache from the option, the environment, deno.json, in this order", async () => {
  await using server = new CacheServer();
  const stated = {
    ...FILES,
    "deno.json": JSON.stringify({ tri: { remoteCache: server.url } }),
  };
  assertStringIncludes((await build(["--remote-cache-write"], {}, stated)).stderr, "2 stored");
  // The path of the project is no part of a key, the text of deno.json neither.
  const other = { TRI_REMOTE_CACHE: server.url };
  assertStringIncludes((await build([], other)).stderr, "2 of 2 sources fetched");
  const off = await build(["--remote-cache", "off"], other, stated);
  assert(!off.stderr.includes("remote cache"));
});

const MISTAKES: readonly (readonly [string, readonly string[], Environment, string])[] = [
  [
    "a URL without scheme",
    ["--remote-cache", "cache.example.com:8080"],
    {},
    "error: --remote-cache cache.example.com:8080: a URL without scheme\nDid you mean http://cache.example.com:8080?",
  ],
  [
    "a scheme that tri does not speak",
    [],
    { TRI_REMOTE_CACHE: "grpc://cache:9092" },
    "error: TRI_REMOTE_CACHE grpc://cache:9092: tri does not speak grpc",
  ],
  [
    "a password in the URL",
    ["--remote-cache", "http://me:secret@cache/"],
    {},
    "a URL with a user or a password",
  ],
  ["a query", ["--remote-cache", "http://cache/?a=b"], {}, "a URL with ? or #"],
  ["no host", ["--remote-cache", "http://"], {}, "not a URL"],
  ["writing to no cache", ["--remote-cache-write"], {}, "no remote cache is stated"],
  [
    "a time-out that is no number",
    ["--remote-cache", "http://cache"],
    { TRI_REMOTE_CACHE_TIMEOUT: "soon" },
    "TRI_REMOTE_CACHE_TIMEOUT=soon: not a number of seconds",
  ],
  [
    "a switch that is neither 0 nor 1",
    ["--remote-cache", "http://cache"],
    { TRI_REMOTE_CACHE_ZSTD: "yes" },
    "TRI_REMOTE_CACHE_ZSTD=yes: neither 0 nor 1",
  ],
  [
    "a token beside a user",
    ["--remote-cache", "http://cache"],
    { TRI_REMOTE_CACHE_TOKEN: "a", TRI_REMOTE_CACHE_USER: "b" },
    "exclude each other",
  ],
  [
    "a password without a user",
    ["--remote-cache", "http://cache"],
    { TRI_REMOTE_CACHE_PASSWORD: "b" },
    "TRI_REMOTE_CACHE_USER is not",
  ],
];

for (const [what, args, env, message] of MISTAKES) {
  Deno.test(`tri build refuses ${what}`, async () => {
    const result = await build(args, env);
    assertEquals(result.code, 2, result.stderr);
    assertStringIncludes(result.stderr, message);
    assert(!result.stderr.includes("    at "));
    assertEquals(result.files.size, 0);
  });
}

Deno.test("tri build refuses a wrong remote cache of deno.json with its location", async () => {
  for (const [value, message] of [['"cache:8080"', "a URL without scheme"], ["3", "a number"]]) {
    const files = { ...FILES, "deno.json": `{ "tri": { "remoteCache": ${value} } }` };
    const result = await build([], {}, files);
    assertEquals(result.code, 1);
    assertStringIncludes(result.stderr, "error[E9020]");
    assertStringIncludes(result.stderr, message ?? "");
  }
});

Deno.test("tri build names the permission that it lacks to reach the cache", async () => {
  using shop = new Shop(FILES);
  const result = await shop.process([...BUILD, ...reading("http://127.0.0.1:1")], shop.options);
  assertEquals(result.code, 0, result.stderr);
  assertStringIncludes(notes(result)[0] ?? "", "run deno with --allow-net=127.0.0.1:1");
});
