/**
 * The preprocessor (language.md, 1.2 to 1.4): directives are followed, macros expanded, and what is left
 * reaches the parser as tokens whose spans still point into the source text. It is pulled from
 * the end: the {@linkcode Expander} asks for the next token of the text, which may take reading directives
 * and other files first.
 */
import type { Define, IncludeResolver } from "../options.ts";
import { must } from "../support/bug.ts";
import type { Reporter } from "../support/diagnostic.ts";
import { joinSpans, positionOf, type SourceFile, type Span } from "../support/source.ts";
import type { Comment } from "./comments.ts";
import { Conditions } from "./conditions.ts";
import {
  CONDITIONALS,
  type DirectiveHost,
  type DirectiveLine,
  followDirective,
} from "./directives.ts";
import { type ExpandContext, Expander, expandTokens, listSource } from "./expand.ts";
import { keywordGroup } from "./keywords.ts";
import { findIncluded } from "./find_included.ts";
import { lex, type LexedFile, type PpToken } from "./lexer.ts";
import { conditionOperators, type OperatorContext, textOperators } from "./macro_operators.ts";
import { MacroBudget } from "./macro_budget.ts";
import { type Macro, type MacroTable, textMacro } from "./macros.ts";
import { PREDEFINED_NAMES } from "./predefined.ts";
import type { Token } from "./token.ts";

export type { MacroTable } from "./macros.ts";

export interface PreprocessOptions {
  /** In this order; a later one replaces an earlier one of the same name. */
  readonly defines: readonly Define[];
  /** Name to text; see `predefined.ts`. */
  readonly predefined: Readonly<Record<string, string>>;
  readonly include?: IncludeResolver;
}

export interface PreprocessResult {
  /** Ends with one token of kind `end`. */
  readonly tokens: readonly Token[];
  /**
   * Every name whose definition from outside (`-D`, predefined), or lack of one, the text depends on: all
   * identifiers that were looked up and that the file does not define itself. Two builds that agree on
   * these give the same tokens.
   */
  readonly usedMacros: ReadonlySet<string>;
  /** The macros that hold at the end of the file. */
  readonly macros: MacroTable;
  /** Comments of the main file that have lines of their own. */
  readonly comments: readonly Comment[];
}

/** Headers that C programs include and that have nothing to add here. */
const EMPTY_HEADERS: ReadonlySet<string> = new Set([
  "stdint.h",
  "stdbool.h",
  "stddef.h",
  "limits.h",
  "float.h",
  "math.h",
]);

const MAX_INCLUDE_DEPTH = 64;
/** Files that include each other twice each would otherwise be read 2^64 times. */
const MAX_INCLUDES = 10_000;
/** Of all included files; what conditions skip counts an eighth. */
const MAX_INCLUDED_TOKENS = 1_000_000;
const SKIPPED_TOKENS = 8;

/** Text to tokens for one instance of a file. */
export function preprocess(
  file: SourceFile,
  options: PreprocessOptions,
  reporter: Reporter,
): PreprocessResult {
  return new Preprocessor(file, options, reporter).run();
}

/**
 * The tokens of a pragma's expression with the macros of an instance expanded. `text` comes from
 * `readPragmas` or `parsePragmaLine`. Ends with one token of kind `end`.
 */
export function expandText(
  text: { readonly text: string; readonly span: Span },
  macros: MacroTable,
  reporter: Reporter,
): Token[] {
  const { span } = text;
  const inside = tokensIn(span, lex(span.file, reporter).tokens);
  const cx: ExpandContext = {
    macros,
    operators: new Map(),
    reporter,
    lookedUp: () => {},
    budget: new MacroBudget(),
  };
  return deliverAll(new Expander(cx, listSource(inside, span)), reporter);
}

/** The tokens of a part of a file, found by bisection: a file may hold a pragma per line. */
function tokensIn({ start, end }: Span, tokens: readonly PpToken[]): readonly PpToken[] {
  const firstFrom = (offset: number): number => {
    let low = 0;
    let high = tokens.length - 1; // the token of the end
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((tokens[middle]?.span.start ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return tokens.slice(firstFrom(start), firstFrom(end));
}

/** One file on the include stack. */
interface OpenFile {
  readonly lexed: LexedFile;
  next: number;
  lineDelta: number;
  /** As `__FILE__` gives it. */
  name: string;
}

class Preprocessor {
  readonly #options: PreprocessOptions;
  readonly #reporter: Reporter;
  readonly #main: LexedFile;
  readonly #macros = new Map<string, Macro>();
  readonly #used = new Set<string>();
  readonly #conditions: Conditions;
  readonly #files: OpenFile[] = [];
  readonly #readOnce = new Set<string>();
  readonly #text: ExpandContext;
  readonly #condition: ExpandContext;
  readonly #host: DirectiveHost;
  #includes = 0;
  #includedTokens = 0;

  constructor(file: SourceFile, options: PreprocessOptions, reporter: Reporter) {
    this.#options = options;
    this.#reporter = reporter;
    this.#conditions = new Conditions(reporter);
    const operators: OperatorContext = {
      reporter,
      fileName: () => this.#file().name,
      lineDelta: () => this.#file().lineDelta,
      isDefined: (name) => this.#isDefined(name),
    };
    this.#text = {
      macros: this.#macros,
      operators: textOperators(operators),
      reporter,
      lookedUp: (name) => this.#noteUse(name),
      budget: new MacroBudget(),
    };
    this.#condition = { ...this.#text, operators: conditionOperators(operators) };
    this.#host = this.#makeHost();
    this.#predefine();
    this.#main = lex(file, reporter);
    this.#enter(this.#main);
  }

  run(): PreprocessResult {
    const expander = new Expander(this.#text, () => this.#nextOfText());
    const tokens = deliverAll(expander, this.#reporter);
    const { comments } = this.#main;
    return { tokens, usedMacros: this.#used, macros: this.#macros, comments };
  }

  #makeHost(): DirectiveHost {
    return {
      reporter: this.#reporter,
      conditions: this.#conditions,
      macros: this.#macros,
      isPredefined: (name) => this.#isPredefined(name),
      isDefined: (name) => this.#isDefined(name),
      expandLine: (tokens, inCondition) =>
        expandTokens(tokens, inCondition ? this.#condition : this.#text),
      include: (name, kind, span) => this.#include(name, kind, span),
      setLine: (line, name, directive) => {
        const file = this.#file();
        file.lineDelta = line - 1 - positionOf(directive.file, directive.end).line;
        if (name !== undefined) file.name = name;
      },
      readOnce: () => this.#readOnce.add(this.#file().lexed.file.name),
      isIncluded: () => this.#files.length > 1,
    };
  }

  #predefine(): void {
    for (const [name, text] of Object.entries(this.#options.predefined)) {
      this.#macros.set(name, textMacro(name, text, "predefined", this.#reporter));
    }
    for (const { name, value } of this.#options.defines) {
      const macro = textMacro(name, value ?? "", "define", this.#reporter);
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
        this.#reporter.error(
          "E5003",
          macro.span,
          `expected the name of a macro, found \`${name}\``,
        );
      } else if (this.#isPredefined(name)) {
        const message = `\`${name}\` is reserved and cannot be defined or undefined`;
        this.#reporter.error("E1024", macro.span, message);
      } else if (value === null) {
        this.#macros.delete(name);
      } else {
        this.#macros.set(name, macro);
      }
    }
  }

  #isPredefined(name: string): boolean {
    return PREDEFINED_NAMES.has(name) || Object.hasOwn(this.#options.predefined, name);
  }

  #isDefined(name: string): boolean {
    this.#noteUse(name);
    return this.#macros.has(name) || this.#text.operators.has(name);
  }

  /** A name was looked up: the text depends on it unless the file itself defined it. */
  #noteUse(name: string): void {
    if (this.#macros.get(name)?.origin !== "file") this.#used.add(name);
  }

  #file(): OpenFile {
    return must(this.#files.at(-1), "an open file");
  }

  #enter(lexed: LexedFile): void {
    this.#files.push({ lexed, next: 0, lineDelta: 0, name: lexed.file.name });
    this.#conditions.enterFile();
  }

  /** The next token of the text that counts, directives followed on the way. */
  #nextOfText(): PpToken {
    for (;;) {
      const file = this.#file();
      const token = must(file.lexed.tokens[file.next], "the end of the file");
      if (token.kind === "end") {
        if (this.#files.length === 1) {
          // Asked again, the end has no groups left to report.
          this.#conditions.leaveFile();
          return token;
        }
        this.#conditions.leaveFile();
        this.#files.pop();
        continue;
      }
      file.next++;
      if (token.lineStart && token.kind === "punctuator" && token.text === "#") {
        const pragma = this.#directive(token, file);
        if (pragma !== undefined) return pragma;
      } else if (this.#conditions.active) {
        if (this.#files.length > 1) this.#countIncluded(1);
        return token;
      }
    }
  }

  /** Reads to the end of the line that `#` began. */
  #directive(hash: PpToken, file: OpenFile): PpToken | undefined {
    const start = file.next;
    const { tokens } = file.lexed;
    while (tokens[file.next]?.lineStart === false) file.next++;
    const [name, ...rest] = tokens.slice(start, file.next);
    if (name === undefined) return undefined;
    if (!this.#conditions.active && !Object.hasOwn(CONDITIONALS, name.text)) return undefined;
    const last = rest.at(-1) ?? name;
    const line: DirectiveLine = {
      span: joinSpans(hash.span, name.span),
      whole: joinSpans(hash.span, last.span),
      name,
      rest,
    };
    return followDirective(line, this.#host);
  }

  /** Beyond the limit, nothing more of the open files is read. */
  #countIncluded(tokens: number): void {
    const before = this.#includedTokens;
    this.#includedTokens += tokens;
    if (before > MAX_INCLUDED_TOKENS || this.#includedTokens <= MAX_INCLUDED_TOKENS) return;
    this.#includes = Infinity;
    const { lexed: { file, tokens: read }, next } = must(this.#files[0], "the main file");
    const at = read[next - 1]?.span ?? { file, start: 0, end: 0 };
    const message = `the included files have more than ${MAX_INCLUDED_TOKENS} tokens in total`;
    this.#reporter.error("E1034", at, message, { hint: "write `#pragma once` at their tops" });
    for (const open of this.#files.slice(1)) open.next = open.lexed.tokens.length - 1;
  }

  #include(name: string, kind: "quoted" | "angled", span: Span): void {
    if (this.#includes > MAX_INCLUDES) return;
    const from = this.#file().lexed.file;
    const asked = { name, kind, span, isOptional: EMPTY_HEADERS.has(name) };
    const found = findIncluded(asked, from, this.#options.include, this.#reporter);
    if (found !== undefined && !this.#readOnce.has(found.name)) {
      this.#includes++;
      const cycle = this.#files.some(({ lexed }) => lexed.file.name === found.name);
      if (this.#files.length > MAX_INCLUDE_DEPTH || this.#includes > MAX_INCLUDES) {
        const message = cycle
          ? `\`${name}\` includes itself`
          : "files include each other too deeply";
        this.#reporter.error("E1032", span, message, { hint: "write `#pragma once` at its top" });
        this.#includes = Infinity;
      } else {
        const lexed = lex(found, this.#reporter);
        this.#countIncluded(lexed.tokens.length / SKIPPED_TOKENS);
        this.#enter(lexed);
      }
    }
  }
}

/** Everything that an expander gives, as the parser wants it. */
function deliverAll(expander: Expander, reporter: Reporter): Token[] {
  const tokens: Token[] = [];
  // What follows a quote without its partner is text, not program.
  let inOpenQuote = false;
  for (;;) {
    const { kind, text, span, spaceBefore, lineStart } = expander.next();
    if (lineStart || kind === "end") inOpenQuote = false;
    if (inOpenQuote) continue;
    if (kind === "other") {
      reportStray(text, span, reporter);
      inOpenQuote = text === "'" || text === '"';
    } else if (kind === "identifier" && keywordGroup(text) !== undefined) {
      tokens.push({ kind: "keyword", text, span, spaceBefore });
    } else {
      tokens.push({ kind, text, span, spaceBefore });
    }
    if (kind === "end") return tokens;
  }
}

/** Characters that come from word processors and web pages, and what was meant. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  "\u2018": "'",
  "\u2019": "'",
  "\u201c": '"',
  "\u201d": '"',
  "\u2013": "-",
  "\u2212": "-",
  "\u00d7": "*",
  "\u2026": "...",
  "\u00a0": " ",
  "\u3000": " ",
  "\u200b": "",
  "\ufeff": "",
};

function reportStray(text: string, span: Span, reporter: Reporter): void {
  if (text === "'" || text === '"') {
    const what = text === "'" ? "character" : "string";
    reporter.error("E1006", span, `this ${what} has no closing ${text} on its line`);
    return;
  }
  const code = (text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const replacement = LOOKALIKES[text];
  const fix = replacement === undefined ? {} : { fix: { span, replacement } };
  const hint = text.charCodeAt(0) > 0x7f
    ? { hint: "characters beyond ASCII are allowed only in comments and strings" }
    : {};
  reporter.error("E1006", span, `stray \`${text}\` (U+${code}) in the program`, {
    ...hint,
    ...fix,
  });
}
