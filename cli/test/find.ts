/** The modules of tests of a source: beside it, and in the project's folder `tests`. */
import { readdirSync } from "node:fs";
import { escape } from "@std/regexp/escape";
import { folderOf, joinPath } from "../files/paths.ts";
import { entriesBelow } from "../files/walk.ts";
import { isFolder } from "../project/project.ts";

const EXTENSIONS = "(?:[cm]?[jt]s)";

/** Paths of the modules `NAME_test.*` and `NAME.test.*`, sorted. */
export function testsOf(source: string, root: string): readonly string[] {
  const folder = folderOf(source);
  const name = source.slice(folder.length + 1).replace(/\.tc$/, "");
  const pattern = new RegExp(`^${escape(name)}[_.]test\\.${EXTENSIONS}$`);
  const beside = readdirSync(folder, { withFileTypes: true })
    .map((entry) => [joinPath(folder, entry.name), entry] as const);
  const tests = joinPath(root, "tests");
  const found = [...beside, ...isFolder(tests) ? entriesBelow(tests) : []]
    .filter(([, entry]) => entry.isFile() && pattern.test(entry.name)).map(([path]) => path);
  return [...new Set(found)].sort();
}
