/**
 * The npm package `@tri/cli` as a tarball: the command as JavaScript that Node and Bun run, with everything it needs inside,
 * so that installing it loads nothing else.
 */
import * as path from "node:path";
import { build, type Plugin, stop } from "esbuild";
import config from "../../deno.json" with { type: "json" };
import { sharedFields } from "./package_json.ts";
import { addTexts, originUrl, type Packed, packFolder, ROOT, run } from "./tarball.ts";

/** The most that the tarball may be. */
const CLI_BUDGET = 5e6;

/** The oldest Node that runs it. */
const NODE = "20.16";

/** Modules that start programs or threads, or are selected by conditions, by their names in the package. */
const ENTRIES: Readonly<Record<string, string>> = {
  main: "cli/main.ts",
  child: "cli/tune/child.ts",
  worker: "ffi/threads/worker.ts",
  runtime_deno: "ffi/runtime/deno.ts",
  runtime_node: "ffi/runtime/node.ts",
  runtime_bun: "ffi/runtime/bun.ts",
};

/** What the command's modules import by these names; npm packages that are only for tests stay out. */
const PACKAGES = [
  "diff",
  "marked",
  "ts-morph",
  "vega",
  "vega-lite",
  "vscode-languageserver-protocol",
  "vscode-languageserver-textdocument",
] as const;

/**
 * Benchmarks are modules of the user and import the run time of the project. What `tri bench` opens has to be of the same
 * copy, so it imports that one too.
 */
const OF_THE_PROJECT: Readonly<Record<string, string>> = {
  "bench/mod.ts": "@tri/tri/bench",
  "ffi/device.ts": "@tri/tri/ffi",
  "ffi/errors.ts": "@tri/tri/ffi",
};

/** Makes the tarball in a folder. */
export async function packCli(destination: string): Promise<Packed> {
  const work = await Deno.makeTempDir({ prefix: "tri-cli-" });
  try {
    const folder = path.join(work, "package");
    await installPackages(work);
    const inputs = await bundle(work, path.join(folder, "dist"));
    await Deno.writeTextFile(path.join(folder, "LICENSES.txt"), await licensesOf(work, inputs));
    await Deno.mkdir(path.join(folder, "bin"));
    await Deno.writeTextFile(
      path.join(folder, "bin/tri.js"),
      '#!/usr/bin/env node\nimport "../dist/main.js";\n',
    );
    await addTexts(folder, "cli.md", packageFields(await originUrl()));
    return await packFolder(folder, destination, CLI_BUDGET);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

function packageFields(repository: string | undefined): Record<string, unknown> {
  const { version } = config;
  const runtime = (name: string): string => `./dist/runtime_${name}.js`;
  return {
    ...sharedFields("@tri/cli", repository),
    description: "Compiles Triton-C kernels to PTX and cubins, with typed TypeScript wrappers",
    bin: { tri: "./bin/tri.js" },
    exports: { "./package.json": "./package.json" },
    imports: {
      "#runtime": { deno: runtime("deno"), bun: runtime("bun"), default: runtime("node") },
    },
    peerDependencies: { "@tri/tri": `^${version}`, koffi: "^3.0.0" },
    peerDependenciesMeta: Object.fromEntries(
      ["@tri/tri", "koffi"].map((name) => [name, { optional: true }]),
    ),
  };
}

/** Modules of std by their names in the code: `npm:deno-std@1.4.0/fmt/bytes.js` is `deno-std/fmt/bytes.js` to esbuild. */
const STD = Object.fromEntries(
  Object.entries(config.imports).filter(([name]) => name.startsWith("@std/"))
    .map(([name, module]) => [name, module.replace(/^npm:(.+)@[^/]+/, "$1")]),
);

/** Puts the npm packages of deno.json into `node_modules` of a folder, as deno.lock has them. */
async function installPackages(work: string): Promise<void> {
  const named = PACKAGES.map((name) => [name, config.imports[name]]);
  const imports = Object.fromEntries([...named, ["std", config.imports["@std/assert"]]]);
  const text = JSON.stringify({ nodeModulesDir: "auto", imports });
  await Deno.writeTextFile(path.join(work, "deno.json"), text);
  await Deno.copyFile(path.join(ROOT, "deno.lock"), path.join(work, "deno.lock"));
  await run(work, Deno.execPath(), "install", "--quiet");
}

/** Returns what went into the bundle, as paths from `work`. */
async function bundle(work: string, folder: string): Promise<readonly string[]> {
  const entries = Object.entries(ENTRIES).map(([name, module]) => [name, path.join(ROOT, module)]);
  const { metafile } = await build({
    // Names of packages' modules are relative to it, and so the same each time.
    absWorkingDir: work,
    entryPoints: Object.fromEntries(entries),
    outdir: folder,
    // One folder, so that modules find each other by name wherever their code comes to be.
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: `node${NODE}`,
    alias: STD,
    metafile: true,
    nodePaths: [path.join(work, "node_modules")],
    // A tsconfig.json in a folder above the repository could name other packages.
    tsconfigRaw: {},
    // In the package --bundle is refused, and the run time asks for koffi when it needs it.
    external: ["#runtime", "esbuild", "esbuild-wasm", "koffi"],
    plugins: [projectRunTime],
    // Names are part of messages, so they stay.
    minifyWhitespace: true,
    minifySyntax: true,
    // Node shows the line of an error.
    lineLimit: 200,
    legalComments: "external",
    banner: { js: COMMON_JS },
    logLevel: "error",
  });
  await stop();
  return Object.keys(metafile.inputs);
}

/** The names, versions, licenses and notices of the packages that the inputs are of. */
async function licensesOf(work: string, inputs: readonly string[]): Promise<string> {
  const sections = new Map<string, string>();
  for (const input of inputs) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? [];
    if (folder === undefined || sections.has(folder)) continue;
    const read = (file: string): Promise<string> => Deno.readTextFile(path.join(work, file));
    const { name, version, license } = JSON.parse(await read(`${folder}/package.json`));
    const files = Array.from(Deno.readDirSync(path.join(work, folder)), (entry) => entry.name)
      .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file)).sort();
    // Some packages have their notice in their modules alone.
    const notices = files.length > 0
      ? await Promise.all(files.map((file) => read(`${folder}/${file}`)))
      : /^\/\/ Copyright.*/.exec(await read(input)) ?? [];
    sections.set(folder, [`${name} ${version} (${license})`, ...notices].join("\n\n"));
  }
  const head = "Packages whose code is in dist/, with their licenses.";
  const texts = [...new Set(sections.values())].sort();
  return `${[head, ...texts].join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

/** What packages in CommonJS use and modules do not have. */
const COMMON_JS = 'import { createRequire as triRequireOf } from "node:module";' +
  'import { fileURLToPath as triPathOf } from "node:url";' +
  "const require = triRequireOf(import.meta.url), __filename = triPathOf(import.meta.url);";

const projectRunTime: Plugin = {
  name: "tri",
  setup(build): void {
    const inBench = /[/\\]cli[/\\]bench[/\\][\w]+\.ts$/;
    build.onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ importer, path: imported, resolveDir }) => {
      if (!inBench.test(importer)) return undefined;
      const module = path.relative(ROOT, path.join(resolveDir, imported)).replaceAll("\\", "/");
      const external = OF_THE_PROJECT[module];
      return external === undefined ? undefined : { path: external, external: true };
    });
  },
};
