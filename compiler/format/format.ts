/**
 * Triton-C text in the one style that it has. Only blanks and line breaks change: the tokens, the comments and the
 * directives are those of the text before, which is checked. The result of formatting a result is the same text.
 */
import { bug } from "../support/bug.ts";
import { type Diagnostic, Reporter } from "../support/diagnostic.ts";
import type { SourceFile } from "../support/source.ts";
import { lex } from "../preprocess/lexer.ts";
import { reportStray, reportUnbalanced } from "./balance.ts";
import { type Item, itemsOf } from "./items.ts";
import { linesOf } from "./lines.ts";
import { type Statement, statementsOf } from "./statements.ts";

/** The formatted text, or what is wrong with the text so that it cannot be formatted. */
export type Formatted =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** A text with mistakes may need another pass until it stays as it is; others need the one that shows that they do. */
const MOST_PASSES = 5;

/** Formats a `.tc` file or a header. */
export function formatFile(file: SourceFile): Formatted {
  const reporter = new Reporter();
  const lexed = lex(file, reporter);
  let items = itemsOf(lexed);
  reportStray(file, items, reporter);
  reportUnbalanced(items, reporter);
  if (reporter.errorCount > 0) {
    const diagnostics = reporter.diagnostics.filter(({ severity }) => severity === "error");
    return { ok: false, diagnostics };
  }
  const keys = keysOf(items);
  let text = file.text;
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const next = join(statementsOf(items));
    if (next === text) break;
    text = next;
    items = itemsOf(lex({ name: file.name, text }, new Reporter()));
    const after = keysOf(items);
    const changed = keys.findIndex((key, i) => key !== after[i]);
    if (changed >= 0 || keys.length !== after.length) {
      bug(`formatting changes ${file.name}: ${keys[changed]} becomes ${after[changed]}`);
    }
  }
  return { ok: true, text };
}

function join(statements: readonly Statement[]): string {
  const blocks = statements.map((statement) => [...linesOf(statement)]);
  for (let at = 0; at < statements.length;) {
    const length = groupLength(statements, at);
    appendTrailing(statements.slice(at, at + length), blocks.slice(at, at + length));
    at += length;
  }
  const lines = statements.flatMap(({ blankBefore }, i) => {
    const isFirst = i === 0 || statements[i - 1]?.pieces.at(-1)?.text === "{";
    return [...(blankBefore && !isFirst ? [""] : []), ...blocks[i] ?? []];
  });
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

/** Statements on lines below one another whose comments are aligned; 1 for those that have none. */
function groupLength(statements: readonly Statement[], from: number): number {
  const first = statements[from];
  let end = from + 1;
  const belongs = (one: Statement | undefined): boolean =>
    one?.trailing !== undefined && one.indent === first?.indent && !one.blankBefore;
  if (first?.trailing !== undefined) { while (belongs(statements[end])) end++; }
  return end - from;
}

function appendTrailing(group: readonly Statement[], blocks: readonly string[][]): void {
  const width = Math.max(...blocks.map((lines) => lines.at(-1)?.length ?? 0));
  for (const [i, { trailing }] of group.entries()) {
    const lines = blocks[i];
    if (trailing === undefined || lines === undefined) continue;
    lines[lines.length - 1] = `${(lines.at(-1) ?? "").padEnd(width)} ${trailing}`;
  }
}

/** What of each item must be the same before and after. */
function keysOf(items: readonly Item[]): readonly string[] {
  return items.map((item) => {
    if (item.kind === "token") return item.token.text;
    if (item.kind === "comment") return item.text.replace(/\s*\n\s*/g, "\n").trimEnd();
    if (item.word === "") return item.text.trimEnd();
    const isMacro = item.word === "define" && item.tokens[2]?.spaceBefore === true;
    return `#${item.tokens.map(({ text }) => text).join(" ")}${isMacro ? " " : ""}`;
  });
}

/** Whether two texts differ in blanks and line breaks alone. */
export function haveSameTokens(one: string, other: string): boolean {
  const keys = [one, other].map((text) =>
    keysOf(itemsOf(lex({ name: "", text }, new Reporter()))).join("\0")
  );
  return keys[0] === keys[1];
}
