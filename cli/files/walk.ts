/** Files by the folders or by the globs that lead to them. */
import { type Dirent, existsSync, readdirSync } from "node:fs";
import { globToRegExp } from "@std/path/glob-to-regexp";
import { isGlob } from "@std/path/is-glob";
import { absolutePath, joinPath, relativePath } from "./paths.ts";

/** Folders that hold no sources of this project. */
const SKIPPED: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/** What below a folder is no folder, with its path, by name. `leftOut` is a folder that is not looked into. */
export function entriesBelow(
  folder: string,
  leftOut?: string,
): (readonly [path: string, entry: Dirent])[] {
  const entries = readdirSync(folder, { withFileTypes: true })
    .toSorted((a, b) => a.name < b.name ? -1 : 1);
  return entries.flatMap((entry) => {
    const path = joinPath(folder, entry.name);
    if (!entry.isDirectory()) return [[path, entry]];
    return SKIPPED.has(entry.name) || path === leftOut ? [] : entriesBelow(path, leftOut);
  });
}

/**
 * The operands with the files that globs among them match, for shells that leave globs to programs. What exists is meant as it
 * is, and a glob without a match stays. `glob` of `node:fs` is in no Node before version 22.
 */
export function withoutGlobs(operands: readonly string[]): readonly string[] {
  return operands.flatMap((operand) => {
    if (!isGlob(operand) || existsSync(operand)) return [operand];
    const parts = joinPath(operand).split("/");
    const fixed = Math.max(parts.findIndex((part) => isGlob(part)), 0);
    const top = absolutePath(parts.slice(0, fixed).map((part) => `${part}/`).join("") || ".");
    if (!existsSync(top)) return [operand];
    const pattern = globToRegExp(parts.slice(fixed).join("/"));
    const found = entriesBelow(top).map(([path]) => path)
      .filter((path) => pattern.test(relativePath(top, path)));
    return found.length === 0 ? [operand] : found;
  });
}
