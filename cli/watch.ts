/**
 * `--watch`: repeats a command whenever something that it read has changed. What counts is the text of
 * the files; events of the file system only say when to look. A slow timer looks too, because folders that are
 * deleted and made anew, network file systems and full event tables send no events.
 */
import { type FSWatcher, watch as watchFolder } from "node:fs";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { stableJson } from "./build/state.ts";
import type { CommandContext, Invocation } from "./command.ts";
import { EXIT, Failure, failureOf, tellFailure } from "./failure.ts";
import { formatOf } from "./diagnostics/format.ts";
import { probeAgain, type Probes } from "./project/include.ts";
import { absolutePath, folderOf, joinPath } from "./files/paths.ts";
import {
  CONFIG_NAMES,
  findSources,
  isFolder,
  openProject,
  readTextIfThere,
} from "./project/project.ts";
import { operandsOf } from "./project/session.ts";

/** One run of the command; notes the included files that it looked for in `probes`. */
export type Round = (probes: Probes) => Promise<number>;

/** Changes come in bursts: an editor writes, renames and deletes. This long nothing must change. */
const SETTLE_MS = 60;
/** How long to wait for an event before looking without one. */
const CLOCK_MS = 1000;

/** Runs until the user ends it (Ctrl-C, SIGTERM) or stops reading its output. What makes the first round impossible is thrown. */
export async function watch(
  invocation: Invocation,
  context: CommandContext,
  round: Round,
): Promise<number> {
  const ended = endOfWatching();
  for (let count = 0;; count++) {
    const probes: Probes = {};
    const sources = readSources(invocation);
    const work = count === 0 ? round(probes) : surviving(round(probes), invocation, context);
    const end = await Promise.race([work, ended]);
    if (end === "ended") break;
    if (context.terminal.isLeft) return end;
    if (count === 0) context.terminal.say("watching; Ctrl-C ends");
    const change = nextChange(invocation, stableJson([sources, probes]), probes);
    if (await Promise.race([change, ended]) === "ended") break;
  }
  return EXIT.ok;
}

/** Reports the failure and continues: the next change may fix it. */
async function surviving(
  work: Promise<number>,
  invocation: Invocation,
  { terminal }: CommandContext,
): Promise<number> {
  try {
    return await work;
  } catch (error) {
    const failure = failureOf(error) ?? defect(error);
    tellFailure(failure, terminal, formatOf(invocation) === "json" ? "lines" : undefined);
    return failure.exitCode;
  }
}

/** Half-typed text must not end the watching, not even where it meets a mistake of ours. */
function defect(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  return new Failure(EXIT.kernels, message, "This is a defect in tri; please report it.");
}

function endOfWatching(): Promise<"ended"> {
  return new Promise((resolve) => {
    process.on("SIGINT", () => resolve("ended"));
    if (process.platform !== "win32") process.on("SIGTERM", () => resolve("ended"));
  });
}

/** Resolves when the files differ from those that were built and no longer change. */
async function nextChange(invocation: Invocation, built: string, probes: Probes): Promise<void> {
  const look = (): string =>
    stableJson([readSources(invocation), probeAgain(rootOf(invocation), probes)]);
  using events = new Events(foldersToWatch(invocation, probes));
  for (;; await events.next()) {
    for (let seen = look(); seen !== built;) {
      await delay(SETTLE_MS);
      const now = look();
      if (now === seen) return;
      seen = now;
    }
  }
}

/** The texts of the settings and of all sources; where they cannot be read, why not. */
function readSources(invocation: Invocation): unknown {
  try {
    const operands = operandsOf(invocation);
    const project = openProject(operands[0] ?? ".");
    const settings = CONFIG_NAMES.map((name) => readTextIfThere(joinPath(project.root, name)));
    const out = invocation.text("out") ?? "generated";
    const sources = findSources(project, operands, out).map(({ stem, file }) => [stem, file]);
    return [project.root, settings, sources];
  } catch (error) {
    const failure = failureOf(error);
    if (failure === undefined) throw error;
    return failure.message;
  }
}

function rootOf(invocation: Invocation): string {
  return openProject(operandsOf(invocation)[0] ?? ".").root;
}

interface Folders {
  readonly deep: readonly string[];
  readonly flat: readonly string[];
}

function foldersToWatch(invocation: Invocation, probes: Probes): Folders {
  const root = rootOf(invocation);
  const deep = operandsOf(invocation).map(absolutePath).filter(isFolder);
  const flat = [
    root,
    ...operandsOf(invocation).map((operand) => folderOf(absolutePath(operand))),
    ...Object.keys(probes).map((name) => folderOf(joinPath(root, name))),
  ].filter(isFolder);
  return { deep: [...new Set(deep)], flat: [...new Set(flat)] };
}

/** Events of the file system, as a stream of wake-ups. */
class Events implements Disposable {
  readonly #watchers: readonly FSWatcher[];
  #wake: () => void = () => {};

  constructor({ deep, flat }: Folders) {
    const wake = (): void => this.#wake();
    this.#watchers = [
      ...deep.flatMap((folder) => watcherOf(folder, true, wake)),
      ...flat.flatMap((folder) => watcherOf(folder, false, wake)),
    ];
  }

  /** The next event, or the timer. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => {
      const clock = setTimeout(resolve, CLOCK_MS);
      this.#wake = (): void => {
        clearTimeout(clock);
        resolve();
      };
    });
  }

  [Symbol.dispose](): void {
    for (const watcher of this.#watchers) watcher.close();
  }
}

/** No watcher where the system has no room for another one, or the folder is gone: the timer is enough. */
function watcherOf(folder: string, recursive: boolean, wake: () => void): FSWatcher[] {
  try {
    const watcher = watchFolder(folder, { recursive }, wake);
    watcher.on("error", wake);
    return [watcher];
  } catch {
    return [];
  }
}
