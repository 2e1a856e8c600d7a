import { brotliDecompressSync } from "node:zlib";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { codeIdentity, ownCubins, ownPtx, type TargetCode } from "../../../cli/build/compact.ts";
import { REAL_MAIN, type TriResult, Workspace } from "../support/tri_process.ts";

const KERNEL = new URL("../../../kernels/vector_add.tc", import.meta.url);

/** `sm_80:a` is a target and its code. */
function modules(words: string, bytes = 2e6): TargetCode[] {
  return words.split(" ").map((word) => {
    const [arch = "", code = ""] = word.split(":");
    return { arch, code, ptx: { bytes } };
  });
}

const archs = (list: readonly TargetCode[]): string => list.map(({ arch }) => arch).join(" ");

Deno.test("ownPtx() keeps a target whose GPUs would otherwise run other code", () => {
  assertEquals(archs(ownPtx(modules("sm_80:a sm_86:a sm_90:a"))), "sm_80");
  // GPUs of sm_90 would run the code of sm_86, the newest that they can.
  assertEquals(archs(ownPtx(modules("sm_80:a sm_86:b sm_90:a"))), "sm_80 sm_86 sm_90");
  // Code for sm_90a runs on no other GPU.
  assertEquals(archs(ownPtx(modules("sm_90:a sm_90a:b sm_100:a"))), "sm_90 sm_90a");
  assertEquals(archs(ownPtx(modules("sm_90:a sm_90a:a sm_100:b"))), "sm_90 sm_100");
  // Whatever the order is that the targets were asked for in.
  assertEquals(archs(ownPtx(modules("sm_90:a sm_75:a sm_80:a"))), "sm_75");
});

Deno.test("ownCubins() keeps cubins of code that takes the driver seconds, once for each GPU", () => {
  const all = "sm_80:a sm_86:a sm_90:b sm_90a:c sm_100:b";
  // The cubin of sm_90 would not run on sm_100, whatever its code is.
  assertEquals(archs(ownCubins(modules(all))), "sm_80 sm_90a sm_100");
  assertEquals(ownCubins(modules(all, 5e5)), []);
});

Deno.test("codeIdentity() ignores the target and the PTX version, and nothing else", () => {
  const ptx = (version: string, target: string, body = "ret;"): string =>
    `.version ${version}\n.target ${target}\n.entry f()\n{ ${body} }\n`;
  const entry = { symbol: "f", threads: 32, sharedBytes: 0 };
  const identity = codeIdentity(ptx("7.0", "sm_80"), [entry]);
  assertEquals(codeIdentity(ptx("8.6", "sm_100"), [entry]), identity);
  assert(codeIdentity(ptx("7.0", "sm_80", "exit;"), [entry]) !== identity);
  assert(codeIdentity(ptx("7.0", "sm_80"), [{ ...entry, sharedBytes: 16 }]) !== identity);
});

Deno.test("tri build --compact writes shared images once, compressed, which wrappers name", async () => {
  using workspace = new Workspace({ "kernels/vector_add.tc": Deno.readTextFileSync(KERNEL) });
  const build = ["build", "kernels", "--out", "out", "--arch", "sm_80,sm_86"];
  const run = (...options: string[]): Promise<TriResult> =>
    workspace.tri([...build, ...options], { main: REAL_MAIN });
  assertEquals((await run("--no-cubin")).code, 0);
  const expected = workspace.read("out/vector_add/vector_add.sm_80.ptx");
  const { code, stderr } = await run("--compact");
  assertEquals(code, 0, stderr);
  const images = [...workspace.files("out/vector_add").keys()];
  assertEquals(images, ["out/vector_add/vector_add.ptx.br"]);
  const bytes = Deno.readFileSync(`${workspace.path}/${images[0]}`);
  assertEquals(new TextDecoder().decode(brotliDecompressSync(bytes)), expected);
  assertMatch(
    workspace.read("out/vector_add.ts"),
    new RegExp(`import\\.meta\\.url\\),\\s*${expected.length},?\\s*\\]`),
  );
});

Deno.test("tri build --compact writes all PTX of a kernel in one file, unless wrappers hold it", async () => {
  // The code differs by target.
  const source = `__global__ void mark(int *X) { *X = __TRI_ARCH__; }`;
  using workspace = new Workspace({ "k/mark.tc": source });
  const run = (...options: string[]): Promise<TriResult> => {
    const build = ["build", "k", "--out", "out", "--arch", "sm_75,sm_90", "--no-cubin"];
    return workspace.tri([...build, ...options], { main: REAL_MAIN });
  };
  assertEquals((await run()).code, 0);
  const texts = ["sm_75", "sm_90"].map((arch) => workspace.read(`out/mark/mark.${arch}.ptx`));
  const lengths = texts.map((text) => text.length);
  assertEquals((await run("--compact")).code, 0);
  assertEquals([...workspace.files("out/mark").keys()], ["out/mark/mark.ptx.br"]);
  const bytes = Deno.readFileSync(`${workspace.path}/out/mark/mark.ptx.br`);
  assertEquals(new TextDecoder().decode(brotliDecompressSync(bytes)), texts.join(""));
  const { images } = JSON.parse(workspace.read("out/manifest.json")).sources.mark.mark;
  const [first = 0, second = 0] = lengths;
  assertEquals(
    images.map(({ target, uncompressedBytes, part }: Record<string, unknown>) => ({
      target,
      uncompressedBytes,
      part,
    })),
    [
      { target: "sm_75", uncompressedBytes: first, part: { offset: 0, total: first + second } },
      {
        target: "sm_90",
        uncompressedBytes: second,
        part: { offset: first, total: first + second },
      },
    ],
  );
  assertMatch(
    workspace.read("out/mark.ts"),
    new RegExp(`import\\.meta\\.url\\),\\s*${second},\\s*${first},\\s*${first + second},?\\s*\\]`),
  );
  assertEquals((await run("--compact", "--embed")).code, 0);
  assertEquals(workspace.files("out/mark").size, 0);
  const embedded = JSON.parse(workspace.read("out/manifest.json")).sources.mark.mark.images;
  assertEquals(embedded.map(({ part }: Record<string, unknown>) => part), [undefined, undefined]);
});
