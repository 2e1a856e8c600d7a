/** A copy of the repository where the commands of a page run: they write, and they must not meet other tests. */
import * as path from "node:path";
import { must } from "../../compiler/support/bug.ts";

export const ROOT: string = path.join(
  must(import.meta.dirname, "the folder of this file"),
  "../..",
);

/** At the top: what was built or installed, and the tests. Names that begin with a dot are left out too. */
const LEFT_OUT = new Set(["generated", "node_modules", "npm", "tests"]);

/** What the pages call the command by, so that no page downloads Deno in a test. */
const NPX = `#!/bin/sh
if [ "$1" != "deno@${Deno.version.deno}" ]; then
  echo "npx $1: the tests run with deno@${Deno.version.deno}" >&2
  exit 1
fi
shift
exec deno "$@"
`;

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  /** Both outputs, for messages. */
  readonly all: string;
}

export interface Workspace extends AsyncDisposable {
  readonly folder: string;
  /** Runs a script of the shell at the top of the copy. */
  shell(script: string): Promise<Ran>;
  deno(...args: string[]): Promise<Ran>;
  write(name: string, text: string): Promise<void>;
}

/** The same folder for one page after the other: Deno compiles the modules of a folder once, and checks their types once. */
let reused: string | undefined;

/** Copies all but the tests and what was built; `kernels` are those of the library to copy, all if absent. */
export async function makeWorkspace(kernels?: readonly string[]): Promise<Workspace> {
  const folder = reused ??= await Deno.makeTempDir({ prefix: "tri-docs-" });
  const isWanted = (name: string): boolean =>
    kernels === undefined || !name.startsWith("kernels/") ||
    kernels.includes(name.slice("kernels/".length));
  for (const name of [...filesIn(".")].filter(isWanted)) {
    const target = path.join(folder, name);
    await Deno.mkdir(path.dirname(target), { recursive: true });
    await Deno.copyFile(path.join(ROOT, name), target);
  }
  const bin = path.join(folder, ".bin");
  await Deno.mkdir(bin);
  await Deno.writeTextFile(path.join(bin, "npx"), NPX, { mode: 0o755 });
  await Deno.symlink(Deno.execPath(), path.join(bin, "deno"));
  const env = {
    PATH: `${bin}:${Deno.env.get("PATH") ?? ""}`,
    NO_COLOR: "1",
    // Other languages sort names that begin with a dot elsewhere.
    LC_ALL: "C",
    DENO_NO_UPDATE_CHECK: "1",
    // What is installed here is a file of this machine.
    npm_config_offline: "true",
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
  };
  const run = (program: string, ...args: string[]): Promise<Ran> =>
    output(program, args, folder, env);
  return {
    folder,
    shell: (script) => run("sh", "-e", "-c", script),
    deno: (...args) => run(Deno.execPath(), ...args),
    write: (name, text) => Deno.writeTextFile(path.join(folder, name), text),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

/** Files below a folder of the repository, by their paths in it. */
function* filesIn(folder: string): Generator<string> {
  for (const { name, isFile, isDirectory } of Deno.readDirSync(path.join(ROOT, folder))) {
    const inside = folder === "." ? name : `${folder}/${name}`;
    if (folder === "." && (LEFT_OUT.has(name) || name.startsWith("."))) continue;
    if (isFile) yield inside;
    else if (isDirectory) yield* filesIn(inside);
  }
}

async function output(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Ran> {
  const { code, stdout, stderr } = await new Deno.Command(program, { args: [...args], cwd, env })
    .output();
  const [out = "", err = ""] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  // Pages do not show the line that says why the emulator is used: machines have different reasons.
  const rest = err.replace(/^tri: using .*\n/gm, "");
  return { code, stdout: out, all: rest + out };
}
