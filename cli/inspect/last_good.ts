/** The function on which a pass broke, in a file: with it the failure can be repeated without the source. */
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import type { PassFailure } from "../../compiler/driver/passes/pass_failure.ts";
import { absolutePath, folderOf, joinPath } from "../files/paths.ts";
import { replaceFile } from "../files/replace_file.ts";

/** Writes it to the system's folder for temporary files, or to `out`; undefined: to neither. */
export function saveLastGood({ step, func, ir }: PassFailure, out: string): string | undefined {
  for (const folder of [tmpdir, (): string => out]) {
    try {
      const path = joinPath(absolutePath(folder()), `${func}.${step}.ir`);
      mkdirSync(folderOf(path), { recursive: true });
      replaceFile(path, ir);
      return path;
    } catch {
      // The failure itself is reported anyway.
    }
  }
  return undefined;
}

/** What to add to the message of a failure. */
export function repeatHint({ step }: PassFailure, path: string): string {
  const options = step === "emit" ? "--stage ptx" : `--passes ${step}`;
  return `The function before that is in ${path};\n\`tri inspect ${path} ${options}\` repeats the failure.`;
}
