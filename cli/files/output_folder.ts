/** The output folder: files appear whole or not at all, and only when their bytes differ. */
import { mkdirSync, readdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { codeOf, isMissing } from "../host/errors.ts";
import { sha256OfFile } from "./hash.ts";
import { usageError, writeFailure } from "../failure.ts";
import { folderOf, joinPath } from "./paths.ts";
import type { Staged } from "./staging.ts";

export interface WriteReport {
  readonly written: readonly string[];
  readonly unchanged: number;
  readonly removed: readonly string[];
}

/** What is there instead of a file; no hash reads like this. */
const FOLDER = "folder";

/** The hash of a file in the folder; undefined when it is not there. */
export function hashOnDisk(out: string, path: string): string | undefined {
  try {
    return sha256OfFile(joinPath(out, path));
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (codeOf(error) === "EISDIR") return FOLDER;
    throw error;
  }
}

/**
 * Writes `files` and takes away those of an earlier build (`obsolete`, with the hashes they may have),
 * unless someone changed them. The first of `files` is the record of what is ours: written first, an
 * interrupted build is seen and repaired by the next.
 */
export function updateFolder(
  out: string,
  files: ReadonlyMap<string, Staged>,
  obsolete: ReadonlyMap<string, ReadonlySet<string>>,
): WriteReport {
  const written: string[] = [];
  let unchanged = 0;
  for (const [path, staged] of files) {
    if (hashOnDisk(out, path) === staged.hash) {
      unchanged++;
      continue;
    }
    moveTo(staged, joinPath(out, path));
    written.push(path);
  }
  const removed = [...obsolete].filter(([path, hashes]) => hashes.has(hashOnDisk(out, path) ?? ""))
    .map(([path]) => path);
  for (const path of removed) {
    unlinkSync(joinPath(out, path));
    removeEmptyFolders(out, folderOf(path));
  }
  return { written, unchanged, removed };
}

/** Refuses to overwrite what tri did not write; `ours` are the paths that it did. */
export function guardForeignFiles(
  out: string,
  files: ReadonlyMap<string, Staged>,
  ours: ReadonlySet<string>,
): void {
  for (const [path, { hash }] of files) {
    if (ours.has(path)) continue;
    const found = hashOnDisk(out, path);
    if (found === FOLDER || (found !== undefined && found !== hash)) {
      throw usageError(
        `${joinPath(out, path)} is there already and was not written by tri`,
        "Take another folder with --out, or overwrite it with --force.",
      );
    }
  }
}

/** Refuses paths of which one is the folder of another. */
export function guardFolders(paths: Iterable<string>): void {
  const files = new Set(paths);
  for (const path of files) {
    for (let folder = folderOf(path); folder !== "."; folder = folderOf(folder)) {
      if (!files.has(folder)) continue;
      throw usageError(
        `${folder} would be a file and a folder in the output (for ${path})`,
        "Rename one of the sources.",
      );
    }
  }
}

function moveTo({ file }: Staged, path: string): void {
  try {
    mkdirSync(folderOf(path), { recursive: true });
    renameSync(file, path);
  } catch (error) {
    throw writeFailure(path, error);
  }
}

function removeEmptyFolders(out: string, folder: string): void {
  for (let at = folder; at !== "."; at = folderOf(at)) {
    const path = joinPath(out, at);
    if (readdirSync(path).length > 0) return;
    rmdirSync(path);
  }
}
