/** npm for tests of what is published: they are skipped where there is no npm, or no registry. */
import { assertEquals } from "./assert.ts";

export interface Ran {
  readonly code: number;
  readonly output: string;
}

/** Runs a program; both outputs together. */
export async function run(cwd: string, program: string, ...args: string[]): Promise<Ran> {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args,
    cwd,
    env: { NO_COLOR: "1" },
  })
    .output();
  const decoder = new TextDecoder();
  return { code, output: decoder.decode(stdout) + decoder.decode(stderr) };
}

/** Runs a program that has to end with 0. */
export async function must0(cwd: string, program: string, ...args: string[]): Promise<void> {
  const { code, output } = await run(cwd, program, ...args);
  assertEquals(code, 0, `${program} ${args.join(" ")}\n${output}`);
}

/** Installs packages, or what package.json of the folder names, without running their scripts. */
export async function install(folder: string, ...packages: string[]): Promise<void> {
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await must0(folder, "npm", "install", ...flags, ...packages);
}

async function reason(): Promise<string | undefined> {
  try {
    const { code } = await run(".", "npm", "view", "typescript", "version");
    return code === 0 ? undefined : "npm's registry does not answer";
  } catch {
    return "there is no npm";
  }
}

const skipped = await reason();

/** A test that needs npm and its registry. */
export function npmTest(title: string, fn: (t: Deno.TestContext) => Promise<void>): void {
  Deno.test({
    name: skipped === undefined ? title : `${title} [skipped: ${skipped}]`,
    ignore: skipped !== undefined,
    fn,
  });
}
