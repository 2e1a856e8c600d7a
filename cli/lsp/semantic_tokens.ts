/** Semantic tokens: what names mean, which a grammar cannot know: macros, parameters, types, functions. */
import type { SemanticTokens, SemanticTokensLegend } from "vscode-languageserver-protocol";
import { BUILTIN_CONSTANTS, BUILTINS } from "../../compiler/check/builtins/builtins.ts";
import { nameSpan } from "../../compiler/check/facts.ts";
import type { Entry } from "../../compiler/check/scope.ts";
import type { PpToken } from "../../compiler/preprocess/lexer.ts";
import type { Analysis } from "./analysis.ts";
import { rangeOf } from "./locations.ts";

const TYPES = ["macro", "parameter", "variable", "function", "type", "enumMember"] as const;
const MODIFIERS = ["declaration", "readonly", "defaultLibrary"] as const;
type TokenType = typeof TYPES[number];
type Modifier = typeof MODIFIERS[number];

export const LEGEND: SemanticTokensLegend = {
  tokenTypes: [...TYPES],
  tokenModifiers: [...MODIFIERS],
};

interface Meaning {
  readonly type: TokenType;
  readonly modifiers: readonly Modifier[];
}

/** The tokens of a document as the protocol has them: five numbers each, relative to the token before. */
export function semanticTokensOf(analysis: Analysis): SemanticTokens {
  const meanings = meaningsIn(analysis);
  const data: number[] = [];
  let [line, character] = [0, 0];
  for (const { span, kind, text } of analysis.tokens) {
    const meaning = kind === "identifier" ? meanings.get(span.start) : undefined;
    if (meaning === undefined) continue;
    const { start } = rangeOf(span);
    const { type, modifiers } = meaning;
    const bits = modifiers.reduce((sum, modifier) => sum | 1 << MODIFIERS.indexOf(modifier), 0);
    const column = start.line === line ? start.character - character : start.character;
    data.push(start.line - line, column, text.length, TYPES.indexOf(type), bits);
    ({ line, character } = start);
  }
  return { data };
}

/** Meanings by the offsets of words. */
function meaningsIn({ survey, tokens }: Analysis): ReadonlyMap<number, Meaning> {
  const found = new Map<number, Meaning>();
  for (const { views, definition } of survey.kernels) {
    const { parsed: { preprocessed: { macros } }, facts } = views[0]();
    const params = new Set(
      definition?.declarator.params?.params.map(({ declarator: { name } }) => name?.span.start),
    );
    const put = (offset: number, entry: Entry, isDeclaration: boolean): void => {
      const meaning = meaningOf(entry, params);
      if (meaning === undefined) return;
      const { type, modifiers } = meaning;
      found.set(offset, {
        type,
        modifiers: isDeclaration ? ["declaration", ...modifiers] : modifiers,
      });
    };
    for (const { span, entry } of facts.uses) {
      if (span.file === survey.file && span.expansion === undefined) put(span.start, entry, false);
    }
    for (const { entry } of facts.declarations) {
      const { file, start, expansion } = nameSpan(entry);
      if (file === survey.file && expansion === undefined) put(start, entry, true);
    }
    for (const [i, token] of tokens.entries()) {
      if (token.kind !== "identifier") continue;
      const isMacro = macros.has(token.text) && !found.has(token.span.start);
      const word = isMacro ? macroMeaning(tokens, i) : wordMeaning(tokens, i);
      if (word !== undefined && !found.has(token.span.start)) found.set(token.span.start, word);
    }
  }
  return found;
}

function meaningOf(entry: Entry, params: ReadonlySet<number | undefined>): Meaning | undefined {
  switch (entry.kind) {
    case "variable":
      return {
        type: params.has(entry.variable.span.start) ? "parameter" : "variable",
        modifiers: entry.const ? ["readonly"] : [],
      };
    case "typedef":
      return { type: "type", modifiers: [] };
    case "constant":
      return { type: "enumMember", modifiers: ["readonly"] };
    case "buffer":
      return { type: "variable", modifiers: ["readonly"] };
    case "kernel":
    case "helper":
      return { type: "function", modifiers: [] };
    case "poison":
      return undefined;
  }
}

function macroMeaning(tokens: readonly PpToken[], at: number): Meaning {
  const isDefined = tokens[at - 1]?.text === "define" && tokens[at - 2]?.text === "#";
  return { type: "macro", modifiers: isDefined ? ["declaration"] : [] };
}

/** Built-in functions where they are called, and built-in constants. */
function wordMeaning(tokens: readonly PpToken[], at: number): Meaning | undefined {
  const text = tokens[at]?.text ?? "";
  if (BUILTINS.has(text) && tokens[at + 1]?.text === "(") {
    return { type: "function", modifiers: ["defaultLibrary"] };
  }
  return Object.hasOwn(BUILTIN_CONSTANTS, text)
    ? { type: "enumMember", modifiers: ["readonly", "defaultLibrary"] }
    : undefined;
}
