/** Where timings of a source lie, and reading them. */
import { NO_TIMINGS, parseTuneFile, type TuneFile } from "../../ffi/kernel/tune_file.ts";
import { environmentError } from "../failure.ts";
import { readTextIfThere } from "../project/project.ts";

/** The file that belongs to a source. */
export function tunePathOf(sourcePath: string): string {
  return sourcePath.replace(/\.tc$/, ".tune.json");
}

/** Reads the file; nothing where there is none. Refuses what is not of the format. */
export function readTuneFile(path: string): TuneFile {
  const text = readTextIfThere(path);
  const file = text === undefined ? NO_TIMINGS : parseTuneFile(text);
  if (typeof file !== "string") return file;
  throw environmentError(`${path}: ${file}`, "Restore it, or remove it and run tri tune again.");
}
