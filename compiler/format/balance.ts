/** Text without statements that could be formatted: brackets without partners, quotes and backslashes too. */
import type { PpToken } from "../preprocess/lexer.ts";
import type { Reporter } from "../support/diagnostic.ts";
import type { SourceFile } from "../support/source.ts";
import type { Item } from "./items.ts";

const CLOSING: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

const JOINING: ReadonlySet<string> = new Set(["\\", '"', "'", "#"]);

/** Reports what would mean something else with other line breaks around it: a quote, a backslash or `#` by itself. */
export function reportStray(file: SourceFile, items: readonly Item[], reporter: Reporter): void {
  for (const item of items) {
    if (item.kind !== "token" || !JOINING.has(item.token.text)) continue;
    reporter.error("E1006", item.span, `\`${item.token.text}\` begins nothing here`);
    return;
  }
  if (!file.text.endsWith("\\")) return;
  const end = file.text.length;
  reporter.error("E1006", { file, start: end - 1, end }, "no line follows that `\\` continues");
}

/**
 * Reports the first bracket without a partner. Where a branch of a condition opens or closes a bracket of the text around it, which brackets
 * belong together depends on conditions, so nothing is reported.
 */
export function reportUnbalanced(items: readonly Item[], reporter: Reporter): void {
  const open: PpToken[] = [];
  const depths: number[] = [];
  let stray: PpToken | undefined;
  for (const item of items) {
    if (item.kind === "directive") {
      if (/^(?:el|endif$)/.test(item.word) && depths.at(-1) !== open.length) return;
      if (item.word.startsWith("if")) depths.push(open.length);
      else if (item.word === "endif") depths.pop();
    }
    if (item.kind !== "token" || item.token.kind !== "punctuator") continue;
    const { token } = item;
    if (Object.hasOwn(CLOSING, token.text)) open.push(token);
    else if (Object.values(CLOSING).includes(token.text)) {
      const last = open.at(-1);
      if (depths.length > 0 && (depths.at(-1) ?? 0) >= open.length) return;
      if (last !== undefined && CLOSING[last.text] === token.text) open.pop();
      else {
        stray = token;
        break;
      }
    }
  }
  const [last] = open.slice(-1);
  if (stray !== undefined) {
    const notes = last === undefined ? [] : [{ message: "the open bracket", span: last.span }];
    reporter.error("E5003", stray.span, `\`${stray.text}\` closes nothing`, { notes });
  } else if (last !== undefined) {
    reporter.error("E5003", last.span, `\`${last.text}\` is never closed`, {
      hint: `close it with \`${CLOSING[last.text]}\``,
    });
  }
}
