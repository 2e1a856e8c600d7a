/**
 * `deno task npm`: the npm packages with modules by dnt, tested in Node: tarballs in npm/. Only this script needs JSR; `deno task
 * pack` makes packages for the same users without.
 */
import * as path from "node:path";
import { runtimeConditions, runTimeFields, runTimeModules } from "./npm/package_json.ts";
import { describePacked, PACKAGES } from "./npm/pack.ts";
import { RUN_TIME_BUDGET } from "./npm/run_time.ts";
import { addTexts, originUrl, type Packed, packFolder, run, writeJson } from "./npm/tarball.ts";

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

// dnt's runner of tests is a script: the package is one of modules only when it is done.
const fields = runTimeFields("./esm", await originUrl());
const { type, ...untyped } = fields;

await emptyDir(OUT);
await build({
  entryPoints: runTimeModules().map(([name, module]) => ({ name, path: module })),
  outDir: OUT,
  importMap: "deno.json",
  shims: { deno: { test: "dev" } },
  // Tests that take random inputs use hooks that dnt's runner does not have.
  testPattern: "tests/ffi/{buffer,stream,errors,module}_test.ts",
  // A CommonJS copy would have classes and devices of its own beside those of the modules; Node's `require` loads modules.
  scriptModule: false,
  // dnt 0.41 has TypeScript 5.3, which does not know `Uint8Array<ArrayBuffer>`; `checkTypes` asks a newer one.
  typeCheck: false,
  skipSourceOutput: true,
  compilerOptions: { lib: ["ESNext", "DOM"], target: "ES2022" },
  package: { ...untyped, devDependencies: { "@types/node": "^20" } },
  postBuild: async () => {
    await chooseRuntimeByConditions(path.join(ESM, "ffi"));
    await writeJson(path.join(ESM, "package.json"), {
      type,
      imports: { "#runtime": runtimeConditions(".") },
    });
  },
});
// From here on the whole package is of modules.
await Deno.remove(path.join(ESM, "package.json"));
await addTexts(OUT, "tri.md", fields);
await checkTypes();

const byDnt = (destination: string): Promise<Packed> =>
  packFolder(OUT, destination, RUN_TIME_BUDGET);
for (const pack of Object.values({ ...PACKAGES, "@tri/tri": byDnt })) {
  await Deno.stdout.write(
    new TextEncoder().encode(describePacked(await pack(path.resolve("npm")))),
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
  const modules = runTimeModules().map(([, module]) =>
    `esm/${module.slice("./".length, -".ts".length)}.d.ts`
  );
  const flags = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext"];
  const libraries = ["--lib", "es2022,esnext.disposable,dom", "--types", "node"];
  const tsc = ["exec", "--yes", "--package=typescript@5.9.3", "--", "tsc"];
  await run(OUT, "npm", ...tsc, ...flags, ...libraries, ...modules);
}
