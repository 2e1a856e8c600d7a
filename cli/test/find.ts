/** The modules of tests of a source: beside it, and in the project's folder `tests`. */
import { readdirSync } from "node:fs";
import { folderOf, joinPath } from "../files/paths.ts";
import { isFolder } from "../project/project.ts";

const EXTENSIONS = "(?:[cm]?[jt]s)";

/** Paths of the modules `NAME_test.*` and `NAME.test.*`, sorted. */
export function testsOf(source: string, root: string): readonly string[] {
  const name = source.slice(folderOf(source).length + 1).replace(/\.tc$/, "");
  const escaped = name.replace(/[^\w]/g, "\\$&");
  const pattern = new RegExp(`^${escaped}[_.]test\\.${EXTENSIONS}$`);
  const folders = [folderOf(source), ...foldersBelow(joinPath(root, "tests"))];
  const found = folders.flatMap((folder) =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && pattern.test(entry.name))
      .map((entry) => joinPath(folder, entry.name))
  );
  return [...new Set(found)].sort();
}

function foldersBelow(folder: string): readonly string[] {
  if (!isFolder(folder)) return [];
  const below = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "node_modules")
    .flatMap((entry) => foldersBelow(joinPath(folder, entry.name)));
  return [folder, ...below];
}
