/** Completion: candidates at the cursor, as far as the words before it determine them. */
import { distinctBy } from "@std/collections/distinct-by";
import {
  type CompletionItem,
  CompletionItemKind,
  MarkupKind,
} from "vscode-languageserver-protocol";
import { BUILTIN_DOCS } from "../../compiler/check/language_docs.ts";
import { BUILTIN_CONSTANTS, BUILTINS } from "../../compiler/check/builtins/builtins.ts";
import { DIRECTIVE_WORDS } from "../../compiler/preprocess/directives.ts";
import { type Facts, nameSpan } from "../../compiler/check/facts.ts";
import { KEYWORDS } from "../../compiler/preprocess/keywords.ts";
import { DIRECTIONS, PRAGMA_WORDS, TENSOR_WORDS } from "../../compiler/pragma/pragma_items.ts";
import type { Entry } from "../../compiler/check/scope.ts";
import { TYPE_NAMES } from "../../compiler/preprocess/type_spelling.ts";
import { spellType } from "../../compiler/check/tree/types.ts";
import { visibleNames } from "../../compiler/check/visible.ts";
import type { Name } from "../../compiler/parse/ast.ts";
import { isInProse, type Spot } from "./analysis.ts";
import { helperSignature } from "./functions.ts";
import { definitionOf } from "./macro_hover.ts";
import { ATTRIBUTES, HINTS, PRAGMAS } from "./words.ts";

export function completionsAt(spot: Spot): CompletionItem[] {
  if (isInProse(spot.file, spot.offset)) return [];
  const items = spot.directive === undefined ? inProgram(spot) : inDirective(spot);
  // The first of a name wins: a variable hides a built-in function.
  return distinctBy(items, ({ label }) => label);
}

function item(
  label: string,
  kind: CompletionItemKind,
  detail?: string,
  documentation?: string,
): CompletionItem {
  return {
    label,
    kind,
    ...(detail === undefined ? {} : { detail }),
    ...(documentation === undefined
      ? {}
      : { documentation: { kind: MarkupKind.Markdown, value: documentation } }),
  };
}

const words = (
  list: readonly string[],
  kind: CompletionItemKind,
  docs: Readonly<Record<string, string>> = {},
): CompletionItem[] => list.map((word) => item(word, kind, undefined, docs[word]));

// ---- program text -----------------------------------------------------------------------------------

const BUILTIN_ITEMS: readonly CompletionItem[] = [
  ...[...BUILTINS.values()].map(({ name, canonical, signature }) =>
    item(name, CompletionItemKind.Function, signature, BUILTIN_DOCS[canonical])
  ),
  ...words(Object.keys(BUILTIN_CONSTANTS), CompletionItemKind.Constant),
];

const WORD_ITEMS: readonly CompletionItem[] = [
  ...words([...KEYWORDS.type, ...TYPE_NAMES], CompletionItemKind.TypeParameter),
  ...words(
    [...KEYWORDS.declaration, ...KEYWORDS.statement, ...KEYWORDS.expression],
    CompletionItemKind.Keyword,
    ATTRIBUTES,
  ),
];

function inProgram(spot: Spot): CompletionItem[] {
  return [...declared(spot), ...macros(spot), ...BUILTIN_ITEMS, ...WORD_ITEMS];
}

function declared({ file, offset, view: { parsed, facts } }: Spot): CompletionItem[] {
  return visibleNames(parsed.unit, file, offset).toReversed().map((name) => {
    const entry = entryOf(facts, name);
    return entry === undefined
      ? item(name.text, CompletionItemKind.Variable)
      : item(name.text, KIND_OF_ENTRY[entry.kind], detailOf(entry));
  });
}

function entryOf({ declarations }: Facts, { text, span }: Name): Entry | undefined {
  return declarations.find(({ name, entry }) => {
    const own = nameSpan(entry);
    return name === text && own.file === span.file && own.start <= span.start &&
      span.end <= own.end;
  })?.entry;
}

const KIND_OF_ENTRY: Readonly<Record<Entry["kind"], CompletionItemKind>> = {
  variable: CompletionItemKind.Variable,
  poison: CompletionItemKind.Variable,
  constant: CompletionItemKind.Constant,
  buffer: CompletionItemKind.Constant,
  typedef: CompletionItemKind.TypeParameter,
  kernel: CompletionItemKind.Function,
  helper: CompletionItemKind.Function,
};

function detailOf(entry: Entry): string | undefined {
  switch (entry.kind) {
    case "variable":
      return spellType(entry.variable.type);
    case "constant":
    case "buffer":
      return spellType(entry.value.type);
    case "typedef":
      return spellType(entry.type);
    case "helper":
      return helperSignature(entry);
    case "kernel":
    case "poison":
      return undefined;
  }
}

function macros({ view: { parsed } }: Spot): CompletionItem[] {
  return [...parsed.preprocessed.macros.values()].map((macro) =>
    item(macro.name, CompletionItemKind.Constant, definitionOf(macro))
  );
}

// ---- directives -------------------------------------------------------------------------------------

/** What the compiler reads after `#pragma`. */
const PRAGMA_KINDS = ["tri", "once", "unroll"];
/** Functions of contract expressions (language.md, 10.3). */
const CONTRACT_FUNCTIONS = ["cdiv", "min", "max", "next_pow2"];

function inDirective(spot: Spot): CompletionItem[] {
  const { directive = [], offset } = spot;
  const before = directive.filter(({ span }) => span.end < offset).map(({ text }) => text);
  const [first, second, third] = before;
  if (first === undefined) return words(DIRECTIVE_WORDS, CompletionItemKind.Keyword);
  if (first === "define") return inProgram(spot);
  if (first !== "pragma") return first === "include" ? [] : macros(spot);
  if (second === undefined) return words(PRAGMA_KINDS, CompletionItemKind.Keyword);
  if (second !== "tri") return [];
  if (third === undefined) return words(PRAGMA_WORDS, CompletionItemKind.Keyword, PRAGMAS);
  if (third === "loop") return words(Object.keys(HINTS), CompletionItemKind.Keyword, HINTS);
  const named = [...parameters(spot), ...macros(spot)];
  const option = CONFIGURATION.includes(third)
    ? words(PRAGMA_WORDS.filter((word) => /^num_|^max_/.test(word)), CompletionItemKind.Property)
    : [];
  const tensor = third === "tensor"
    ? words([...DIRECTIONS, ...TENSOR_WORDS], CompletionItemKind.Keyword)
    : [];
  return [
    ...tensor,
    ...option,
    ...named,
    ...words(CONTRACT_FUNCTIONS, CompletionItemKind.Function, BUILTIN_DOCS),
    ...words([...KEYWORDS.type, ...TYPE_NAMES], CompletionItemKind.TypeParameter),
  ];
}

const CONFIGURATION: readonly string[] = ["config", "configs", "specialize"];

/** The parameters of the kernel that a pragma belongs to. */
function parameters({ kernel: { definition }, view: { facts } }: Spot): CompletionItem[] {
  const params = definition?.declarator.params?.params ?? [];
  return params.flatMap(({ declarator: { name } }) => {
    if (name === undefined) return [];
    const entry = entryOf(facts, name);
    return [item(name.text, CompletionItemKind.Variable, entry && detailOf(entry))];
  });
}
