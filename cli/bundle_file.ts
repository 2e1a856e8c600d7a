/**
 * Writes the file of `--bundle`, never over one that is not tri's. esbuild takes seconds, so the file says in its second
 * line what it was made from, and what it held: while both are so, it stays.
 */
import { BANNER, bundleModule } from "./bundle.ts";
import { STATE_FILE } from "./build_state.ts";
import { type CommandContext, PLATFORMS } from "./commands.ts";
import { usageError } from "./failure.ts";
import { sha256 } from "./hash.ts";
import type { Invocation } from "./parse.ts";
import { absolutePath, folderOf, joinPath } from "./paths.ts";
import { readTextIfThere } from "./project.ts";
import { removeAbandonedReplacements, replaceFile } from "./replace_file.ts";
import { runTimeIdentity } from "./version.ts";

/** Bundles what was built. */
export async function writeBundle(
  invocation: Invocation,
  { terminal }: CommandContext,
): Promise<void> {
  const shown = invocation.text("bundle") ?? "";
  const path = absolutePath(shown);
  const before = readTextIfThere(path);
  const isForced = invocation.flag("force");
  if (before !== undefined && !before.startsWith(BANNER) && !isForced) {
    throw usageError(
      `${shown} is there already and was not written by tri`,
      "Take another name, or overwrite it with --force.",
    );
  }
  removeAbandonedReplacements(path);
  const platform = PLATFORMS.find((name) => name === invocation.text("platform")) ?? "deno";
  const index = `mod.${invocation.text("emit") ?? "ts"}`;
  const entry = joinPath(absolutePath(invocation.text("out") ?? "generated"), index);
  const inputs = inputsOf(folderOf(entry), platform, index);
  if (!isForced && before !== undefined && isMadeFrom(inputs, before)) return;
  const [banner = "", ...lines] = (await bundleModule(entry, platform)).split("\n");
  const body = lines.join("\n");
  const text = `${banner}\n${recordOf(inputs, body)}\n${body}`;
  Deno.mkdirSync(folderOf(path), { recursive: true });
  replaceFile(path, text);
  terminal.say(`bundled for ${platform}: ${shown} (${Math.ceil(text.length / 1e3)} KB)`);
}

/** What decides the bundle: the record of the build has the hashes of all wrappers. */
function inputsOf(out: string, platform: string, index: string): string {
  const record = readTextIfThere(joinPath(out, STATE_FILE)) ?? "";
  return sha256([runTimeIdentity(), platform, index, record].join("\n"));
}

function recordOf(inputs: string, body: string): string {
  return `// ${inputs} ${sha256(body)}`;
}

function isMadeFrom(inputs: string, text: string): boolean {
  const [, record = "", ...lines] = text.split("\n");
  return record === recordOf(inputs, lines.join("\n"));
}
