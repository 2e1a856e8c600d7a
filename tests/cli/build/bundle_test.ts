/** One build of two kernels, bundled for each runtime; esbuild in WebAssembly takes seconds, so it is asked once. */
// It starts in the folder where it is loaded, which must not be that of one test.
import "esbuild";
import config from "../../../deno.json" with { type: "json" };
import {
  BANNER,
  bundleModule,
  bundleWith,
  ESBUILD_WASM,
  startWasm,
} from "../../../cli/build/bundle.ts";
import { type Platform, PLATFORMS } from "../../../cli/words/options.ts";
import { sha256 } from "../../../cli/files/hash.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { NOT_TRIED, testsInTurn, triesLong } from "../../support/sampled.ts";
import { REAL_MAIN, Workspace } from "../support/tri_process.ts";

const test = testsInTurn(2);

const kernel = (name: string, operator: string): string =>
  `#pragma tri config B=64
__global__ void ${name}(float *X, float *Y, int N) {
  int r[B] = get_program_id(0) * B + 0 ... B;
  *?(r < N) (Y + r) = *?(r < N) (X + r) ${operator} 2;
}
`;

/** A program that uses one of the two. */
const program = (bundle: string): string =>
  `import { Device, double_it } from "${bundle}";
const device = Device.open({ device: "emulator" });
const y = double_it(device.tensor(new Float32Array([1, 2, 3]), [3]));
console.log((await y.read()).join(" "));
`.replaceAll("double_it", "doubleIt");

/** What runs a module of each platform here; nothing where it is not installed. */
const PROGRAMS: Readonly<Record<Platform, readonly string[]>> = {
  deno: [Deno.execPath(), "run", "-q", "--no-config", "-A"],
  node: ["node"],
  bun: ["bun"],
};

async function run(cwd: string, words: readonly string[]): Promise<string> {
  const [name = "", ...args] = words;
  const { stdout, stderr } = await new Deno.Command(name, { args, cwd }).output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

async function isThere([name = ""]: readonly string[]): Promise<boolean> {
  try {
    return (await new Deno.Command(name, { args: ["--version"] }).output()).success;
  } catch {
    return false;
  }
}

const BUILD = ["build", "k", "--out", "out", "--arch", "sm_90", "--no-cubin"];

async function build(workspace: Workspace, ...options: string[]): Promise<string> {
  const { code, stderr } = await workspace.tri([...BUILD, ...options], { main: REAL_MAIN });
  assertEquals(code, 0, stderr);
  return stderr;
}

const SOURCES = { "k/double.tc": kernel("double_it", "*"), "k/half.tc": kernel("half_it", "/") };

test("tri build --bundle makes one module that runs on Deno, Node and Bun", async (t) => {
  using workspace = new Workspace(SOURCES);
  assertStringIncludes(await build(workspace, "--bundle", "out/b/deno.js"), "bundled for deno");
  assertEquals(
    workspace.read("out/b/deno.d.ts"),
    `${BANNER}\nexport * from "../mod.ts";\nexport * from "@tri/tri/ffi";\n`,
  );
  const bundled = workspace.read("out/b/deno.js");
  const again = await build(workspace, "--bundle", "out/b/deno.js");
  assert(!again.includes("bundled"), "what is up to date is not bundled again");
  const [banner, record = "", ...lines] = bundled.split("\n");
  const body = lines.join("\n");
  assert(record.endsWith(` ${sha256(body)}`), record);
  const buildOver = (text: string): Promise<string> => {
    workspace.write("out/b/deno.js", text);
    return build(workspace, "--bundle", "out/b/deno.js");
  };
  assertStringIncludes(await buildOver(bundled.replace("Device", "Devise")), "bundled for deno");
  assertEquals(workspace.read("out/b/deno.js"), bundled);
  for (const platform of PLATFORMS) {
    const words = PROGRAMS[platform];
    const installed = await isThere(words);
    await t.step({
      // tests/npm gets Bun from npm.
      name: installed ? platform : `${platform} [skipped: not installed]`,
      ignore: !installed,
      fn: async () => {
        const text = await bundleModule(`${workspace.path}/out/mod.ts`, platform);
        if (platform === "deno") assertEquals(text, `${banner}\n${body}`, "the same bytes");
        const imports = [...text.matchAll(/^import .* from "(.*)"/gm)].map(([, name]) => name);
        assertEquals(imports.filter((name) => !name?.startsWith("node:")), []);
        assert(!text.includes("new Worker("), "it would start some other file");
        // Nothing but this file lies where it runs.
        using alone = new Workspace({ "b.mjs": text, "main.mjs": program("./b.mjs") });
        assertEquals(await run(alone.path, [...words, "main.mjs"]), "2 4 6\n");
      },
    });
  }
});

test("a kernel that a program does not use vanishes with its image when a bundle is bundled again", async () => {
  using workspace = new Workspace(SOURCES);
  await build(workspace, "--embed");
  const bundle = await bundleModule(`${workspace.path}/out/mod.ts`, "node");
  const image = (name: string): string => {
    const text = workspace.read(`out/${name}.ts`);
    const found = /"sm_\w+\.ptx":\s*"([^"]{100})/.exec(text)?.[1];
    assert(found !== undefined, name);
    return found;
  };
  for (const name of ["double", "half"]) assertStringIncludes(bundle, image(name));
  using user = new Workspace({ "b.js": bundle, "main.js": program("./b.js") });
  const shaken = await bundleModule(`${user.path}/main.js`, "node");
  assertStringIncludes(shaken, image("double"));
  assertStringIncludes(shaken, "double_it");
  assert(!shaken.includes(image("half")));
  assert(!shaken.includes("half_it"));
});

/** To compile esbuild takes longer than all other tests of this file. */
const triesWasm = triesLong("esbuild in WebAssembly");

Deno.test({
  name: `bundleWith() gives the same bytes in WebAssembly, where no program may be started${
    triesWasm ? "" : ` [skipped: ${NOT_TRIED}]`
  }`,
  ignore: !triesWasm,
  fn: sameInWasm,
});

async function sameInWasm(): Promise<void> {
  using workspace = new Workspace(SOURCES);
  await build(workspace, "--embed");
  const wrappers = `${workspace.path}/out/mod.ts`;
  assertEquals(
    await bundleWith(await startWasm(), wrappers, "deno"),
    await bundleModule(wrappers, "deno"),
  );
}

Deno.test("tri build --bundle overwrites its own file only, and goes with no --check", async () => {
  using workspace = new Workspace({ ...SOURCES, "out/mine.js": "mine\n" });
  const words = ["build", "k", "--out", "out", "--arch", "sm_90", "--no-cubin", "--bundle"];
  const refused = await workspace.tri([...words, "out/mine.js"], { main: REAL_MAIN });
  assertEquals(refused.code, 2);
  assertStringIncludes(refused.stderr, "was not written by tri");
  assertEquals(workspace.read("out/mine.js"), "mine\n");
  workspace.write("out/types.d.mts", "mine\n");
  const types = await workspace.tri([...words, "out/types.mjs"], { main: REAL_MAIN });
  assertStringIncludes(types.stderr, "out/types.d.mts is there already");
  for (const name of ["out/mod.ts", "k/double.tc", "k"]) {
    const { code, stderr } = await workspace.tri([...words, name, "--force"], { main: REAL_MAIN });
    assertEquals(code, 2, name);
    assertStringIncludes(stderr, `--bundle ${name}: a bundle is JavaScript`);
  }
  assert(!workspace.files("out").has("out/mod.ts"), "names are looked at before anything is built");
  const wrapper = [...words, "out/half.js", "--force", "--emit", "js"];
  const over = await workspace.tri(wrapper, { main: REAL_MAIN });
  assertEquals(over.code, 2);
  assertStringIncludes(over.stderr, "out/half.js is a file of the output");
  assertEquals((await workspace.tri([...words, "out/b.js", "--check"])).code, 2);
  assert(BANNER.startsWith("//"));
});

Deno.test("bundleModule takes the esbuild of deno.json", () => {
  assertEquals(ESBUILD_WASM, `${config.imports["esbuild-wasm"]}/esbuild.wasm`);
  const version = (name: string): string | undefined => name.split("@").at(-1);
  assertEquals(version(config.imports.esbuild), version(config.imports["esbuild-wasm"]));
});
