/**
 * The npm package as its users get it: packed, installed without scripts in an empty project, compiled by TypeScript, run on
 * the emulator by Node 20, the newest Node and Bun. Needs npm and its registry; without them it is skipped.
 */
import * as path from "node:path";
import { packNpm } from "../../scripts/npm/pack.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { bundleModule } from "../../cli/build/bundle.ts";
import { install, must0, npmTest, run } from "../support/npm.ts";
import { newProject } from "../cli/support/new_project.ts";
import { definitionOf } from "./tsserver.ts";

const PROJECT = new URL("./project/", import.meta.url);
const PLATFORM = `${Deno.build.os}-${Deno.build.arch === "aarch64" ? "arm64" : "x64"}`;
/** What the registry calls the programs themselves; their packages need no script to be installed. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "Node 20": `node-${PLATFORM}@20`,
  "the newest Node": `node-${PLATFORM}@latest`,
  "Bun": `@oven/bun-${PLATFORM}@latest`,
};

const packFolder = Deno.makeTempDirSync({ prefix: "tri-pack-" });
const programFolder = Deno.makeTempDirSync({ prefix: "tri-programs-" });
let packed: Promise<string> | undefined;
const programs = new Map<string, Promise<string>>();
Deno.test.afterAll(() => {
  for (const folder of [packFolder, programFolder]) Deno.removeSync(folder, { recursive: true });
});

/** The tarball, made once: with one architecture and without cubins it is made quickly. */
function packOnce(): Promise<string> {
  packed ??= packNpm(packFolder, { arch: "sm_90", cubins: false });
  return packed;
}

npmTest("the npm package installs without scripts and runs on Node and Bun", async () => {
  const folder = await Deno.makeTempDir({ prefix: "tri-npm-" });
  try {
    const tarball = await packOnce();
    await Deno.writeTextFile(path.join(folder, "package.json"), '{ "type": "module" }\n');
    await install(folder, tarball, "typescript@5.9.3", "@types/node@20");
    for (const name of ["main.ts", "tsconfig.json", "tsconfig.bundler.json"]) {
      await Deno.copyFile(new URL(name, PROJECT), path.join(folder, name));
    }
    const tsc = path.join(folder, "node_modules/.bin/tsc");
    await must0(folder, tsc, "-p", ".");
    await must0(folder, tsc, "-p", "tsconfig.bundler.json");
    const kernel = path.join(folder, "node_modules/@tri/tri/source/transpose.tc");
    const lines = (await Deno.readTextFile(kernel)).split("\n");
    const line = lines.findIndex((text) => text.startsWith("__global__")) + 1;
    assertStringIncludes(
      await definitionOf(folder, "main.ts", "transpose(x);"),
      `/node_modules/@tri/tri/source/transpose.tc:${line}`,
    );
    for (const [name, specifier] of Object.entries(PROGRAMS)) {
      const program = await programOf(specifier);
      const { code, output } = await run(folder, program, "dist/main.js");
      assertEquals(code, 0, `${name}\n${output}`);
      assert(/^11 claims hold$/m.test(output), `${name}: ${output}`);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

npmTest("tri new --package makes a project whose npm package runs in Node", async () => {
  const folder = await Deno.makeTempDir({ prefix: "tri-new-" });
  try {
    const project = await newProject(folder, "my_kernel", "--package");
    await addSettings(path.join(project, "deno.json"), {
      files: {
        "kernels/my_kernel.tc": {
          kernels: { my_kernel: { variants: [{ TYPE: "float" }, { TYPE: "double" }] } },
        },
      },
    });
    await must0(project, Deno.execPath(), "task", "npm", "--arch", "sm_90", "--no-cubin");
    const user = path.join(folder, "user");
    await Deno.mkdir(user);
    await Deno.writeTextFile(path.join(user, "package.json"), '{ "type": "module" }\n');
    const own = path.join(project, "npm/my-kernel-0.1.0.tgz");
    await install(user, await packOnce(), own, "typescript@5.9.3", "@types/node@20");
    const map = "node_modules/my-kernel/dist/my_kernel.d.ts.map";
    const { sources: [source] } = JSON.parse(await Deno.readTextFile(path.join(user, map)));
    await Deno.stat(path.join(user, path.dirname(map), source));
    await Deno.writeTextFile(path.join(user, "main.ts"), USER_PROGRAM);
    const tsc = path.join(user, "node_modules/.bin/tsc");
    const flags = ["--strict", "--module", "nodenext", "--target", "es2022", "--types", "node"];
    await must0(user, tsc, ...flags, "--lib", "es2022,esnext.disposable,dom", "main.ts");
    const { code, output } = await run(user, "node", "main.js");
    assertEquals([code, output], [0, "2 4 6\n0.2\n"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

npmTest("tri build --bundle makes a module that Bun and Node 20 run", async () => {
  const folder = await Deno.makeTempDir({ prefix: "tri-bundle-" });
  try {
    const root = new URL("../../", import.meta.url).pathname;
    const build = ["build", `${root}kernels/vector_add.tc`, "--out", `${folder}/out`, "--embed"];
    const tri = ["run", "-q", "-A", "--config", `${root}deno.json`, `${root}cli/main.ts`];
    await must0(folder, Deno.execPath(), ...tri, ...build, "--arch", "sm_90", "--no-cubin");
    await Deno.writeTextFile(path.join(folder, "main.mjs"), BUNDLE_PROGRAM);
    for (const [name, platform] of [["Bun", "bun"], ["Node 20", "node"]] as const) {
      const text = await bundleModule(`${folder}/out/mod.ts`, platform);
      await Deno.writeTextFile(path.join(folder, "bundle.mjs"), text);
      const program = await programOf(must(PROGRAMS[name], "its package"));
      assertEquals(await run(folder, program, "main.mjs"), { code: 0, output: "5 7 9\n" }, name);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

const BUNDLE_PROGRAM = `import { Device, vectorAdd } from "./bundle.mjs";

const device = Device.open({ device: "emulator" });
const vector = (...values) => device.tensor(new Float32Array(values), [values.length]);
console.log((await vectorAdd(vector(1, 2, 3), vector(4, 5, 6)).read()).join(" "));
`;

const USER_PROGRAM = `import { Device } from "@tri/tri/ffi";
import { myKernel } from "my-kernel";

const device = Device.open({ device: "emulator" });
const x = device.tensor(new Float32Array([1, 2, 3]), [3]);
console.log((await myKernel(x, { factor: 2 }).read()).join(" "));
// A variant that only deno.json of the package names.
const y = device.tensor(new Float64Array([0.1]), [1]);
console.log((await myKernel(y, { factor: 2 }).read()).join(" "));
`;

async function addSettings(file: string, tri: unknown): Promise<void> {
  const settings: Record<string, unknown> = JSON.parse(await Deno.readTextFile(file));
  await Deno.writeTextFile(file, JSON.stringify({ ...settings, tri }));
}

/** A program's path; it is installed once. */
function programOf(specifier: string): Promise<string> {
  const program = programs.get(specifier) ?? installProgram(specifier);
  programs.set(specifier, program);
  return program;
}

/** Each in a folder of its own: two versions of one package do not fit beside one another. */
async function installProgram(specifier: string): Promise<string> {
  const own = path.join(programFolder, specifier.replaceAll(/\W/g, "-"));
  await Deno.mkdir(own);
  // Without one, npm installs into the folder above.
  await Deno.writeTextFile(path.join(own, "package.json"), "{}\n");
  await install(own, specifier);
  const name = must(/^(@?[^@]+)/.exec(specifier)?.[1], "a package's name");
  const program = name.includes("bun") ? "bun" : "node";
  return path.join(own, "node_modules", name, "bin", program);
}
