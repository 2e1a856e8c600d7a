/** Builds whose inputs change while they run, and whose output cannot be written. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../../support/assert.ts";
import { testsInTurn } from "../../support/sampled.ts";
import { BUILD, Shop } from "../support/shop.ts";
import { REAL_MAIN, STUB_MAIN, type TriResult, Workspace } from "../support/tri_process.ts";

const test = testsInTurn(2);

const IMAGE = "printf '\\177ELF'";
/** What a process that was killed may leave. */
const LEFT = { "out/.tri-staging/0": "left", "out/.tri-staging.lock": "" };

test("tri build records what it compiled when files change while it runs", async () => {
  const reasons = {
    "kernels/a.tc": "the source changed",
    "kernels/i.h": "an included file changed: kernels/i.h",
  };
  for (const [name, reason] of Object.entries(reasons)) {
    using shop = new Shop({
      "kernels/a.tc": 'include "i.h"\nkernel foo\n',
      "kernels/i.h": "kernel inner\n",
    });
    Deno.renameSync(`${shop.path}/bin/ptxas`, `${shop.path}/bin/ptxas.real`);
    shop.writeProgram(
      "bin/ptxas",
      // Sources are read by the time that something is assembled.
      `case "$1" in --*) ;; *) printf '\\n' >>'${shop.path}/${name}';; esac; exec "$0.real" "$@"`,
    );
    assertEquals((await shop.build()).code, 0, name);
    assertStringIncludes((await shop.build("--check")).stderr, reason);
  }
});

test("tri build may write where the sources lie, above them and below them", async () => {
  for (const out of ["kernels", ".", "kernels/deep/out"]) {
    using shop = new Shop({ "kernels/a.tc": "kernel foo\n", "kernels/deep/b.tc": "kernel bar\n" });
    const args = ["build", "kernels", "--out", out, "--arch", "sm_80"];
    const permissions = [
      "--allow-read",
      `--allow-write=${shop.path}`,
      "--allow-run",
      "--allow-env",
    ];
    const build = (): Promise<TriResult> => shop.tri(args, shop.options);
    const { code, stderr } = await shop.tri(args, { ...shop.options, permissions });
    assertEquals(code, 0, stderr);
    assertStringIncludes(stderr, "built 2 sources");
    assertEquals(
      shop.read(`${out}/mod.ts`),
      'export * from "./a.ts";\nexport * from "./deep/b.ts";\n',
    );
    assertEquals(shop.read("kernels/a.tc"), "kernel foo\n");
    assertStringIncludes((await build()).stderr, "nothing to do: 2 kernels");
    shop.remove("kernels/a.tc");
    assertEquals((await build()).code, 0);
    assertEquals(shop.read("kernels/deep/b.tc"), "kernel bar\n");
    assertEquals(shop.read(`${out}/mod.ts`), 'export * from "./deep/b.ts";\n');
  }
});

Deno.test("tri build removes what a killed build left, also where nothing is to be built", async () => {
  using shop = new Shop({ "kernels/a.tc": "kernel foo\n" });
  await shop.build();
  const before = shop.files("out");
  for (const words of [[], ["--force"]]) {
    for (const [name, text] of Object.entries(LEFT)) shop.write(name, text);
    assertEquals((await shop.build(...words)).code, 0);
    assertEquals(shop.files("out"), before);
  }
  for (const [name, text] of Object.entries(LEFT)) shop.write(name, text);
  assertEquals((await shop.tri(["cache", "clear", "--out", "out"])).code, 0);
  assertEquals(shop.files("out").size, 0);
});

Deno.test("tri build gives assemblers a folder for their files and removes it with its content", async () => {
  using shop = new Shop(
    { "kernels/a.tc": "kernel foo\n" },
    `: >"$TMPDIR/left"; echo "warning at $TMPDIR/tmpxft_1-0_stdin, line 1" >&2; ${IMAGE}`,
  );
  const { code, stderr } = await shop.build();
  assertEquals(code, 0, stderr);
  assertStringIncludes(stderr, "foo for sm_80: warning at line 1\n");
  assert(![...shop.files("out").keys()].some((name) => name.includes("left")));
});

Deno.test("tri build takes away what an earlier build was killed before it could remove", async () => {
  using shop = new Shop({ "kernels/a.tc": "kernel foo\n", "kernels/b.tc": "kernel bar\n" });
  await shop.build();
  const old = shop.read("out/b.ts");
  shop.remove("kernels/b.tc");
  await shop.build();
  const after = shop.files("out");
  // As if the build had ended between its first record and its last.
  const record = JSON.parse(shop.read("out/.tri-build.json"));
  const { removing } = { removing: { "b.ts": await sha256(old) } };
  shop.write("out/.tri-build.json", JSON.stringify({ ...record, removing }));
  shop.write("out/b.ts", old);
  assertEquals((await shop.build()).code, 0);
  assertEquals([...shop.files("out").keys()], [...after.keys()]);
  assertStringIncludes((await shop.build()).stderr, "nothing to do");
});

Deno.test("tri build removes what a build had recorded and not replaced when it ended", async () => {
  using shop = new Shop({ "kernels/a.tc": "kernel foo\n" });
  assertEquals((await shop.build("--emit", "js")).code, 0);
  const old = shop.read("out/mod.js");
  // As if a second build had ended between its record and its index.
  const record = JSON.parse(shop.read("out/.tri-build.json"));
  const shared = { ...record.shared, "mod.js": await sha256("another index\n") };
  const removing = { "mod.js": await sha256(old) };
  shop.write("out/.tri-build.json", JSON.stringify({ ...record, shared, removing }));
  assertEquals((await shop.build()).code, 0);
  assertEquals([...shop.files("out").keys()].filter((path) => path.endsWith(".js")), []);
});

async function sha256(text: string): Promise<string> {
  const { sha256 } = await import("../../../cli/files/hash.ts");
  return sha256(text);
}

Deno.test("tri build takes a file that several operands name once, and follows no loop of links", async () => {
  using shop = new Shop({ "kernels/a.tc": "kernel foo\n", "kernels/sub/b.tc": "kernel bar\n" });
  Deno.symlinkSync("../..", `${shop.path}/kernels/sub/up`);
  Deno.symlinkSync("nowhere.tc", `${shop.path}/kernels/.#a.tc`);
  const operands = ["kernels/sub", "kernels/sub/../sub/b.tc", "kernels/a.tc", "./kernels/a.tc"];
  const { code, stderr } = await shop.build(...operands);
  assertEquals(code, 0, stderr);
  assertEquals(
    shop.read("out/mod.ts"),
    'export * from "./a.ts";\nexport * from "./sub/b.ts";\n',
  );
  Deno.symlinkSync("loop.tc", `${shop.path}/kernels/loop.tc`);
  const loop = await shop.build();
  assertEquals(loop.code, 3);
  assertStringIncludes(loop.stderr, "Circular links");
});

Deno.test("tri build refuses outputs that would be a file and a folder at once, and writes nothing", async () => {
  using shop = new Shop({ "kernels/a.tc": "kernel foo\n", "kernels/a.ts.tc": "kernel bar\n" });
  const { code, stderr } = await shop.build();
  assertEquals([code, shop.files("out").size], [2, 0]);
  assertStringIncludes(stderr, "a.ts would be a file and a folder");
});

/** `tri build` as a user who may not write where root may: root itself has to become someone else. */
async function asUser(shop: Shop, ...more: string[]): Promise<TriResult> {
  const isRoot = Deno.uid() === 0;
  const words = [Deno.execPath(), "run", "-q", "-A", "--no-check", "--no-lock", STUB_MAIN];
  const args = [...words, ...BUILD, "--no-cubin", ...more];
  const [program = "", ...rest] = isRoot
    ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", ...args]
    : args;
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: rest,
    cwd: shop.path,
    env: isRoot ? { DENO_DIR: `${shop.path}/deno`, HOME: shop.path } : {},
  }).output();
  const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  return { code, stdout: decode(stdout), stderr: decode(stderr) };
}

function hasSetpriv(): boolean {
  try {
    return new Deno.Command("setpriv", { args: ["--version"] }).outputSync().success;
  } catch {
    return false;
  }
}

Deno.test({
  name: "tri build says which folder it may not write or read, and tears nothing",
  ignore: Deno.build.os !== "linux" || (Deno.uid() === 0 && !hasSetpriv()),
  fn: async () => {
    using shop = new Shop({ "kernels/a.tc": "kernel foo\n", "kernels/sub/b.tc": "kernel bar\n" });
    Deno.mkdirSync(`${shop.path}/deno`);
    Deno.chmodSync(`${shop.path}/deno`, 0o777);
    Deno.chmodSync(shop.path, 0o755);
    const nowhere = await asUser(shop);
    if (Deno.uid() === 0) {
      assertEquals(nowhere.code, 3, nowhere.stderr);
      assertMatch(nowhere.stderr, /^error: Cannot write .*out: Permission denied\n.*--out/m);
    }
    assertEquals((await shop.build("--no-cubin")).code, 0);
    const before = shop.files("out");
    Deno.chmodSync(`${shop.path}/out`, 0o555);
    const done = await asUser(shop);
    assertEquals([done.code, done.stderr], [0, "nothing to do: 2 kernels up to date in out\n"]);
    shop.write("kernels/a.tc", "kernel foo\nkernel more\n");
    const refused = await asUser(shop);
    assertEquals(refused.code, 3, refused.stderr);
    assertMatch(refused.stderr, /^error: Cannot write .*out: Permission denied\n.*--out/m);
    Deno.chmodSync(`${shop.path}/out`, 0o755);
    assertEquals(shop.files("out"), before);
    for (const [name, mode] of [["kernels/a.tc", 0o644], ["kernels/sub", 0o755]] as const) {
      Deno.chmodSync(`${shop.path}/${name}`, 0);
      const unread = await asUser(shop);
      Deno.chmodSync(`${shop.path}/${name}`, mode);
      assertEquals(unread.code, 3, unread.stderr);
      assertMatch(unread.stderr, new RegExp(`^error: .*${name}.*\\n.*owner or the mode`, "m"));
      assertEquals(shop.files("out"), before);
    }
  },
});

Deno.test({
  name: "tri build on a full disk says so, tears nothing and leaves nothing",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    using workspace = new Workspace({ "k/a.tc": "__global__ void f(int *X) { *X = 1; }\n" });
    const args = ["build", "k", "--out", "out", "--arch", "sm_80", "--no-cubin"];
    const run = { main: REAL_MAIN };
    assertEquals((await workspace.tri(args, run)).code, 0);
    const before = workspace.files("out");
    const lines = Array.from({ length: 600 }, (_, i) => `  *(X + ${i}) = ${i};`).join("\n");
    workspace.write("k/a.tc", `__global__ void f(int *X) {\n${lines}\n}\n`);
    // A limit on the size of files simulates a full disk: 16 blocks of 512 bytes.
    const words = [Deno.execPath(), "run", "-q", "-A", "--no-check", REAL_MAIN, ...args];
    const { code, stderr } = await new Deno.Command("sh", {
      args: [
        "-c",
        `trap '' XFSZ; ulimit -f 16; exec ${words.map((word) => `'${word}'`).join(" ")}`,
      ],
      cwd: workspace.path,
    }).output();
    const said = new TextDecoder().decode(stderr);
    assertEquals(code, 3, said);
    assertMatch(said, /^error: Cannot write .*: File too large\nFree some disk space/m);
    assertEquals(workspace.files("out"), before);
    assertEquals((await workspace.tri(args, run)).code, 0);
  },
});

Deno.test("tri build --check and build refuse a --kernel that no source has", async () => {
  using shop = new Shop({ "kernels/a.tc": "kernel foo\n", "kernels/b.tc": "kernel bar\n" }, IMAGE);
  for (const words of [["--check"], []]) {
    const { code, stderr } = await shop.build(...words, "--kernel", "fop", "--grid", "1");
    assertEquals(code, 2, stderr);
    assertStringIncludes(stderr, "--kernel fop: there is no such kernel\nDid you mean foo?");
  }
  const known = await shop.build("--check", "--kernel", "bar", "--grid", "1");
  assertStringIncludes(known.stderr, "stale: kernels/a.tc: not built yet");
  assert(!shop.files("out").has("out/mod.ts"));
});
