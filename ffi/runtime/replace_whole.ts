/**
 * A file replaced as a whole: readers see the old one or the new one. The new one is written beside it under the name
 * that `tri` uses for such files (cli/files/replace_file.ts), so that the next `tri` command in the folder removes
 * what a killed process left.
 */
import type { WrittenFile } from "./runtime.ts";

/** What it takes of a file system; each throws when it fails. */
export interface Files {
  readonly write: (url: URL) => void;
  readonly rename: (from: URL, to: URL) => void;
  readonly remove: (url: URL) => void;
  readonly isAbsence: (error: unknown) => boolean;
}

/** A `tri` command may take the file for abandoned and remove it before it is renamed. */
const ATTEMPTS = 3;

export function replaceWhole(url: URL, files: Files): WrittenFile {
  for (let attempt = 1;; attempt++) {
    const beside = new URL(`.tri-replacing-${crypto.randomUUID()}`, url);
    let isWritten = false;
    try {
      files.write(beside);
      isWritten = true;
      files.rename(beside, url);
      return { kind: "written" };
    } catch (error) {
      if (attempt < ATTEMPTS && isWritten && files.isAbsence(error)) continue;
      removeIfThere(beside, files);
      throw error;
    }
  }
}

function removeIfThere(url: URL, { remove }: Files): void {
  try {
    remove(url);
  } catch {
    // It was never written, or is gone.
  }
}
