/** Paths with `/` on every system, so that they may appear in outputs. */
import * as nodePath from "node:path";

/** An absolute, normalised path. */
export function absolutePath(path: string): string {
  return slashed(nodePath.resolve(path));
}

/** What a path means in a folder; an absolute one stays as it is. */
export function resolvePath(folder: string, path: string): string {
  return slashed(nodePath.resolve(folder, path));
}

/** `path` as seen from the folder `from`; both absolute. */
export function relativePath(from: string, path: string): string {
  const relative = slashed(nodePath.relative(from, path));
  return relative === "" ? "." : relative;
}

/** Joins and normalises. */
export function joinPath(...parts: string[]): string {
  return slashed(nodePath.join(...parts));
}

/** The folder of a path. */
export function folderOf(path: string): string {
  return slashed(nodePath.dirname(path));
}

/** Whether an absolute path lies in a folder, or is it. */
export function isInside(folder: string, path: string): boolean {
  const relative = nodePath.relative(folder, path);
  return relative !== ".." && !relative.startsWith(`..${nodePath.sep}`) &&
    !nodePath.isAbsolute(relative);
}

function slashed(path: string): string {
  return nodePath.sep === "/" ? path : path.replaceAll(nodePath.sep, "/");
}
