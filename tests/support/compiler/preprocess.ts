/** Short ways to run the front of the compiler on a text. */
import type { IncludeResolver } from "../../../compiler/options.ts";
import { preprocess, type PreprocessResult } from "../../../compiler/preprocess/preprocess.ts";
import { type Diagnostic, Reporter } from "../../../compiler/support/diagnostic.ts";
import { positionOf } from "../../../compiler/support/source.ts";

export interface Run extends PreprocessResult {
  /** The tokens' texts with a blank between them. */
  readonly text: string;
  readonly diagnostics: readonly Diagnostic[];
  /** `E1010 3:1` for each diagnostic; the file's name stands before positions outside the main file. */
  readonly found: readonly string[];
}

/** Preprocesses a file `t.tc`; `defines` are -D values, `includes` other files by name. */
export function run(
  text: string,
  defines: Readonly<Record<string, string | null>> = {},
  includes: Readonly<Record<string, string>> = {},
): Run {
  const reporter = new Reporter();
  const files = new Map(Object.entries(includes).map(([name, text]) => [name, { name, text }]));
  const include: IncludeResolver = (name) => name.startsWith("/") ? "outside" : files.get(name);
  const result = preprocess({ name: "t.tc", text }, {
    defines: Object.entries(defines).map(([name, value]) => ({ name, value })),
    predefined: { __TRITON_C__: "1", NULL: "0" },
    include,
  }, reporter);
  const { diagnostics } = reporter;
  return {
    ...result,
    text: result.tokens.slice(0, -1).map((token) => token.text).join(" "),
    diagnostics,
    found: diagnostics.map(located),
  };
}

/** `E1010 3:1`, or `E1010 <-D TM>:1:1` outside `t.tc`. */
export function located({ code, span }: Diagnostic): string {
  const { line, column } = positionOf(span.file, span.start);
  const name = span.file.name === "t.tc" ? "" : `${span.file.name}:`;
  return `${code} ${name}${line}:${column}`;
}
