/** Folders to tarballs: what the scripts of all packages share. */
import * as path from "node:path";

/** The top of the repository. */
export const ROOT: string = path.join(import.meta.dirname ?? ".", "../..");

/** A packed package. */
export interface Packed {
  readonly name: string;
  /** The tarball's path. */
  readonly file: string;
  readonly bytes: number;
  /** Bytes of its files when it is installed. */
  readonly unpackedBytes: number;
}

/** Runs a program; its output, or an error that shows it. */
export async function run(cwd: string, program: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(program, { args, cwd }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} failed:\n${err}${out}`);
  return out ?? "";
}

/** Copies a folder with all that `isWanted` says yes to; it gets paths from the top of the folder. */
export async function copyTree(
  from: string,
  to: string,
  isWanted: (name: string) => boolean = () => true,
  inside = "",
): Promise<void> {
  await Deno.mkdir(path.join(to, inside), { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(path.join(from, inside))) {
    const at = path.join(inside, name);
    if (!isWanted(at)) continue;
    if (isDirectory) await copyTree(from, to, isWanted, at);
    else await Deno.copyFile(path.join(from, at), path.join(to, at));
  }
}

/** Adds what every package has: package.json, README, CHANGELOG and license. `readme` is in scripts/npm/. */
export async function addTexts(folder: string, readme: string, fields: unknown): Promise<void> {
  for (const name of ["LICENSE", "CHANGELOG.md"]) {
    await Deno.copyFile(path.join(ROOT, name), path.join(folder, name));
  }
  await Deno.copyFile(path.join(ROOT, "scripts/npm", readme), path.join(folder, "README.md"));
  await writeJson(path.join(folder, "package.json"), fields);
}

/** Writes JSON as npm does. */
export async function writeJson(file: string, value: unknown): Promise<void> {
  await Deno.writeTextFile(file, `${JSON.stringify(value, null, 2)}\n`);
}

interface NpmPack {
  readonly name: string;
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
}

/** Makes the tarball of a folder; an error if it is larger than the budget. */
export async function packFolder(
  folder: string,
  destination: string,
  budgetBytes: number,
): Promise<Packed> {
  await Deno.mkdir(destination, { recursive: true });
  const answer: unknown = JSON.parse(
    await run(folder, "npm", "pack", "--json", "--pack-destination", destination),
  );
  const { name, filename, size, unpackedSize } = packedIn(answer);
  if (size > budgetBytes) {
    throw new Error(`${name} is ${size} bytes packed; its budget is ${budgetBytes}`);
  }
  // Older versions of npm leave the scope's slash in.
  const file = path.join(destination, filename.replace(/^@/, "").replaceAll("/", "-"));
  return { name, file, bytes: size, unpackedBytes: unpackedSize };
}

/** What `npm pack --json` answers: an array with an object, or an object by package name from npm 11 on. */
function packedIn(answer: unknown): NpmPack {
  const found = typeof answer === "object" && answer !== null
    ? Object.values(answer)[0]
    : undefined;
  if (!isNpmPack(found)) throw new Error(`npm pack named no file: ${JSON.stringify(answer)}`);
  return found;
}

function isNpmPack(value: unknown): value is NpmPack {
  return typeof value === "object" && value !== null && "name" in value && "filename" in value &&
    "size" in value && "unpackedSize" in value;
}

/** The URL of the remote `origin` where npm can read it, else undefined. */
export async function originUrl(): Promise<string | undefined> {
  const { success, stdout } = await new Deno.Command("git", {
    args: ["remote", "get-url", "origin"],
    cwd: ROOT,
    stderr: "null",
  }).output();
  const url = new TextDecoder().decode(stdout).trim();
  return success && /^https:\/\//.test(url) ? `git+${url}` : undefined;
}
