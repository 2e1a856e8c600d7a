/**
 * `deno task pack`: the npm package as a tarball, without JSR: `deno pack` writes modules and declarations, `tri build
 * --emit js` the shipped kernels. Prints the tarball's path.
 */
import * as path from "node:path";
import { packageFields } from "./package_json.ts";

const ROOT = path.join(import.meta.dirname ?? ".", "../..");

/** What `deno pack` takes from the repository and npm's users have no use for: the command runs on Deno. */
const LEFT_OUT = ["cli", "codegen", "deno.json", "deno.lock"];

/** What of the kernels is packed. */
export interface PackOptions {
  /** As the option of `tri build`; every architecture when absent. */
  readonly arch?: string;
  /** Whether there are cubins beside PTX; there are when absent. */
  readonly cubins?: boolean;
}

/** Makes the tarball in a folder; the result is its path. */
export async function packNpm(destination: string, options: PackOptions = {}): Promise<string> {
  const work = await Deno.makeTempDir({ prefix: "tri-pack-" });
  try {
    const base = path.join(work, "base.tgz");
    await run(ROOT, Deno.execPath(), "pack", "-q", "--allow-dirty", "--no-source-maps", "-o", base);
    await run(work, "tar", "-xzf", base);
    const folder = path.join(work, "package");
    for (const name of LEFT_OUT) await removeIfThere(path.join(folder, name));
    await addKernels(folder, options);
    const text = JSON.stringify(packageFields("."), null, 2);
    await Deno.writeTextFile(path.join(folder, "package.json"), `${text}\n`);
    await Deno.mkdir(destination, { recursive: true });
    const said = await run(folder, "npm", "pack", "--json", "--pack-destination", destination);
    return path.join(destination, fileNameIn(said));
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

/** Compiles the kernels; their sources stay in the package, because the declarations' maps lead there. */
export async function addKernels(folder: string, options: PackOptions): Promise<void> {
  await Deno.rename(path.join(folder, "kernels"), path.join(folder, "source"));
  const main = path.join(ROOT, "cli/main.ts");
  const config = path.join(ROOT, "deno.json");
  await run(
    folder,
    Deno.execPath(),
    ...["run", "-A", "-q", "--config", config, main, "build", "source"],
    ...["--out", "kernels", "--emit", "js", "--arch", options.arch ?? "all"],
    ...options.cubins === false ? ["--no-cubin"] : [],
  );
  await Deno.remove(path.join(folder, "kernels/.tri-build.json"));
}

/** Copies a folder with all that is in it. */
export async function copyTree(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    const [source, target] = [path.join(from, name), path.join(to, name)];
    await (isDirectory ? copyTree(source, target) : Deno.copyFile(source, target));
  }
}

/** What `npm pack --json` says: an array with an object, or an object by package name from npm 11 on. */
function fileNameIn(json: string): string {
  const found = /"filename": "([^"]+)"/.exec(json)?.[1];
  if (found === undefined) throw new Error(`npm pack named no file: ${json}`);
  // Older versions of npm leave the scope's slash in.
  return found.replace(/^@/, "").replaceAll("/", "-");
}

async function removeIfThere(name: string): Promise<void> {
  try {
    await Deno.remove(name, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Runs a program; its output, or an error that shows it. */
export async function run(cwd: string, program: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(program, { args, cwd }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} failed:\n${err}${out}`);
  return out ?? "";
}

if (import.meta.main) {
  const tarball = await packNpm(path.resolve(Deno.args[0] ?? "npm"));
  await Deno.stdout.write(new TextEncoder().encode(`${tarball}\n`));
}
