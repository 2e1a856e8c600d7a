/** Writes the file of `--bundle`, never over one that is not tri's. */
import { BANNER, bundleModule } from "./bundle.ts";
import { type CommandContext, PLATFORMS } from "./commands.ts";
import { usageError } from "./failure.ts";
import type { Invocation } from "./parse.ts";
import { absolutePath, folderOf, joinPath } from "./paths.ts";
import { readTextIfThere } from "./project.ts";
import { replaceFile } from "./replace_file.ts";

/** Bundles what was built. */
export async function writeBundle(
  invocation: Invocation,
  { terminal }: CommandContext,
): Promise<void> {
  const shown = invocation.text("bundle") ?? "";
  const path = absolutePath(shown);
  const before = readTextIfThere(path);
  if (before !== undefined && !before.startsWith(BANNER) && !invocation.flag("force")) {
    throw usageError(
      `${shown} is there already and was not written by tri`,
      "Take another name, or overwrite it with --force.",
    );
  }
  const platform = PLATFORMS.find((name) => name === invocation.text("platform")) ?? "deno";
  const index = `mod.${invocation.text("emit") ?? "ts"}`;
  const entry = joinPath(absolutePath(invocation.text("out") ?? "generated"), index);
  const text = await bundleModule(entry, platform);
  if (text === before) return;
  Deno.mkdirSync(folderOf(path), { recursive: true });
  replaceFile(path, text);
  terminal.say(`bundled for ${platform}: ${shown} (${Math.ceil(text.length / 1e3)} KB)`);
}
