/** What is wrong with a text, as the editor marks it. */
import { compileFile } from "../../compiler/driver/compile_file.ts";
import type { Diagnostic } from "../../compiler/support/diagnostic.ts";
import { positionOf, type Span, useSite } from "../../compiler/support/source.ts";
import { prepare, type Program } from "./program.ts";

/** A change that mends the text. */
export interface Mend {
  readonly title: string;
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/** A diagnostic in the file that is edited, by UTF-16 offsets. */
export interface Problem {
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly from: number;
  readonly to: number;
  /** 1-based. */
  readonly line: number;
  /** The sentence, its hint and its notes. */
  readonly message: string;
  readonly mend?: Mend;
}

/** Problems of the chosen instances, or of all. */
export function problemsOf(program: Program, which: "all" | "chosen"): readonly Problem[] {
  const { file, options } = prepare(program, which);
  const { diagnostics } = compileFile(file, { ...options, checkOnly: true });
  return diagnostics.map((each) => problemOf(each, program));
}

/** What lies in another file is shown at the start of this one. */
function problemOf(diagnostic: Diagnostic, { name }: Program): Problem {
  const { code, severity, message, span, hint, notes } = diagnostic;
  const site = useSite(span);
  const isHere = site.file.name === name;
  const { line } = positionOf(site.file, site.start);
  const place = isHere ? "" : `${site.file.name}:${line}: `;
  const said = notes.map((note) => `note: ${note.message}`);
  const mend = mendOf(diagnostic, name);
  return {
    code,
    severity,
    from: isHere ? site.start : 0,
    to: isHere ? site.end : 0,
    line: isHere ? line : 1,
    message: [`${place}${message}`, ...hint === undefined ? [] : [hint], ...said].join("\n"),
    ...(mend === undefined ? {} : { mend }),
  };
}

/** Text from a macro cannot be replaced for this use alone. */
function mendOf({ fix }: Diagnostic, name: string): Mend | undefined {
  if (fix === undefined || fix.span.expansion !== undefined || fix.span.file.name !== name) {
    return undefined;
  }
  const { span: { start: from, end: to }, replacement: insert } = fix;
  return { title: titleOf(fix.span, insert), from, to, insert };
}

function titleOf({ file, start, end }: Span, insert: string): string {
  const old = file.text.slice(start, end);
  if (insert === "") return `Remove ${old}`;
  return old === "" ? `Insert ${insert.trim()}` : `Replace ${old} with ${insert}`;
}
