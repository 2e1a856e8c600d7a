/** A file for a program that reads no pipe; gone when disposed. */
import { tmpdir } from "node:os";
import { codeOf } from "../host/errors.ts";
import { environmentError, failureOf } from "../failure.ts";
import { TemporaryFile } from "./temporary_file.ts";

const PREFIX = ".tri-scratch-";

/** In the output folder, which tri may write to, or in the system's folder for such files. */
export function scratchFile(content: Uint8Array): TemporaryFile {
  for (const folder of [() => "generated", tmpdir]) {
    try {
      return new TemporaryFile(folder(), PREFIX, content);
    } catch (error) {
      if (failureOf(error) === undefined && codeOf(error) !== "ENOENT") throw error;
    }
  }
  throw environmentError(
    "There is no folder that tri may write a temporary file to",
    "Build once, so that generated/ is there, or run deno with --allow-write.",
  );
}
