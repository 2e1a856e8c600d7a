/** What `tri explain` says of a diagnostic, where one hovers over it. */
import {
  type Diagnostic,
  type Hover,
  MarkupKind,
  type Position,
} from "vscode-languageserver-protocol";
import { EXPLANATIONS, sectionText } from "../explain/mod.ts";

/** The hover with the explanations of the diagnostics at a position below it. */
export function withExplanations(
  hover: Hover | undefined,
  diagnostics: readonly Diagnostic[],
  position: Position,
): Hover | undefined {
  const here = diagnostics.filter(({ range: { start, end } }) =>
    isBefore(start, position) && isBefore(position, end)
  );
  const said = [...new Set(here.map(({ code }) => code))].flatMap((code) =>
    isCode(code) ? [`**${code}** ${EXPLANATIONS[code].text} ${sectionText(code)}`] : []
  );
  if (said.length === 0) return hover;
  const known = hover?.contents;
  const above = typeof known === "object" && "value" in known ? [known.value] : [];
  return {
    ...hover,
    contents: { kind: MarkupKind.Markdown, value: [...above, ...said].join("\n\n") },
  };
}

function isCode(code: Diagnostic["code"]): code is keyof typeof EXPLANATIONS {
  return code !== undefined && Object.hasOwn(EXPLANATIONS, code);
}

function isBefore(a: Position, b: Position): boolean {
  return a.line < b.line || (a.line === b.line && a.character <= b.character);
}
