/** Builds of folders in which some sources cannot be built. */
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { Shop } from "../support/shop.ts";

const THREE = {
  "kernels/a.tc": "kernel foo\n",
  "kernels/b.tc": "error oops\n",
  "kernels/c.tc": "kernel bar\n",
};

Deno.test("tri build writes what is right, reports the rest and exits with 1", async () => {
  using shop = new Shop(THREE);
  const { code, stderr } = await shop.build();
  assertEquals(code, 1);
  assertStringIncludes(stderr, "error[E2001]: oops");
  assertStringIncludes(stderr, "built 2 sources: 2 kernels");
  assertStringIncludes(stderr, "not built: kernels/b.tc\n");
  assertEquals(shop.read("out/mod.ts"), 'export * from "./a.ts";\nexport * from "./c.ts";\n');
  assertEquals(
    (await shop.build("--check")).stderr.split("\n")[0],
    "stale: kernels/b.tc: not built yet",
  );
  const again = await shop.build();
  assertEquals([again.code, again.stderr.includes("nothing was written")], [1, true]);
});

Deno.test("tri build after one source is fixed builds that one, as if it had never been wrong", async () => {
  using shop = new Shop(THREE);
  await shop.build();
  shop.write("kernels/b.tc", "kernel baz\n");
  const { code, stderr } = await shop.build();
  assertEquals(code, 0, stderr);
  assertStringIncludes(stderr, "built 1 source: 3 kernels");
  using fresh = new Shop({ ...THREE, "kernels/b.tc": "kernel baz\n" });
  await fresh.build();
  assertEquals(shop.files("out"), fresh.files("out"));
});

Deno.test("tri build keeps the last good output of a source that is wrong now, in the index too", async () => {
  using shop = new Shop({ ...THREE, "kernels/b.tc": "kernel baz\n" });
  await shop.build();
  const before = shop.files("out");
  shop.write("kernels/b.tc", "error oops\n");
  shop.write("kernels/c.tc", "kernel more\n");
  const { code, stderr } = await shop.build();
  assertEquals(code, 1);
  assertStringIncludes(stderr, "not built: kernels/b.tc; the output of its last build stays\n");
  assertEquals(shop.files("out").get("out/b.ts"), before.get("out/b.ts"));
  assertStringIncludes(shop.read("out/mod.ts"), "./b.ts");
  assert(shop.files("out").has("out/c/more.sm_80.ptx"));
  assertStringIncludes((await shop.build("--check")).stderr, "kernels/b.tc: the source changed");
  shop.write("kernels/b.tc", "kernel baz\n");
  shop.write("kernels/c.tc", "kernel bar\n");
  assertEquals((await shop.build()).code, 0);
  assertEquals(shop.files("out"), before);
});

Deno.test("tri build leaves out of the index what a wrong source has no wrapper of any more", async () => {
  using shop = new Shop({ ...THREE, "kernels/b.tc": "kernel baz\n" });
  await shop.build();
  shop.write("kernels/b.tc", "error oops\n");
  shop.write("kernels/c.tc", "kernel more\n");
  shop.remove("out/b.ts");
  assertEquals((await shop.build()).code, 1);
  assertEquals(shop.read("out/mod.ts"), 'export * from "./a.ts";\nexport * from "./c.ts";\n');
  shop.write("kernels/b.tc", "kernel baz\n");
  assertEquals((await shop.build()).code, 0);
  assertStringIncludes(shop.read("out/mod.ts"), "./b.ts");
});

Deno.test("tri build removes the output of a source that is gone although another one is wrong", async () => {
  using shop = new Shop({ ...THREE, "kernels/b.tc": "kernel baz\n" });
  await shop.build();
  shop.write("kernels/b.tc", "error oops\n");
  shop.remove("kernels/c.tc");
  assertEquals((await shop.build()).code, 1);
  assert(!shop.files("out").has("out/c.ts"));
  assertEquals(shop.read("out/mod.ts"), 'export * from "./a.ts";\nexport * from "./b.ts";\n');
});

Deno.test("tri build builds the others beside a source that is no text, has no wrapper or is refused", async () => {
  using shop = new Shop(
    { "kernels/a.tc": "kernel foo\n", "kernels/bad.tc": "kernel unwrappable\n" },
    'case "$ptx" in *refused_by_ptxas*) echo "bad line" >&2; exit 255;; esac; printf "\\177ELF"',
  );
  Deno.writeFileSync(`${shop.path}/kernels/bytes.tc`, new Uint8Array([0xff]));
  shop.write("kernels/refused.tc", "kernel refused_by_ptxas\n");
  const { code, stderr } = await shop.build();
  assertEquals(code, 1);
  assertStringIncludes(stderr, "error[E1001]");
  assertStringIncludes(stderr, "error[E9041]: No wrapper can be written for kernel unwrappable");
  assertStringIncludes(stderr, "refused the code of refused_by_ptxas");
  for (const name of ["bad", "bytes", "refused"]) {
    assertStringIncludes(stderr, `not built: kernels/${name}.tc\n`);
  }
  assertEquals([...shop.files("out").keys()].sort(), [
    "out/.tri-build.json",
    "out/a.ts",
    "out/a/foo.sm_80.cubin",
    "out/a/foo.sm_80.ptx",
    "out/manifest.json",
    "out/mod.ts",
  ]);
  const json = JSON.parse((await shop.build("--force", "--json")).stdout);
  assertEquals([json.ok, json.failed.length, json.rejected.length], [false, 3, 1]);
});

Deno.test("tri build --werror builds the sources that the assembler does not warn about", async () => {
  using shop = new Shop(
    { "kernels/a.tc": "kernel foo\n", "kernels/b.tc": "kernel odd\n" },
    'printf "\\177ELF"; case "$ptx" in *odd*) echo "(C7508) serialized" >&2;; esac',
  );
  const { code, stderr } = await shop.build("--werror");
  assertEquals(code, 1);
  assertStringIncludes(stderr, "error: odd for sm_80: (C7508) serialized");
  assert(shop.files("out").has("out/a.ts"));
  assert(!shop.files("out").has("out/b.ts"));
});
