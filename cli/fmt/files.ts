/** The `.tc` files and headers that the operands of `tri fmt` name. */
import { readFileSync, statSync } from "node:fs";
import { decodeSource } from "../../compiler/preprocess/text.ts";
import { Reporter } from "../../compiler/support/diagnostic.ts";
import type { Diagnostic } from "../../compiler/support/diagnostic.ts";
import { usageError } from "../failure.ts";
import { absolutePath } from "../files/paths.ts";
import { entriesBelow, withoutGlobs } from "../files/walk.ts";

/** A text to format. */
export interface TextFile {
  /** As messages show it. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  /** What is wrong with its bytes. */
  readonly mistakes: readonly Diagnostic[];
}

/** Paths of all files, each once, in order; those of a folder are sorted. */
export function findFiles(operands: readonly string[]): readonly string[] {
  const found = withoutGlobs(operands).flatMap((operand) => {
    const path = absolutePath(operand);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) throw usageError(`No such file or folder: ${operand}`);
    if (!stat.isDirectory()) {
      if (isFormatted(path)) return [path];
      throw usageError(`Not a Triton-C file: ${operand}`, "Triton-C files end in .tc or .h.");
    }
    const files = entriesBelow(path)
      .filter(([, entry]) => entry.isFile() && isFormatted(entry.name)).map(([path]) => path);
    if (files.length === 0) throw usageError(`No .tc or .h file in ${operand}`);
    return files;
  });
  return [...new Set(found)];
}

/** Reads a file. */
export function readText(path: string, name: string): TextFile {
  const reporter = new Reporter();
  const { text } = decodeSource(name, readFileSync(path), reporter);
  return { name, path, text, mistakes: reporter.diagnostics };
}

function isFormatted(name: string): boolean {
  return name.endsWith(".tc") || name.endsWith(".h");
}
