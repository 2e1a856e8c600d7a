import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../../support/assert.ts";
import { BUILD, Shop } from "../support/shop.ts";
import { fakePtxas, Workspace } from "../support/tri_process.ts";

const TWO_KERNELS = { "kernels/a.tc": "kernel foo\n", "kernels/sub/b.tc": "kernel bar\n" };

Deno.test("tri build writes wrappers, images, index, manifest and its own record", async () => {
  using shop = new Shop(TWO_KERNELS);
  const { code, stdout, stderr } = await shop.build();
  assertEquals([code, stdout], [0, ""], stderr);
  assertEquals([...shop.files("out").keys()].sort(), [
    "out/.tri-build.json",
    "out/a.ts",
    "out/a/foo.sm_80.cubin",
    "out/a/foo.sm_80.ptx",
    "out/manifest.json",
    "out/mod.ts",
    "out/sub/b.ts",
    "out/sub/b/bar.sm_80.cubin",
    "out/sub/b/bar.sm_80.ptx",
  ]);
  assertMatch(
    stderr,
    /^built 2 sources: 2 kernels, 2 variants, 2 instances in out in (?:\d+s )?\d+ms$/m,
  );
  assertStringIncludes(stderr, "files: 9 written, 0 unchanged");
});

Deno.test("tri build --emit js writes JavaScript, and TypeScript again without it", async () => {
  using shop = new Shop(TWO_KERNELS);
  await shop.build();
  const { code, stderr } = await shop.build("--emit", "js");
  assertEquals(code, 0, stderr);
  const scripts = (): string[] =>
    [...shop.files("out").keys()].filter((name) => /[jt]s$/.test(name));
  assertEquals(scripts().sort(), ["out/a.js", "out/mod.js", "out/sub/b.js"]);
  assertStringIncludes((await shop.build("--emit", "js")).stderr, "nothing to do");
  await shop.build();
  assertEquals(scripts().sort(), ["out/a.ts", "out/mod.ts", "out/sub/b.ts"]);
  const wrong = await shop.build("--emit", "python");
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.stderr, "--emit python: not one of ts, js");
});

Deno.test("tri build does nothing the second time and says so", async () => {
  using shop = new Shop(TWO_KERNELS);
  await shop.build();
  const before = shop.mtimes();
  const { code, stderr } = await shop.build();
  assertEquals([code, stderr], [0, "nothing to do: 2 kernels up to date in out\n"]);
  assertEquals(shop.mtimes(), before);
});

Deno.test("tri build --quiet says nothing where all is well, and what is wrong as ever", async () => {
  using shop = new Shop({ "kernels/a.tc": "kernel foo\n" });
  const { code, stdout, stderr } = await shop.build("--quiet");
  assertEquals([code, stdout, stderr], [0, "", ""]);
  assertEquals((await shop.build("-q")).stderr, "");
  shop.write("kernels/a.tc", "kernel foo\nerror oops\n");
  const failed = await shop.build("-q");
  assertEquals(failed.code, 1);
  assertStringIncludes(failed.stderr, "error[E2001]: oops");
});

Deno.test("tri build rebuilds what changed and keeps files whose bytes are the same", async () => {
  using shop = new Shop(TWO_KERNELS);
  await shop.build();
  const before = shop.mtimes();
  shop.write("kernels/a.tc", "kernel foo\n\n");
  const { stderr } = await shop.build();
  assertStringIncludes(stderr, "built 1 source: 2 kernels");
  assertStringIncludes(stderr, "files: 1 written, 8 unchanged");
  const changed = [...shop.mtimes()].filter(([name, time]) => before.get(name) !== time);
  assertEquals(changed.map(([name]) => name), ["out/.tri-build.json"]);
});

Deno.test("tri build sees changes of includes, also of files that were missing before", async () => {
  using shop = new Shop({
    "deno.json": "{}",
    "kernels/a.tc": 'include "i.h"\nkernel foo\n',
    "lib/i.h": "kernel inner\n",
  });
  const args = ["-I", "lib"];
  assertStringIncludes((await shop.build(...args)).stderr, "2 kernels");
  shop.write("lib/i.h", "kernel inner\nkernel more\n");
  assertStringIncludes((await shop.build(...args)).stderr, "3 kernels");
  shop.write("kernels/i.h", "kernel nearer\n");
  assertStringIncludes((await shop.build(...args, "--check")).stderr, "an included file changed");
  assertStringIncludes((await shop.build(...args)).stderr, "2 kernels");
  assertStringIncludes((await shop.build(...args)).stderr, "nothing to do");
});

Deno.test("tri build rebuilds for other options, another ptxas, and with --force", async () => {
  using shop = new Shop({ "kernels/a.tc": "kernel foo\n" });
  await shop.build();
  assertStringIncludes((await shop.build("-D", "X=1", "--check")).stderr, "the options changed");
  shop.writeProgram("bin/ptxas", fakePtxas({ version: "99.2", archs: ["sm_80"] }));
  assertStringIncludes((await shop.build("--check")).stderr, "the assemblers changed");
  assertStringIncludes((await shop.build()).stderr, "built 1 source");
  assertStringIncludes((await shop.build()).stderr, "nothing to do");
  assertStringIncludes((await shop.build("--force")).stderr, "files: 0 written, 6 unchanged");
});

Deno.test("tri build removes what a source that is gone had given", async () => {
  using shop = new Shop(TWO_KERNELS);
  await shop.build();
  shop.remove("kernels/sub");
  const { stderr } = await shop.build();
  assertStringIncludes(stderr, "3 removed");
  assert(!shop.files("out").has("out/sub/b.ts"));
  assert([...Deno.readDirSync(`${shop.path}/out`)].every(({ name }) => name !== "sub"));
  assertEquals(shop.read("out/mod.ts"), 'export * from "./a.ts";\n');
});

Deno.test("tri build of one file leaves the others' output in place", async () => {
  using shop = new Shop({ "kernels/a.tc": "kernel foo\n", "kernels/b.tc": "kernel bar\n" });
  await shop.build();
  shop.write("kernels/a.tc", "kernel foo\nkernel extra\n");
  const { stderr } = await shop.tri(
    ["build", "kernels/a.tc", "--out", "out", "--arch", "sm_80"],
    shop.options,
  );
  assertStringIncludes(stderr, "built 1 source: 3 kernels");
  assertStringIncludes(shop.read("out/mod.ts"), "./b.ts");
  assertStringIncludes((await shop.build()).stderr, "nothing to do: 3 kernels");
});

Deno.test("tri build repairs output that was edited or deleted", async () => {
  using shop = new Shop(TWO_KERNELS);
  await shop.build();
  const before = shop.files("out");
  shop.write("out/a.ts", "// edited\n");
  shop.remove("out/sub/b/bar.sm_80.cubin");
  assertEquals(
    (await shop.build("--check")).stderr,
    "stale: kernels/a.tc: a.ts was changed\n" +
      "stale: kernels/sub/b.tc: sub/b/bar.sm_80.cubin is missing\n" +
      "out is not up to date; run tri build\n",
  );
  await shop.build();
  assertEquals(shop.files("out"), before);
  shop.remove("out/manifest.json");
  await shop.build();
  assertEquals(shop.files("out"), before);
});

Deno.test("tri build --check exits with 1 when stale, 0 when not, and writes nothing", async () => {
  using shop = new Shop(TWO_KERNELS);
  const first = await shop.build("--check");
  assertEquals([first.code, shop.files("out").size], [1, 0]);
  assertStringIncludes(first.stderr, "stale: kernels/a.tc: not built yet");
  await shop.build();
  const before = shop.files("out");
  assertEquals((await shop.build("--check")).code, 0);
  shop.write("kernels/a.tc", "kernel other\n");
  shop.remove("kernels/sub/b.tc");
  const json: unknown = JSON.parse((await shop.build("--check", "--json")).stdout);
  assertEquals(json, {
    schemaVersion: 1,
    ok: false,
    stale: [
      { source: "kernels/a.tc", reason: "the source changed" },
      { source: "sub/b", reason: "the source is gone" },
    ],
    out: "out",
    diagnostics: [],
  });
  assertEquals(shop.files("out"), before);
});

Deno.test("tri build reports all errors of all files, exits with 1 and writes nothing", async () => {
  using shop = new Shop({
    "kernels/a.tc": "kernel foo\nerror first\nerror second\n",
    "kernels/b.tc": "error third\n",
  });
  const { code, stderr } = await shop.build();
  assertEquals(code, 1);
  for (const part of ["first", "kernels/a.tc:3:1", "third", "3 errors", "nothing was written"]) {
    assertStringIncludes(stderr, part);
  }
  assertEquals(shop.files("out").size, 0);
});

Deno.test("tri build leaves an earlier output alone when there is an error", async () => {
  using shop = new Shop(TWO_KERNELS);
  await shop.build();
  const before = shop.files("out");
  shop.write("kernels/a.tc", "error oops\n");
  assertEquals((await shop.build()).code, 1);
  assertEquals(shop.files("out"), before);
});

Deno.test("tri build gives the same bytes in any folder and with any number of jobs", async () => {
  using one = new Workspace(TWO_KERNELS);
  using two = new Workspace(TWO_KERNELS);
  const args = ["build", "kernels", "--out", "out"];
  assertEquals((await one.tri([...args, "--jobs", "1"])).code, 0);
  assertEquals((await two.tri([...args, "--jobs", "7"])).code, 0);
  assertEquals(one.files("out"), two.files("out"));
  for (const [name] of one.files("out")) {
    if (/\.(json|ts|ptx)$/.test(name)) assert(!one.read(name).includes(one.path), name);
  }
});

Deno.test("tri build without a ptxas writes PTX and says which cubins are missing", async () => {
  using workspace = new Workspace({ "kernels/a.tc": "kernel foo\n" });
  // Toolkits in the usual folders may not be run here, which is the same as not being there.
  const permissions = ["--allow-read", `--allow-write=${workspace.path}/out`, "--allow-env"];
  const { code, stderr } = await workspace.tri(BUILD, { permissions, env: { PATH: "" } });
  assertEquals(code, 0, stderr);
  assert(workspace.files("out").has("out/a/foo.sm_80.ptx"));
  assert(!workspace.files("out").has("out/a/foo.sm_80.cubin"));
  assertStringIncludes(stderr, "cubins not made");
  assertStringIncludes(stderr, "sm_80: no ptxas found (1 kernel)");
});

Deno.test("tri build takes an assembler per architecture and names those without one", async () => {
  using shop = new Shop({ "kernels/a.tc": "kernel foo\n" });
  const old = shop.writeProgram(
    "old/ptxas",
    fakePtxas({ version: "11.8", archs: ["sm_70", "sm_80"] }),
  );
  const env = { PATH: `${shop.path}/bin:/bin`, TRI_PTXAS: old };
  const { code, stdout } = await shop.tri(
    ["build", "kernels", "--out", "out", "--arch", "sm_120,sm_80,sm_70", "--json"],
    {
      env,
      permissions: [
        "--allow-read",
        "--allow-env",
        `--allow-write=${shop.path}/out`,
        `--allow-run=${old},${shop.path}/bin/ptxas`,
      ],
    },
  );
  assertEquals(code, 0);
  assertEquals(shop.read("out/a/foo.sm_80.cubin"), "\x7fELFimage 99.1 -arch=sm_80");
  assertEquals(shop.read("out/a/foo.sm_70.cubin"), "\x7fELFimage 11.8 -arch=sm_70");
  const json = JSON.parse(stdout);
  assertEquals(json.skipped, [{
    arch: "sm_120",
    kernel: "foo",
    reason: "no installed ptxas supports sm_120 (found 99.1.1, 11.8.1)",
  }]);
});

Deno.test("tri build shows the assembler's warnings, and fails on them with --werror", async () => {
  using shop = new Shop(
    { "kernels/a.tc": "kernel foo\n" },
    "printf '\\177ELF'; echo 'ptxas info : (C7508) wgmma serialized' >&2",
  );
  const { code, stderr } = await shop.build("--werror");
  assertEquals([code, shop.files("out").size], [1, 0]);
  assertStringIncludes(stderr, "foo for sm_80: ptxas info : (C7508) wgmma serialized");
  const relaxed = await shop.build();
  assertEquals(relaxed.code, 0);
  assertStringIncludes(relaxed.stderr, "warning: foo for sm_80: ptxas info : (C7508)");
});

Deno.test("tri build calls a refusal by ptxas a defect and writes nothing", async () => {
  using shop = new Shop(
    { "kernels/a.tc": "kernel foo\n" },
    "echo 'ptxas fatal : bad line' >&2; exit 255",
  );
  const { code, stderr } = await shop.build();
  assertEquals([code, shop.files("out").size], [1, 0]);
  assertStringIncludes(stderr, "refused the code of foo for sm_80");
  assertStringIncludes(stderr, "ptxas fatal : bad line");
});

Deno.test("tri build --no-cubin and --embed change what is written", async () => {
  using shop = new Shop({ "kernels/a.tc": "kernel foo\n" });
  await shop.build("--no-cubin");
  assert(!shop.files("out").has("out/a/foo.sm_80.cubin"));
  const { stderr } = await shop.build("--embed");
  assertStringIncludes(stderr, "1 removed");
  assertEquals([...shop.files("out").keys()].sort(), [
    "out/.tri-build.json",
    "out/a.ts",
    "out/manifest.json",
    "out/mod.ts",
  ]);
});

Deno.test("tri build does not overwrite files that it did not write", async () => {
  using shop = new Shop({ "kernels/a.tc": "kernel foo\n", "out/mod.ts": "// mine\n" });
  const { code, stderr } = await shop.build();
  assertEquals(code, 2);
  assertStringIncludes(stderr, "was not written by tri");
  assertEquals([...shop.files("out").keys()], ["out/mod.ts"]);
  assertEquals((await shop.build("--force")).code, 0);
});

Deno.test("tri build --json has the shape that scripts rely on", async () => {
  using shop = new Shop({ "kernels/a.tc": "kernel foo\nwarn odd\n" });
  const first = await shop.build("--json");
  const json = JSON.parse(first.stdout);
  assertEquals(Object.keys(json).sort(), [
    "diagnostics",
    "instances",
    "kernels",
    "ok",
    "out",
    "removed",
    "schemaVersion",
    "skipped",
    "unchanged",
    "upToDate",
    "variants",
    "warnings",
    "written",
  ]);
  assertEquals([json.ok, json.kernels, json.diagnostics], [true, 1, [
    { code: "W1003", message: "odd" },
  ]]);
  assertEquals(first.stderr, "");
  const second = JSON.parse((await shop.build("--json")).stdout);
  assertEquals([second.ok, second.upToDate, second.kernels], [true, true, 1]);
});

Deno.test("tri build obeys the tri key of deno.json, and the command line beats it", async () => {
  const tri = {
    files: { "kernels/a.tc": { defines: { N: 1, M: 2 }, kernels: { foo: { grid: ["M"] } } } },
  };
  using shop = new Shop({
    "deno.json": `// settings\n${JSON.stringify({ tri })}`,
    "kernels/a.tc": "kernel foo\n",
  });
  const inspect = await shop.tri(
    ["inspect", "kernels/a.tc", "--stage", "ast", "--num-warps", "8"],
    shop.options,
  );
  assertStringIncludes(inspect.stdout, "grid(M)");
  assertStringIncludes(inspect.stdout, "num_warps=8");
  const over = await shop.tri(["inspect", "kernels/a.tc", "--grid", "N"], shop.options);
  assertStringIncludes(over.stdout, "grid(N)");
  assert(!over.stdout.includes("grid(M)"));
  shop.write("deno.json", JSON.stringify({ tri: { files: { "kernels/z.tc": {} } } }));
  const { code, stderr } = await shop.build();
  assertEquals(code, 1);
  assertStringIncludes(stderr, "error[E9020]: No such file in this project: kernels/z.tc");
  shop.write("deno.json", "{ tri");
  assertStringIncludes((await shop.build()).stderr, "error[E9020]: Expected a key");
});

Deno.test("tri build refuses operands and options that make no sense", async () => {
  using shop = new Shop({
    "a/x.tc": "kernel foo\n",
    "b/x.tc": "kernel foo\n",
    "empty/readme": "",
  });
  const cases: readonly (readonly [readonly string[], string])[] = [
    [["nowhere"], "No such file or folder: nowhere"],
    [["empty"], "No .tc file in empty"],
    [["empty/readme"], "Not a Triton-C file"],
    [["a", "b"], "Two files would be written as x.ts"],
    [["a", "--arch", "sm_81"], "Did you mean sm_80? Known: sm_70, sm_75, sm_80, "],
    [["a", "--jobs", "0"], "--jobs 0: not a number of jobs"],
    [["a", "-D", "1x=2"], "-D 1x: not the name of a macro"],
    [["a", "--no-warn", "W1004"], "--no-warn W1004: no such warning"],
    [["a", "--no-warn", "E1004"], "an error cannot be turned off"],
  ];
  for (const [args, message] of cases) {
    const { code, stderr } = await shop.tri(["build", "--out", "out", ...args], shop.options);
    assertEquals(code, 2, args.join(" "));
    assertStringIncludes(stderr, message);
  }
});

Deno.test("tri build records what ptxas says about registers in the manifest", async () => {
  using shop = new Shop(
    { "kernels/a.tc": "kernel foo\n" },
    `printf '\\177ELF'; cat >&2 <<'END'
ptxas info    : Compiling entry function 'foo' for 'sm_80'
ptxas info    : Function properties for foo
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, 4096 bytes smem
END`,
  );
  await shop.build();
  const manifest = JSON.parse(shop.read("out/manifest.json"));
  assertEquals(must(manifest.sources.a.foo, "the kernel").resources, {
    sm_80: {
      foo: {
        registers: 24,
        sharedBytes: 4096,
        stackBytes: 0,
        spillStoreBytes: 0,
        spillLoadBytes: 0,
      },
    },
  });
});

Deno.test("tri build gives sources without kernels no wrapper", async () => {
  using shop = new Shop({ "kernels/a.tc": "kernel foo\n", "kernels/empty.tc": "" });
  const { code, stderr } = await shop.build();
  assertEquals(code, 0, stderr);
  assertStringIncludes(stderr, "without a kernel, so without a wrapper: kernels/empty.tc");
  assert(!shop.files("out").has("out/empty.ts"));
  assertEquals(shop.read("out/mod.ts"), 'export * from "./a.ts";\n');
  assertStringIncludes((await shop.build()).stderr, "nothing to do");
});

Deno.test("tri build says what is in the way of its output", async () => {
  using shop = new Shop({ "kernels/a.tc": "kernel foo\n", "out": "a file" });
  const onFile = await shop.build();
  assertEquals(onFile.code, 2);
  assertStringIncludes(onFile.stderr, "is a file");
  shop.remove("out");
  shop.write("out/a.ts/inner", "");
  const onFolder = await shop.build();
  assertEquals(onFolder.code, 2);
  assertStringIncludes(onFolder.stderr, "out/a.ts is there already");
  shop.remove("out");
  shop.write("out/a", "a file");
  const onParent = await shop.build();
  assertEquals(onParent.code, 3);
  assertMatch(onParent.stderr, /^error: Cannot write .*foo\.sm_80\.\w+: .*\n.*--out/m);
  shop.write("out/plain", "a file");
  const belowFile = await shop.tri(BUILD.with(3, "out/plain/x"), shop.options);
  assertEquals(belowFile.code, 3);
  assertMatch(belowFile.stderr, /^error: Cannot write .*plain\/x.*: Not a directory\n/m);
  const longName = "x".repeat(300);
  shop.write("kernels/a.tc", `kernel ${longName}\n`);
  shop.remove("out");
  const tooLong = await shop.build();
  assertEquals(tooLong.code, 3);
  assertStringIncludes(tooLong.stderr, "File name too long");
  assertStringIncludes(tooLong.stderr, "\nShorten the name of the source or of its kernels.\n");
});

Deno.test("tri build takes a record that someone edited for none", async () => {
  using shop = new Shop({ "kernels/a.tc": "kernel foo\n" });
  await shop.build();
  const records = ["{", "[]", '{"format":1,"sources":5,"shared":null}'];
  for (const record of [...records, '{"format":1,"sources":{"a":{}},"shared":{}}']) {
    shop.write("out/.tri-build.json", record);
    const { code, stderr } = await shop.build();
    assertEquals(code, 0, stderr);
    assertStringIncludes(stderr, "1 written, 5 unchanged");
  }
});

Deno.test("tri build and check refuse --kernel with a name that no source has", async () => {
  using shop = new Shop({ "kernels/a.tc": "kernel foo\n" });
  const more = ["--kernel", "fop", "--grid", "1"];
  for (const result of [await shop.build(...more), await shop.tri(["check", "kernels", ...more])]) {
    assertEquals(result.code, 2);
    assertStringIncludes(result.stderr, "--kernel fop: there is no such kernel\nDid you mean foo?");
  }
  assertEquals((await shop.build("--kernel", "foo", "--grid", "1")).code, 0);
});
