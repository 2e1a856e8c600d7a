/**
 * `tri cache`: what makes builds incremental is the record `.tri-build.json` in the output folder together with the
 * files that it lists, so an output folder can be copied, committed or thrown away whole. A cache in a folder, if one is
 * stated, is listed and verified too; `clear` empties it where the command line names it.
 */
import { statSync, unlinkSync } from "node:fs";
import { sumOf } from "@std/collections/sum-of";
import { format } from "@std/fmt/bytes";
import { didYouMean } from "../words/did_you_mean.ts";
import { type BuildState, filesOf, hashesOf, readState, STATE_FILE } from "../build/state.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { EXIT, failureOf, usageError } from "../failure.ts";
import { plural } from "../diagnostics/format.ts";
import { hashOnDisk, updateFolder } from "../files/output_folder.ts";
import { absolutePath, joinPath } from "../files/paths.ts";
import { isFile, isFolder, openProject } from "../project/project.ts";
import { cacheEntries, folderOfCache, isIntact, trimCache } from "./folder_cache.ts";
import { remoteSettings } from "./settings.ts";
import { isFolderUrl } from "./url.ts";
import type { Terminal } from "../terminal.ts";
import { Staging } from "../files/staging.ts";
import { jsonText } from "../json.ts";

/** The body of the command. */
export async function runCache(
  invocation: Invocation,
  context: CommandContext,
): Promise<number> {
  const [action = "list", ...more] = invocation.operands;
  const run = ACTIONS.get(action);
  if (run === undefined || more.length > 0) {
    throw usageError(
      `tri cache cannot ${[action, ...more].join(" ")}`,
      didYouMean(action, [...ACTIONS.keys()]) ??
        "Say list, verify or clear; tri build --explain says why each source is built again.",
    );
  }
  return await run(invocation, context);
}

type Action = (invocation: Invocation, context: CommandContext) => Promise<number> | number;

const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ["list", list],
  ["verify", verify],
  ["clear", clear],
]);

/** A recorded source. */
interface Row {
  readonly source: string;
  readonly kernels: number;
  readonly files: number;
  readonly bytes: number;
  /** Files that are not what tri wrote. */
  readonly changed: readonly string[];
}

/** Fails where files of the output are not what tri wrote. */
function verify(invocation: Invocation, { terminal }: CommandContext): number {
  const shown = invocation.text("out") ?? "generated";
  const out = absolutePath(shown);
  const files = filesOf(readState(out));
  const changed = changedFiles(out, Object.fromEntries(files));
  const cache = statedFolder(invocation);
  const damaged = cache === undefined
    ? []
    : cacheEntries(cache.folder).filter((entry) => !isIntact(entry)).map(({ path }) => path);
  const ok = changed.length === 0 && damaged.length === 0;
  if (invocation.flag("json")) {
    const more = cache === undefined ? {} : { damaged };
    terminal.print(jsonText({ ok, out: shown, files: files.size, changed, ...more }));
  } else {
    for (const path of damaged) terminal.print(`${path} is damaged; the next build ignores it\n`);
    for (const path of changed) terminal.print(`${path} was changed or is missing\n`);
    terminal.say(
      files.size === 0
        ? `nothing is recorded in ${shown}`
        : changed.length === 0
        ? `${plural(files.size, "file")} of ${shown} as written`
        : `${changed.length} of ${
          plural(files.size, "file")
        } changed or missing; tri build writes them again`,
    );
  }
  return ok ? EXIT.ok : EXIT.kernels;
}

function list(invocation: Invocation, { terminal }: CommandContext): number {
  const shown = invocation.text("out") ?? "generated";
  const out = absolutePath(shown);
  const state = readState(out);
  const rows = Object.values(state.sources).map((source): Row => ({
    source: source.file,
    kernels: source.counts.kernels,
    files: Object.keys(source.outputs).length,
    bytes: bytesOf(out, Object.keys(source.outputs)),
    changed: changedFiles(out, source.outputs),
  }));
  const changed = changedFiles(out, state.shared);
  const cache = statedFolder(invocation);
  const entries = cache === undefined ? [] : cacheEntries(cache.folder);
  const bytes = sumOf(entries, (entry) => entry.bytes);
  if (invocation.flag("json")) {
    const more = cache === undefined ? {} : { cache: { ...cache, entries: entries.length, bytes } };
    terminal.print(
      jsonText({ ok: true, out: shown, sources: rows, changed, ...more }),
    );
    return EXIT.ok;
  }
  if (rows.length === 0) terminal.say(`nothing is recorded in ${shown}`);
  for (const row of rows) terminal.print(`${lineOf(row)}\n`);
  for (const path of changed) terminal.print(`${path} was changed or is missing\n`);
  if (cache !== undefined) {
    terminal.print(
      `cache ${cache.folder}: ${entries.length} entries, ${format(bytes)} of at most ${
        format(cache.limitBytes)
      }\n`,
    );
  }
  return EXIT.ok;
}

/** The cache in a folder that the command line, the environment or the settings state. */
function statedFolder(
  invocation: Invocation,
): { readonly folder: string; readonly limitBytes: number } | undefined {
  const settings = remoteSettings(invocation, openProject("."));
  if (settings === undefined || !isFolderUrl(settings.url)) return undefined;
  return { folder: folderOfCache(settings), limitBytes: settings.limitBytes };
}

function lineOf({ source, kernels, files, bytes, changed }: Row): string {
  const facts = `${plural(kernels, "kernel")}, ${plural(files, "file")}, ${format(bytes)}`;
  const stale = changed.length === 0 ? "" : `; changed or missing: ${changed.join(", ")}`;
  return `${source}: ${facts}${stale}`;
}

async function clear(invocation: Invocation, { terminal }: CommandContext): Promise<number> {
  if (invocation.flag("remote-cache")) return clearCache(invocation, terminal);
  const shown = invocation.text("out") ?? "generated";
  const out = absolutePath(shown);
  // A running build ends first; files of a killed one are removed too.
  using _staging = await turnIn(out, () => terminal.say(`waiting for a build into ${shown}`));
  const state = readState(out);
  const removed = remove(out, state);
  const kept = [...filesOf(state).keys()].filter((path) => isFile(joinPath(out, path)));
  if (invocation.flag("json")) {
    terminal.print(jsonText({ ok: true, out: shown, removed, kept }));
    return EXIT.ok;
  }
  for (const path of kept) terminal.say(`kept, because it was changed: ${path}`);
  terminal.say(
    removed.length === 0
      ? `nothing is recorded in ${shown}`
      : `${plural(removed.length, "file")} removed from ${shown}`,
  );
  return EXIT.ok;
}

/** Empties a cache that other checkouts may use, so only where it is named. */
function clearCache(invocation: Invocation, terminal: Terminal): number {
  const cache = statedFolder(invocation);
  if (cache === undefined) {
    throw usageError(
      "tri cache clear --remote-cache: not the URL of a folder",
      "State file:///PATH; what a server has, only the server removes.",
    );
  }
  const removed = trimCache(cache.folder, -1);
  if (invocation.flag("json")) {
    terminal.print(jsonText({ ok: true, cache: cache.folder, removed: removed.length }));
  } else terminal.say(`${removed.length} entries removed from ${cache.folder}`);
  return EXIT.ok;
}

/** Without the lock where nothing can be written, as on a full disk: no build can run there. */
async function turnIn(out: string, waiting: () => void): Promise<Staging | undefined> {
  if (!isFolder(out)) return undefined;
  try {
    return await Staging.open(out, waiting);
  } catch (error) {
    if (failureOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Removes the files that tri wrote and that have not changed since, then the record. */
function remove(out: string, state: BuildState): readonly string[] {
  const { removed } = updateFolder(out, new Map(), hashesOf(state));
  const record = joinPath(out, STATE_FILE);
  if (!isFile(record)) return removed;
  unlinkSync(record);
  return [...removed, STATE_FILE];
}

function changedFiles(out: string, outputs: Readonly<Record<string, string>>): string[] {
  return Object.entries(outputs).filter(([path, hash]) => hashOnDisk(out, path) !== hash)
    .map(([path]) => path);
}

function bytesOf(out: string, paths: readonly string[]): number {
  return sumOf(
    paths.map((path) => joinPath(out, path)).filter(isFile),
    (path) => statSync(path).size,
  );
}
