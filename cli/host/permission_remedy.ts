/** What to do where Deno does not permit something: the permission set, or one command that works. */
import process from "node:process";
import { absolutePath, isInside, relativePath } from "../files/paths.ts";

/** What a build needs besides writing. */
const OTHERS = ["--allow-read", "--allow-env", "--allow-run"];

/** `message` is Deno's own, which names the access and the flag that grants it; `words` is the whole command line. */
export function permissionRemedy(message: string, words: readonly string[] = process.argv): string {
  const flag = /--allow-\w+/.exec(message)?.[0] ?? "--allow-all";
  const [, path] = /write access to "([^"]*)"/.exec(message) ?? [];
  const [, main, ...rest] = words;
  if (flag !== "--allow-write" || path === undefined || main === undefined) {
    return `Grant it: add it to the permission set "tri" in deno.json, or run deno with ${flag}.`;
  }
  const cwd = absolutePath(".");
  const shown = isInside(cwd, main) ? relativePath(cwd, main) : main;
  const folder = outOf(rest) ?? path;
  const command = ["deno", "run", ...OTHERS, `--allow-write=${folder}`, shown, ...rest];
  return `This command may write there:\n  ${command.map(quoted).join(" ")}\n` +
    'To let the task write there, add the folder to the permission set "tri" in deno.json.';
}

/** The value of `--out`. */
function outOf(words: readonly string[]): string | undefined {
  const at = words.findIndex((word) => word === "--out" || word.startsWith("--out="));
  const word = words[at];
  return word === undefined ? undefined : word === "--out" ? words[at + 1] : word.slice(6);
}

/** As a shell reads it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
