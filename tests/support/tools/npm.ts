/** npm for tests of what is published: they are skipped where there is no npm, or no registry. */
import { must0, run } from "./run_program.ts";
import { NOT_TRIED } from "../sampled.ts";

/** Installs packages, or what package.json of the folder names, without running their scripts. */
export async function install(folder: string, ...packages: string[]): Promise<void> {
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await must0(folder, "npm", "install", ...flags, ...packages);
}

async function missing(): Promise<string | undefined> {
  try {
    const { code } = await run(".", "npm", "view", "typescript", "version");
    return code === 0 ? undefined : "npm's registry does not answer";
  } catch {
    return "there is no npm";
  }
}

/** A test that needs npm and its registry, and is left out unless this run tries it. */
export async function npmTest(
  title: string,
  fn: (t: Deno.TestContext) => Promise<void>,
  isTried = true,
): Promise<void> {
  const why = isTried ? await missing() : NOT_TRIED;
  Deno.test({
    name: why === undefined ? title : `${title} [skipped: ${why}]`,
    ignore: why !== undefined,
    fn,
  });
}
