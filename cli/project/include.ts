/** Finds what `#include` names (language.md, section 1.4) and remembers every place it looked at. */
import type { IncludeResolver } from "../../compiler/options.ts";
import type { SourceFile } from "../../compiler/support/source.ts";
import { sha256 } from "../files/hash.ts";
import {
  absolutePath,
  folderOf,
  isInside,
  joinPath,
  relativePath,
  resolvePath,
} from "../files/paths.ts";
import { readTextIfThere } from "./project.ts";

/** Content hash of every place looked at, by path from the root; null: nothing was there. */
export type Probes = Record<string, string | null>;

/** A resolver for one source, with the places it looked at so far. */
export interface IncludeFinder {
  readonly resolve: IncludeResolver;
  readonly probes: Probes;
}

/** `folders` are the `-I` folders, as typed. */
export function includeFinder(root: string, folders: readonly string[]): IncludeFinder {
  const probes: Probes = {};
  const known = new Map<string, SourceFile>();

  const look = (path: string): SourceFile | undefined => {
    const name = relativePath(root, path);
    const seen = known.get(name);
    if (seen !== undefined) return seen;
    const text = readTextIfThere(path);
    probes[name] = text === undefined ? null : sha256(text);
    if (text === undefined) return undefined;
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
        outside ||= readTextIfThere(path) !== undefined;
      }
    }
    return outside ? "outside" : undefined;
  };
  return { resolve, probes };
}

/** The same places looked at again. */
export function probeAgain(root: string, probes: Probes): Probes {
  return Object.fromEntries(
    Object.keys(probes).map((name) => {
      const text = readTextIfThere(joinPath(root, name));
      return [name, text === undefined ? null : sha256(text)];
    }),
  );
}
