/** Writing files that others may be reading. */
import { writeFailure } from "../failure.ts";
import { folderOf } from "./paths.ts";
import { removeAbandonedFiles, TemporaryFile } from "./temporary_file.ts";

/** Such files lie beside those that they are to replace. */
const PREFIX = ".tri-replacing-";

/** Replaces the text of the file atomically: readers see the old text or the new one. */
export function replaceFile(path: string, text: string): void {
  try {
    using file = new TemporaryFile(folderOf(path), PREFIX, new TextEncoder().encode(text));
    file.moveTo(path);
  } catch (error) {
    throw writeFailure(path, error, "another folder");
  }
}

/** Removes what a process left that was killed while it replaced a file beside this one. */
export function removeAbandonedReplacements(path: string): void {
  removeAbandonedFiles(folderOf(path), PREFIX);
}
