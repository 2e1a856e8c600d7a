/** Finds what `#include` names (language.md, section 1.4) and records every path it looked at. */
import { statSync } from "node:fs";
import type { IncludeRefusal, IncludeResolver } from "../../compiler/options.ts";
import type { SourceFile } from "../../compiler/support/source.ts";
import { isNotCapable } from "../host/errors.ts";
import { sha256 } from "../files/hash.ts";
import {
  absolutePath,
  folderOf,
  isInside,
  joinPath,
  relativePath,
  resolvePath,
} from "../files/paths.ts";
import { readHeader } from "./header.ts";

/** Content hash of every path looked at, relative to the root; null: no file. */
export type Probes = Record<string, string | null>;

/** A resolver for one source, with the paths it looked at so far. */
export interface IncludeFinder {
  readonly resolve: IncludeResolver;
  readonly probes: Probes;
}

/** `folders` are the `-I` folders, as typed. */
export function includeFinder(root: string, folders: readonly string[]): IncludeFinder {
  const probes: Probes = {};
  const known = new Map<string, SourceFile>();

  const look = (path: string): SourceFile | IncludeRefusal | undefined => {
    const name = relativePath(root, path);
    const seen = known.get(name);
    if (seen !== undefined) return seen;
    const text = readHeader(path);
    probes[name] = probeOf(text);
    if (typeof text !== "string") return text;
    const file = { name, text };
    known.set(name, file);
    return file;
  };

  const resolve: IncludeResolver = (name, kind, from) => {
    const near = kind === "quoted" ? [folderOf(joinPath(root, from.name))] : [];
    let outside = false;
    for (const folder of [...near, ...folders.map(absolutePath)]) {
      const path = resolvePath(folder, name);
      if (isInside(root, path)) {
        const file = look(path);
        if (file !== undefined) return file;
      } else {
        outside ||= isThere(path);
      }
    }
    return outside ? "outside" : undefined;
  };
  return { resolve, probes };
}

/** The same paths looked at again. */
export function probeAgain(root: string, probes: Probes): Probes {
  return Object.fromEntries(
    Object.keys(probes).map((name) => {
      return [name, probeOf(readHeader(joinPath(root, name)))];
    }),
  );
}

const probeOf = (text: ReturnType<typeof readHeader>): string | null =>
  typeof text === "string" ? sha256(text) : null;

/** Whether there is anything but a folder; what it holds is no concern of the project. */
function isThere(path: string): boolean {
  try {
    return !statSync(path).isDirectory();
  } catch (error) {
    if (isNotCapable(error)) throw error;
    return false;
  }
}
