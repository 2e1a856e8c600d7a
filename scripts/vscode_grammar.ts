/**
 * Writes the TextMate grammar of Triton-C from the compiler's tables, for VS Code and other editors that take one.
 *
 *     deno run -A scripts/vscode_grammar.ts            rewrites the grammar
 *     deno run -A scripts/vscode_grammar.ts --check    fails if it is not up to date
 */
import * as path from "node:path";
import { BUILTIN_CONSTANTS, BUILTINS } from "../compiler/check/builtins/builtins.ts";
import { REDUCTIONS } from "../compiler/check/expressions/check_tile.ts";
import { DIRECTIVE_WORDS } from "../compiler/preprocess/directives.ts";
import { KEYWORDS } from "../compiler/preprocess/keywords.ts";
import { HINTS } from "../compiler/parse/loop_hints.ts";
import { DIRECTIONS, PRAGMA_WORDS, TENSOR_WORDS } from "../compiler/pragma/pragma_items.ts";
import { PREDEFINED_NAMES } from "../compiler/preprocess/predefined.ts";
import { TYPE_NAMES } from "../compiler/preprocess/type_spelling.ts";

/** Where the grammar is. */
export const GRAMMAR: string = path.join(
  import.meta.dirname ?? ".",
  "../editors/vscode/syntaxes/triton-c.tmLanguage.json",
);

/** A rule of a TextMate grammar, as far as ours uses them. */
interface Rule {
  readonly name?: string;
  readonly match?: string;
  readonly begin?: string;
  readonly end?: string;
  readonly include?: string;
  readonly captures?: Readonly<Record<string, { readonly name: string }>>;
  readonly beginCaptures?: Readonly<Record<string, { readonly name: string }>>;
  readonly patterns?: readonly Rule[];
}

const scope = (name: string): string => `${name}.triton-c`;

/** One of the words, longest first where one begins another. */
function oneOf(words: Iterable<string>): string {
  const sorted = [...new Set(words)].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  return `\\b(?:${sorted.join("|")})\\b`;
}

const words = (name: string, list: Iterable<string>): Rule => ({
  name: scope(name),
  match: oneOf(list),
});

const include = (...names: readonly string[]): readonly Rule[] =>
  names.map((name) => ({ include: `#${name}` }));

/** Where a line ends without a backslash that joins it with the next one. */
const LINE_END = "(?<!\\\\)(?=\\n)";

const NAMED_REDUCTIONS = [...REDUCTIONS.keys()].filter((word) => /^\w+$/.test(word));
const CONSTANTS: readonly string[] = ["true", "false"];

const REPOSITORY: Readonly<Record<string, Rule>> = {
  comments: {
    patterns: [
      { name: scope("comment.block"), begin: "/\\*", end: "\\*/" },
      { name: scope("comment.line.double-slash"), begin: "//", end: LINE_END },
    ],
  },
  pragmas: {
    name: scope("meta.preprocessor.pragma"),
    begin: "^\\s*(#\\s*pragma)\\s+(tri)\\b\\s*(\\w+)?",
    end: LINE_END,
    beginCaptures: {
      1: { name: scope("keyword.control.directive.pragma") },
      2: { name: scope("entity.name.namespace") },
      3: { name: scope("keyword.other.pragma") },
    },
    patterns: [
      words("storage.modifier", [...DIRECTIONS, ...TENSOR_WORDS]),
      words("keyword.other.pragma", [...PRAGMA_WORDS, ...Object.keys(HINTS)]),
      ...include("expressions"),
    ],
  },
  includes: {
    name: scope("meta.preprocessor.include"),
    match: '^\\s*(#\\s*include)\\s*(<[^>]*>|"[^"]*")',
    captures: {
      1: { name: scope("keyword.control.directive.include") },
      2: { name: scope("string.quoted.other.include") },
    },
  },
  definitions: {
    name: scope("meta.preprocessor.define"),
    begin: "^\\s*(#\\s*define)\\s+([A-Za-z_]\\w*)",
    end: LINE_END,
    beginCaptures: {
      1: { name: scope("keyword.control.directive.define") },
      2: { name: scope("entity.name.function.preprocessor") },
    },
    patterns: include("expressions"),
  },
  directives: {
    name: scope("meta.preprocessor"),
    begin: `^\\s*(#\\s*${oneOf(DIRECTIVE_WORDS)})`,
    end: LINE_END,
    beginCaptures: { 1: { name: scope("keyword.control.directive") } },
    patterns: include("expressions"),
  },
  strings: {
    patterns: [
      { name: scope("string.quoted.double"), begin: '"', end: '"|$', patterns: include("escapes") },
      { name: scope("string.quoted.single"), begin: "'", end: "'|$", patterns: include("escapes") },
    ],
  },
  escapes: { name: scope("constant.character.escape"), match: "\\\\." },
  numbers: {
    name: scope("constant.numeric"),
    match: "(?<![\\w.])(?:0[xX][\\dA-Fa-f]+[uUlL]*|0[bB][01]+[uUlL]*|" +
      "(?:\\d+\\.?(?!\\.)\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?\\w*)",
  },
  words: {
    patterns: [
      words("keyword.control", KEYWORDS.statement),
      words("storage.type", KEYWORDS.type),
      words("storage.modifier", KEYWORDS.declaration),
      words("constant.language", CONSTANTS),
      words(
        "keyword.operator.word",
        KEYWORDS.expression.filter((word) => !CONSTANTS.includes(word)),
      ),
      words("invalid.illegal", KEYWORDS.rejected),
      words("support.type", TYPE_NAMES),
      words("support.constant", [...Object.keys(BUILTIN_CONSTANTS), ...PREDEFINED_NAMES]),
    ],
  },
  reductions: {
    name: scope("keyword.operator.reduction"),
    match: `(?<=[\\[,]|[\\[,]\\s)${oneOf(NAMED_REDUCTIONS)}(?=\\s*[,\\]])`,
  },
  functions: {
    patterns: [
      { name: scope("support.function"), match: `${oneOf(BUILTINS.keys())}(?=\\s*\\()` },
      { name: scope("entity.name.function"), match: "\\b[A-Za-z_]\\w*(?=\\s*\\()" },
    ],
  },
  operators: {
    patterns: [
      { name: scope("keyword.operator.masked"), match: "\\*\\?" },
      { name: scope("keyword.operator.range"), match: "\\.\\.\\." },
      { name: scope("keyword.operator"), match: "[-+*/%@^&|~!<>=?:]+" },
    ],
  },
  expressions: {
    patterns: include(
      "comments",
      "strings",
      "numbers",
      "reductions",
      "words",
      "functions",
      "operators",
    ),
  },
};

/** The text of the grammar. */
export function grammarText(): string {
  const grammar = {
    name: "Triton-C",
    scopeName: "source.triton-c",
    fileTypes: ["tc"],
    patterns: include(
      "comments",
      "pragmas",
      "includes",
      "definitions",
      "directives",
      "expressions",
    ),
    repository: REPOSITORY,
  };
  return `${JSON.stringify(grammar, null, 2)}\n`;
}

if (import.meta.main) {
  const text = grammarText();
  if (!Deno.args.includes("--check")) {
    Deno.writeTextFileSync(GRAMMAR, text);
  } else if (Deno.readTextFileSync(GRAMMAR) !== text) {
    Deno.stderr.writeSync(new TextEncoder().encode("the grammar is out of date\n"));
    Deno.exit(1);
  }
}
