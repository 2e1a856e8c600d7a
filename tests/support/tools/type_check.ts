/** Types of programs that tests write, with the settings and the import map of the repository. */
import { resolve } from "node:path";
import {
  type NativeCompiler,
  nativeCompiler,
  typeErrorsOf,
} from "../../../scripts/types/native.ts";

const REPOSITORY = new URL("../../../deno.json", import.meta.url).pathname;

let compiler: Promise<NativeCompiler | undefined> | undefined;

/** What TypeScript says of programs, whose paths are relative to a folder; empty: nothing is wrong. */
export async function typeErrors(cwd: string, programs: readonly string[]): Promise<string> {
  compiler ??= nativeCompiler();
  const native = await compiler;
  if (native !== undefined) {
    const include = programs.map((program) => resolve(cwd, program));
    return await typeErrorsOf(native, { include, lib: ["esnext", "deno.window"] });
  }
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", "-q", "--config", REPOSITORY, ...programs],
    cwd,
    env: { NO_COLOR: "1" },
  }).output();
  if (success) return "";
  return [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("") ||
    "deno check failed";
}
