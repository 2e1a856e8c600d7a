/**
 * Types of the whole repository. Where npm has no native compiler for this machine, or cannot be asked, `deno check` finds them.
 */
import config from "../../deno.json" with { type: "json" };
import playground from "../../playground/deno.json" with { type: "json" };
import { nativeCompiler, type Project, typeErrorsOf } from "./native.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

const inRepository = (path: string): string => `${ROOT}${path}`;

/** Members of the workspace are apart, because they have their own libraries. */
const PROJECTS: readonly Project[] = [
  {
    include: [inRepository("**/*.ts")],
    exclude: [...config.exclude, ...config.workspace].map((path) =>
      inRepository(path.replace(/^\.\//, ""))
    ),
    lib: ["esnext", "deno.window"],
  },
  { include: [inRepository("playground/**/*.ts")], lib: playground.compilerOptions.lib },
];

/** Whether all types are right; what is not is printed. */
async function check(): Promise<boolean> {
  const compiler = await nativeCompiler();
  if (compiler === undefined) {
    return (await new Deno.Command(Deno.execPath(), { args: ["check", "-q"], cwd: ROOT }).spawn()
      .status).success;
  }
  const errors = (await Promise.all(PROJECTS.map((each) => typeErrorsOf(compiler, each)))).join("");
  if (errors !== "") Deno.stderr.writeSync(new TextEncoder().encode(errors));
  return errors === "";
}

if (import.meta.main) Deno.exit(await check() ? 0 : 1);
