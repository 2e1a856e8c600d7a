/**
 * Types by TypeScript's native compiler, which takes a quarter of the processor time of `deno check` and finds the same. It knows
 * nothing of deno.json: settings, import map and packages are written as a project into a temporary folder, in which
 * links name the repository (`src`), all other files (`files`) and Deno's cache of packages (`node_modules`).
 */
import config from "../../deno.json" with { type: "json" };

const ROOT = new URL("../../", import.meta.url).pathname;

/** Programs to check, by absolute paths, which may be patterns. */
export interface Project {
  readonly include: readonly string[];
  readonly exclude?: readonly string[];
  /** As in a deno.json: libraries of TypeScript, and `deno.ns` or `deno.window`. */
  readonly lib: readonly string[];
}

/** The compiler that npm has for this machine, and what projects link to. */
export interface NativeCompiler {
  readonly path: string;
  /** The folder with a folder per package and version. */
  readonly packages: string;
  /** What `deno types` prints. */
  readonly declarations: string;
}

/** Finds the compiler. Deno brings it, with all packages of the lock file, when it is not in the cache. */
export async function nativeCompiler(): Promise<NativeCompiler | undefined> {
  const { npmCache }: { npmCache: string } = JSON.parse(await deno("info", "--json"));
  const name = `@typescript/typescript-${Deno.build.os}-${ARCHITECTURES[Deno.build.arch]}`;
  const file = `${name}/${PACKAGES.get(name)}/lib/tsc`;
  try {
    if (await folderWith(npmCache, file) === undefined) await deno("install", "-q", "--frozen");
    const packages = await folderWith(npmCache, file);
    if (packages === undefined) return undefined;
    return { path: `${packages}/${file}`, packages, declarations: await deno("types") };
  } catch {
    return undefined;
  }
}

/** The cache has a folder for each registry. */
async function folderWith(cache: string, file: string): Promise<string | undefined> {
  if (!await exists(cache)) return undefined;
  for await (const { name } of Deno.readDir(cache)) {
    const folder = `${cache}/${name}`;
    if (await exists(`${folder}/${file}`)) return folder;
  }
  return undefined;
}

/** What is wrong with a project; empty: nothing. */
export async function typeErrorsOf(compiler: NativeCompiler, project: Project): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "tri-types-" });
  try {
    await writeProject(folder, compiler, project);
    const { success, stdout, stderr } = await new Deno.Command(compiler.path, {
      // Its threads repeat work; in the gate all cores are busy.
      args: ["--project", folder, "--pretty", "false", "--singleThreaded"],
      // It is written in Go, whose collector runs a sixth of the time unless it may wait for more garbage.
      env: { GOGC: "400" },
      cwd: folder,
    }).output();
    const text = new TextDecoder();
    return success ? "" : text.decode(stdout) + text.decode(stderr) || `${compiler.path} failed`;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Names of architectures in npm. */
const ARCHITECTURES: Readonly<Record<typeof Deno.build.arch, string>> = {
  aarch64: "arm64",
  x86_64: "x64",
};

const LOCK: { readonly npm: Readonly<Record<string, unknown>> } = JSON.parse(
  Deno.readTextFileSync(`${ROOT}deno.lock`),
);

/** The version of each package of the lock file, whose keys are `NAME@VERSION`, some with the versions of peers after a `_`. */
const PACKAGES: ReadonlyMap<string, string> = new Map(
  Object.keys(LOCK.npm).map((key) => {
    const at = key.indexOf("@", 1);
    return [key.slice(0, at), key.slice(at + 1).replace(/_.*/, "")];
  }),
);

/** What `deno check` sets beside what deno.json says. */
const SETTINGS = {
  allowImportingTsExtensions: true,
  isolatedModules: true,
  module: "nodenext",
  moduleDetection: "force",
  noEmit: true,
  preserveSymlinks: true,
  resolveJsonModule: true,
  skipLibCheck: true,
  target: "esnext",
  types: ["node"],
};

/** The import map. A package under its own name is found by TypeScript, and one without declarations in tests/support. */
const PATHS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    Object.entries(config.imports).flatMap(([name, target]) =>
      target.startsWith("./") ? [[name, [target.replace(".", "./src")]]] : []
    ),
  ),
  "@std/assert": ["./src/tests/support/assert.d.ts"],
};

async function writeProject(
  folder: string,
  { packages, declarations }: NativeCompiler,
  project: Project,
): Promise<void> {
  await Deno.symlink(ROOT, `${folder}/src`);
  await Deno.symlink("/", `${folder}/files`);
  for (const [name, version] of PACKAGES) {
    const link = `${folder}/node_modules/${name}`;
    await Deno.mkdir(link.slice(0, link.lastIndexOf("/")), { recursive: true });
    await Deno.symlink(`${packages}/${name}/${version}`, link);
  }
  const compilerOptions = {
    ...config.compilerOptions,
    ...SETTINGS,
    lib: project.lib.filter((name) => !name.startsWith("deno.")),
    paths: PATHS,
  };
  const settings = {
    compilerOptions,
    files: [
      "deno.d.ts",
      ...config.compilerOptions.types.map((path) => linked(ROOT + path.slice(2))),
    ],
    include: project.include.map(linked),
    exclude: project.exclude?.map(linked) ?? [],
  };
  await Deno.writeTextFile(`${folder}/tsconfig.json`, JSON.stringify(settings));
  await Deno.writeTextFile(`${folder}/package.json`, '{ "type": "module" }');
  const isWhole = project.lib.includes("deno.window");
  await Deno.writeTextFile(
    `${folder}/deno.d.ts`,
    isWhole ? declarations : namespaceOf(declarations),
  );
}

/** A path of the project: each file has one, so that its types are one. */
function linked(path: string): string {
  return path.startsWith(ROOT) ? `src/${path.slice(ROOT.length)}` : `files${path}`;
}

/** The libraries that declare Deno's namespace alone, of those that `deno types` prints one after the other. */
function namespaceOf(declarations: string): string {
  const start = '/// <reference no-default-lib="true" />';
  return declarations.split(start)
    .filter((library) => /^declare namespace Deno \{/m.test(library)).join(start);
}

async function deno(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: ROOT,
  }).output();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch {
    return false;
  }
}
