/**
 * The npm packages as their users get them: packed, installed without scripts in one empty project, compiled by TypeScript, run
 * on the emulator by Node, Bun and Deno, and bundled. Few kernels and one architecture keep it short; `deno task pack`
 * enforces the sizes of the whole packages. Needs npm and its registry; without them it is skipped.
 */
import * as path from "node:path";
import { originalPositionFor, TraceMap } from "@jridgewell/trace-mapping";
import config from "../../deno.json" with { type: "json" };
import { must } from "../../compiler/support/bug.ts";
import { packKernels } from "../../scripts/npm/kernels.ts";
import { packRunTime } from "../../scripts/npm/run_time.ts";
import { readBlocks } from "../docs/blocks.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { install, npmTest } from "../support/tools/npm.ts";
import { must0, run } from "../support/tools/run_program.ts";
import { NOT_TRIED, sampled, triesLong } from "../support/sampled.ts";
import { newProject } from "../cli/support/new_project.ts";

const PROJECT = new URL("./project/", import.meta.url);
const README = new URL("../../README.md", import.meta.url).pathname;
const PLATFORM = `${Deno.build.os}-${Deno.build.arch === "aarch64" ? "arm64" : "x64"}`;
/** Runtimes as packages that need no script to be installed. They are large: a run that takes one takes one of them. */
const ALL_RUNTIMES = [
  { name: "the newest Node", from: `node-${PLATFORM}`, program: "node" },
  { name: "Bun", from: `@oven/bun-${PLATFORM}`, program: "bun" },
];
const RUNTIMES = triesLong("the npm packages on another runtime") ? sampled(ALL_RUNTIMES, 1) : [];
const typesOfBundlers = triesLong("types of the npm packages as bundlers find modules");
const unlessBundlers = typesOfBundlers ? "" : ` [skipped: ${NOT_TRIED}]`;
const TITLE = `the npm packages install without scripts, compile, run and bundle, on ${
  ["the Node here", "Deno", ...RUNTIMES.map(({ name }) => name)].join(" and ")
}`;

await npmTest(TITLE, async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "tri-npm-" });
  try {
    const project = path.join(folder, "project");
    await Deno.mkdir(project);
    await installAll(project, await packAll(folder));
    const bin = (name: string): string => path.join(project, "node_modules/.bin", name);
    const installed = RUNTIMES.map(({ name, from, program }) => ({
      name,
      program: path.join(project, "node_modules", from, "bin", program),
    }));

    await t.step("types are right under nodenext", () => must0(project, bin("tsc"), "-p", "."));
    await t.step({
      name: `types are right under bundler${unlessBundlers}`,
      ignore: !typesOfBundlers,
      fn: () => must0(project, bin("tsc"), "-p", "tsconfig.bundler.json"),
    });

    await t.step("declarations have types of their own for everything", async () => {
      const vague = await filesBelow(
        path.join(project, "node_modules/@tri/tri"),
        (file, text) =>
          file.endsWith(".d.ts") &&
          /[:<|,=]\s*any\b/.test(text.replaceAll(/\/\*.*?\*\/|\/\/.*$/gms, "")),
      );
      assertEquals(vague, []);
    });

    const programs: Readonly<Record<string, readonly string[]>> = {
      "the Node here": ["node"],
      ...Object.fromEntries(installed.map(({ name, program }) => [name, [program]])),
      "Deno": [Deno.execPath(), "run", "-A", "--quiet", "--node-modules-dir=manual"],
    };
    for (const [name, [program = "", ...flags]] of Object.entries(programs)) {
      await t.step(`${name} runs a program`, async () => {
        const { code, output } = await run(project, program, ...flags, "dist/main.js");
        assertEquals(code, 0, output);
        assert(/^10 claims hold$/m.test(output), output);
      });
    }

    await t.step("examples of the READMEs print what they say", async () => {
      const ofPackage = (name: string): string =>
        path.join(project, "node_modules", name, "README.md");
      await runReadme(project, README, "1 4 2 5 3 6\n");
      await runReadme(project, ofPackage("@tri/tri"), "1 4 2 5 3 6\n");
      await runReadme(project, ofPackage("@tri/kernels"), "1 4 2 5 3 6\n");
      await runReadme(project, ofPackage("my-kernel"), "2 4 6\n");
    });

    await t.step("declarations lead to the sources of kernels", async () => {
      for (const [name, kernel] of [["@tri/kernels", "transpose"], ["my-kernel", "my_kernel"]]) {
        await checkDefinition(path.join(project, "node_modules", name ?? ""), kernel ?? "");
      }
    });

    await t.step("esbuild bundles ESM and CommonJS with images, or the hint is right", async () => {
      for (const name of ["bundle.mjs", "user.js"]) {
        await Deno.copyFile(new URL(name, PROJECT), path.join(project, name));
      }
      await must0(project, "node", "bundle.mjs", folder);
      for (const program of ["node", ...installed.map(({ program }) => program)]) {
        for (const name of ["esm.mjs", "cjs.cjs"]) {
          assertEquals(await run(folder, program, name), { code: 0, output: "5 7 9\n" }, name);
        }
      }
      for (const name of ["plain.mjs", "plain.cjs"]) {
        const { code, output } = await run(folder, "node", name);
        assertEquals(code, 1);
        assertStringIncludes(output, "the plugin @tri/tri/esbuild", name);
      }
      for (const name of ["external.mjs", "external.cjs"]) {
        const { output } = await run(project, "node", name);
        // Versions of Node 20 and 22 say that `require` of modules is new.
        assert(output.endsWith("5 7 9\n") || output.startsWith("5 7 9\n"), output);
      }
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** The tarballs of both packages, and of a package that `tri new` made. */
async function packAll(folder: string): Promise<string[]> {
  const made = newProject(folder, "my_kernel", "--package");
  const sources = ["matmul_plain", "transpose", "vector_add"];
  const packed = await Promise.all([
    packRunTime(folder),
    packKernels(folder, { arch: "sm_90", cubins: false, sources }),
  ]);
  const project = await made;
  await must0(project, Deno.execPath(), "task", "npm", "--arch", "sm_90", "--no-cubin");
  const own = path.join(project, "npm/my-kernel-0.1.0.tgz");
  return [...packed.map(({ file }) => file), own];
}

async function installAll(project: string, tarballs: readonly string[]): Promise<void> {
  await Deno.writeTextFile(path.join(project, "package.json"), '{ "type": "module" }\n');
  const { esbuild, typescript } = config.imports;
  const tools = ["@types/node@20", ...[esbuild, typescript].map((it) => it.slice("npm:".length))];
  await install(project, ...tarballs, ...tools, ...RUNTIMES.map(({ from }) => `${from}@latest`));
  for (const name of ["main.ts", "tsconfig.json", "tsconfig.bundler.json"]) {
    await Deno.copyFile(new URL(name, PROJECT), path.join(project, name));
  }
}

/** Runs the program that a package's README shows, on the emulator. */
async function runReadme(project: string, readme: string, printed: string): Promise<void> {
  const block = readBlocks(await Deno.readTextFile(readme))
    .find(({ language }) => language === "js");
  const text = must(block, "a program in the README").text;
  await Deno.writeTextFile(path.join(project, "readme.js"), text);
  const { code, stdout, stderr } = await new Deno.Command("node", {
    args: ["readme.js"],
    cwd: project,
    env: { TRI_DEVICE: "emulator", NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  assertEquals([code, decoder.decode(stdout)], [0, printed], decoder.decode(stderr));
}

/** An editor that follows the declaration's map is led to the kernel's line. */
async function checkDefinition(folder: string, kernel: string): Promise<void> {
  const declarations = path.join(folder, "dist", `${kernel}.d.ts`);
  const lines = (await Deno.readTextFile(declarations)).split("\n");
  const name = kernel.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const line = lines.findIndex((text) => text.startsWith(`export declare const ${name}:`));
  const map = new TraceMap(await Deno.readTextFile(`${declarations}.map`));
  const column = (lines[line] ?? "").indexOf(name);
  const found = originalPositionFor(map, { line: line + 1, column });
  const source = path.join(folder, "dist", must(found.source, "a source"));
  const text = (await Deno.readTextFile(source)).split("\n")[must(found.line, "a line") - 1];
  assert(text?.startsWith(`__global__ void ${kernel}(`), text);
}

/** The files of a folder that a test of path and text accepts. */
async function filesBelow(
  folder: string,
  accept: (file: string, text: string) => boolean,
): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    const file = path.join(folder, name);
    if (isDirectory) found.push(...await filesBelow(file, accept));
    else if (isFile && accept(file, await Deno.readTextFile(file))) found.push(file);
  }
  return found;
}
