/**
 * Inlay hints: the type and shape of a variable where macros or compile-time parameters spell it, as the first instance
 * has them.
 */
import { type InlayHint, InlayHintKind, type Range } from "vscode-languageserver-protocol";
import { nameSpan } from "../../compiler/check/facts.ts";
import { spellType } from "../../compiler/check/tree/types.ts";
import type { PpToken } from "../../compiler/preprocess/lexer.ts";
import type { Analysis } from "./analysis.ts";
import { rangeOf } from "./locations.ts";

/** Hints after the declarators of a range. */
export function inlayHintsIn({ survey, tokens }: Analysis, range: Range): InlayHint[] {
  const indexes = new Map(tokens.map(({ span }, index) => [span.start, index]));
  const hints = new Map<number, InlayHint>();
  for (const { views } of survey.kernels) {
    const { parsed: { preprocessed: { macros } }, facts } = views[0]();
    for (const { entry } of facts.declarations) {
      const { file, start, expansion } = nameSpan(entry);
      if (entry.kind !== "variable" || file !== survey.file || expansion !== undefined) continue;
      const at = indexes.get(start);
      if (at === undefined) continue;
      const { end, words } = declaratorAt(tokens, at);
      if (!words.some(({ text }) => macros.has(text))) continue;
      const { end: position } = rangeOf({ file, start, end });
      if (position.line < range.start.line || position.line > range.end.line) continue;
      hints.set(start, {
        position,
        label: `: ${spellType(entry.variable.type)}`,
        kind: InlayHintKind.Type,
      });
    }
  }
  return [...hints.values()].sort((a, b) =>
    a.position.line - b.position.line || a.position.character - b.position.character
  );
}

/** Where a declarator ends, and the words that say its type: those before the name, and the extents after it. */
function declaratorAt(
  tokens: readonly PpToken[],
  name: number,
): { readonly end: number; readonly words: readonly PpToken[] } {
  let first = name;
  while (isPartOfType(tokens[first - 1])) first--;
  let last = name;
  if (tokens[name + 1]?.text === "[") {
    while (last < tokens.length - 1 && tokens[last]?.text !== "]") last++;
  }
  return { end: tokens[last]?.span.end ?? 0, words: tokens.slice(first, last + 1) };
}

function isPartOfType(token: PpToken | undefined): boolean {
  return token !== undefined && (token.kind === "identifier" || token.text === "*");
}
