/** Formatting: the edits that make a document, or the lines of a range, what `tri fmt` makes of them. */
import { diffLines } from "diff";
import type { Range, TextEdit } from "vscode-languageserver-protocol";
import { syntaxErrors } from "../../compiler/driver/syntax.ts";
import { formatFile, haveSameTokens } from "../../compiler/format/format.ts";
import type { Prepared } from "./workspace.ts";

/** Replacement of whole lines. */
interface LineEdit {
  /** 0-based. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** None where the syntax is wrong; diagnostics say that already. */
export function formattingEdits({ file, options }: Prepared, range?: Range): TextEdit[] {
  const formatted = formatFile(file);
  if (!formatted.ok || formatted.text === file.text) return [];
  if (!file.name.endsWith(".h") && syntaxErrors(file, options).length > 0) return [];
  const edits = lineEdits(file.text, formatted.text);
  const chosen = range === undefined
    ? edits
    : edits.filter(({ start, end }) =>
      start <= range.end.line && range.start.line <= Math.max(start, end - 1)
    );
  // Lines that are equal by chance may divide a change in two, of which one alone would move tokens.
  if (range !== undefined && !haveSameTokens(file.text, apply(file.text, chosen))) return [];
  return chosen.map(({ start, end, text }) => ({
    range: { start: { line: start, character: 0 }, end: { line: end, character: 0 } },
    newText: text,
  }));
}

function lineEdits(before: string, after: string): readonly LineEdit[] {
  const edits: LineEdit[] = [];
  let line = 0;
  let open: LineEdit | undefined;
  for (const { added, removed, count, value } of diffLines(before, after)) {
    if (!added && !removed) {
      if (open !== undefined) edits.push(open);
      open = undefined;
      line += count;
      continue;
    }
    open ??= { start: line, end: line, text: "" };
    if (removed) {
      line += count;
      open = { ...open, end: line };
    } else open = { ...open, text: open.text + value };
  }
  if (open !== undefined) edits.push(open);
  return edits;
}

function apply(text: string, edits: readonly LineEdit[]): string {
  const lines = text.split(/(?<=\n)/);
  for (const { start, end, text } of edits.toReversed()) lines.splice(start, end - start, text);
  return lines.join("");
}
