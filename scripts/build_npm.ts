/**
 * `deno task npm`: the npm package by dnt, in npm/package: modules, declarations and the shipped kernels, tested in Node.
 * Only this script needs JSR; `deno task pack` makes a package for the same users without.
 */
import * as path from "node:path";
import { addKernels, copyTree, run } from "./npm/pack.ts";
import { packageFields, runtimeConditions } from "./npm/package_json.ts";

/** What of dnt is used. It is imported by a variable, so that checking this file does not ask JSR for it. */
interface Dnt {
  build(options: Readonly<Record<string, unknown>>): Promise<void>;
  emptyDir(folder: string): Promise<void>;
}

/** The variable names another one, such as a checkout. */
const DNT = Deno.env.get("TRI_DNT") ?? "jsr:@deno/dnt@0.41.3";
const { build, emptyDir }: Dnt = await import(DNT);

const OUT = "npm/package";
const ESM = path.join(OUT, "esm");

/** Modules that are not imported by name: the package's conditions and the emulator's threads load them. */
const HIDDEN = ["ffi/runtime/node", "ffi/runtime/bun", "ffi/threads/worker"];

const FORMATS = ["mod", "npy", "npz", "safetensors"].map((name) => `formats/${name}`);

// dnt's runner of tests is a script: the package is one of modules only when it is done.
const { type, ...fields } = packageFields("./esm");

await emptyDir(OUT);
await build({
  entryPoints: [
    "./mod.ts",
    ...[
      "ffi/mod",
      "ffi/cublas/mod",
      "ffi/dlpack/mod",
      ...FORMATS,
      "bench/mod",
      "testing/mod",
      ...HIDDEN,
    ].map((
      name,
    ) => ({
      name: `./${name}`,
      path: `./${name}.ts`,
    })),
  ],
  outDir: OUT,
  importMap: "deno.json",
  shims: { deno: { test: "dev" } },
  testPattern: "tests/ffi/{shape,buffer,pool,stream}_test.ts",
  // A CommonJS copy would have classes and devices of its own beside those of the modules; Node's `require` loads modules.
  scriptModule: false,
  // dnt 0.41 has TypeScript 5.3, which does not know `Uint8Array<ArrayBuffer>`; `checkTypes` asks a newer one.
  typeCheck: false,
  skipSourceOutput: true,
  compilerOptions: { lib: ["ESNext", "DOM"], target: "ES2022" },
  package: { ...fields, devDependencies: { "@types/node": "^20" } },
  postBuild: async () => {
    await chooseRuntimeByConditions(path.join(ESM, "ffi"));
    await writePackageJson(ESM, { type, imports: { "#runtime": runtimeConditions(".") } });
    for (const name of ["README.md", "LICENSE"]) await Deno.copyFile(name, path.join(OUT, name));
    await copyTree("kernels", path.join(OUT, "kernels"));
    await addKernels(path.resolve(OUT), {});
  },
});
// From here on the whole package is of modules.
await Deno.remove(path.join(ESM, "package.json"));
await writePackageJson(OUT, { ...fields, type });
await checkTypes();

async function writePackageJson(folder: string, value: unknown): Promise<void> {
  await Deno.writeTextFile(
    path.join(folder, "package.json"),
    `${JSON.stringify(value, null, 2)}\n`,
  );
}

/** dnt resolves `#runtime` as deno.json does, which is Deno's module. */
async function chooseRuntimeByConditions(folder: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const file = path.join(folder, name);
    if (isDirectory) await chooseRuntimeByConditions(file);
    else if (name.endsWith(".js")) {
      const text = await Deno.readTextFile(file);
      const chosen = text.replace(/ from "[./]+\/runtime\/deno\.js"/g, ' from "#runtime"');
      if (chosen !== text) await Deno.writeTextFile(file, chosen);
    }
  }
}

/** The declarations, with today's TypeScript and without the libraries' being skipped. */
async function checkTypes(): Promise<void> {
  const modules = [
    "mod",
    "ffi/mod",
    "ffi/cublas/mod",
    "ffi/dlpack/mod",
    ...FORMATS,
    "bench/mod",
    "testing/mod",
  ]
    .map((name) => `esm/${name}.d.ts`);
  const flags = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext"];
  const libraries = ["--lib", "es2022,esnext.disposable,dom", "--types", "node"];
  const tsc = ["exec", "--yes", "--package=typescript@5.9.3", "--", "tsc"];
  await run(OUT, "npm", ...tsc, ...flags, ...libraries, ...modules, "kernels/mod.d.ts");
}
