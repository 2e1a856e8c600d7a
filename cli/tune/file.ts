/** Where timings of a source lie, and reading and writing them. */
import {
  NO_TIMINGS,
  parseTuneFile,
  printTuneFile,
  type TuneFile,
} from "../../ffi/kernel/tuning/tune_file.ts";
import { environmentError } from "../failure.ts";
import { replaceFile } from "../files/replace_file.ts";
import { isNotCapable } from "../host/errors.ts";
import { isFolder, readTextIfThere } from "../project/project.ts";
import type { Shard } from "./shard.ts";

/** The file that belongs to a source. */
export function tunePathOf(sourcePath: string): string {
  return sourcePath.replace(/\.tc$/, ".tune.json");
}

/** The file beside it that one part of a split writes, so that no two machines write the same one. */
export function shardPathOf(
  sourcePath: string,
  { index, count }: Pick<Shard, "index" | "count">,
): string {
  return sourcePath.replace(/\.tc$/, `.tune.${index}-of-${count}.json`);
}

/** What the name of a file of timings says: its source without `.tc`, and which part it is. */
export interface TuneName {
  readonly stem: string;
  readonly shard: { readonly index: number; readonly count: number } | undefined;
}

/** Reads the name of a file of timings; undefined where it is none of the two kinds. */
export function parseTuneName(path: string): TuneName | undefined {
  const [name = ""] = /[^/\\]*$/.exec(path) ?? [];
  const [, stem, index, count] = /^(.+)\.tune(?:\.(\d+)-of-(\d+))?\.json$/.exec(name) ?? [];
  if (stem === undefined) return undefined;
  const shard = index === undefined ? undefined : { index: Number(index), count: Number(count) };
  return { stem, shard };
}

/** Reads the file; nothing where there is none. Refuses what is not of the format. */
export function readTuneFile(path: string): TuneFile {
  if (isFolder(path)) {
    throw environmentError(`${path} is a folder, and timings are a file of that name`, "Move it.");
  }
  const text = readTextIfThere(path);
  const file = text === undefined ? NO_TIMINGS : parseTuneFile(text);
  if (typeof file !== "string") return file;
  throw environmentError(`${path}: ${file}`, "Restore it, or remove it and run tri tune again.");
}

/** Replaces the file, unless it has these timings already; a reader sees the old file or the new one. */
export function writeTuneFile(path: string, file: TuneFile): void {
  const text = printTuneFile(file);
  if (readTextIfThere(path) === text) return;
  try {
    replaceFile(path, text);
  } catch (error) {
    if (!(isNotCapable(error))) throw error;
    throw environmentError(
      `tri may not write ${path}`,
      'Use the task "tune", or run deno with --allow-write for that folder.',
    );
  }
}
