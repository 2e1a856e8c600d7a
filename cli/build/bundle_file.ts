/**
 * Writes the files of `--bundle`, never over one that is not tri's. esbuild takes seconds, so the file says in its second
 * line what it was made from, and what it held: while both are so, it stays.
 */
import { mkdirSync } from "node:fs";
import { format } from "@std/fmt/bytes";
import { BANNER, bundleModule } from "./bundle.ts";
import { filesOf, readState, STATE_FILE } from "./state.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { PLATFORMS } from "../words/options.ts";
import { environmentError, usageError, writeFailure } from "../failure.ts";
import { sha256 } from "../files/hash.ts";
import { absolutePath, folderOf, joinPath, relativePath } from "../files/paths.ts";
import { isFolder, readTextIfThere } from "../project/project.ts";
import { removeAbandonedReplacements, replaceFile } from "../files/replace_file.ts";
import { IS_NPM_PACKAGE, runTimeIdentity } from "../identity.ts";

const OTHER_NAME = "Take another name.";

/** Refuses a name that no bundle can have, before anything is built. */
export function guardBundle(invocation: Invocation): void {
  if (IS_NPM_PACKAGE) {
    throw environmentError(
      "The npm package @tri/cli has no esbuild for --bundle",
      "Bundle the wrappers by the project's own bundler; for esbuild there is the plugin @tri/tri/esbuild.",
    );
  }
  const shown = invocation.text("bundle") ?? "";
  const path = absolutePath(shown);
  if (!/\.m?js$/.test(path)) {
    throw usageError(`--bundle ${shown}: a bundle is JavaScript`, "Let its name end in .js.");
  }
  if (isFolder(path)) throw usageError(`--bundle ${shown} is a folder`, OTHER_NAME);
  for (
    const [file, name] of [[path, shown], [declarationsOf(path), declarationsOf(shown)]] as const
  ) {
    const before = readTextIfThere(file);
    if (before !== undefined && !before.startsWith(BANNER) && !invocation.flag("force")) {
      throw usageError(
        `${name} is there already and was not written by tri`,
        "Take another name, or overwrite it with --force.",
      );
    }
  }
}

/** Bundles what was built. */
export async function writeBundle(
  invocation: Invocation,
  { terminal }: CommandContext,
): Promise<void> {
  const shown = invocation.text("bundle") ?? "";
  const path = absolutePath(shown);
  const out = absolutePath(invocation.text("out") ?? "generated");
  if (filesOf(readState(out)).has(relativePath(out, path))) {
    throw usageError(`${shown} is a file of the output, which the bundle is made of`, OTHER_NAME);
  }
  const before = readTextIfThere(path);
  const isForced = invocation.flag("force");
  removeAbandonedReplacements(path);
  const platform = PLATFORMS.find((name) => name === invocation.text("platform")) ?? "deno";
  const index = `mod.${invocation.text("emit") ?? "ts"}`;
  const entry = joinPath(out, index);
  makeFolder(folderOf(path));
  writeDeclarations(path, entry);
  const inputs = inputsOf(folderOf(entry), platform, index);
  if (!isForced && before !== undefined && isMadeFrom(inputs, before)) return;
  const [banner = "", ...lines] = (await bundleModule(entry, platform)).split("\n");
  const body = lines.join("\n");
  const text = `${banner}\n${recordOf(inputs, body)}\n${body}`;
  replaceFile(path, text);
  terminal.say(`bundled for ${platform}: ${shown} (${format(text.length)})`);
}

/** Types for TypeScript: those of the wrappers and of the run time's package. */
function writeDeclarations(bundle: string, entry: string): void {
  const path = declarationsOf(bundle);
  const wrappers = relativePath(folderOf(path), entry);
  const specifier = wrappers.startsWith(".") ? wrappers : `./${wrappers}`;
  const text = `${BANNER}\nexport * from "${specifier}";\nexport * from "@tri/tri/ffi";\n`;
  if (readTextIfThere(path) !== text) replaceFile(path, text);
}

/** `.d.ts` beside `.js`, `.d.mts` beside `.mjs`. */
function declarationsOf(bundle: string): string {
  return bundle.replace(/\.(m?)js$/, ".d.$1ts");
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw writeFailure(path, error, "another folder");
  }
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
