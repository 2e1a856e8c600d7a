/** What is wrong with the syntax of a file, as its first instance sees it; cheaper than checking every instance. */
import { ASKED_WARPS } from "../instances/kernel_options.ts";
import { firstBindings } from "../instances/instances.ts";
import type { CompileOptions } from "../options.ts";
import { parse } from "../parse/parser.ts";
import { readPragmas } from "../pragma/read_pragmas.ts";
import { predefinedMacros } from "../preprocess/predefined.ts";
import { preprocess } from "../preprocess/preprocess.ts";
import { type Code, type Diagnostic, Reporter } from "../support/diagnostic.ts";
import type { SourceFile } from "../support/source.ts";
import { ALL_TARGETS } from "../targets.ts";
import { VERSION } from "../version.ts";

const SYNTAX: ReadonlySet<Code> = new Set<Code>(
  ["E1001", "E1002", "E1004", "E1006", "E1010", "E1014", "E5003"],
);
/** Without what these prevent, the rest of a file may look wrong. */
const UNDECIDED: ReadonlySet<Code> = new Set<Code>(
  ["E1019", "E1020", "E1025", "E1030", "E1031", "E1032", "E1033", "E1034", "E1040"],
);

/** Errors of syntax; none where a header is missing or `#error` speaks, because then the text cannot be judged. */
export function syntaxErrors(file: SourceFile, options: CompileOptions): readonly Diagnostic[] {
  const reporter = new Reporter();
  const groups = readPragmas(file, options.include, new Reporter());
  const standIns = firstBindings(groups.map(({ items }) => items), options.defines ?? []);
  const [target = "sm_80"] = options.targets;
  const { sm, exact } = ALL_TARGETS[target];
  const predefined = predefinedMacros({
    version: VERSION,
    sm,
    exact,
    numWarps: ASKED_WARPS,
    numStages: 1,
    debug: options.debug === true,
  });
  const { include } = options;
  const { tokens, comments } = preprocess(file, {
    defines: standIns,
    predefined,
    ...(include === undefined ? {} : { include }),
  }, reporter);
  parse(tokens, comments, reporter);
  const { diagnostics } = reporter;
  if (diagnostics.some(({ code }) => UNDECIDED.has(code))) return [];
  return diagnostics.filter(({ code, span }) => SYNTAX.has(code) && span.file === file);
}
