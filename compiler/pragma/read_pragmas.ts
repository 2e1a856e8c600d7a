/**
 * `#pragma tri` at file scope, read before preprocessing (language.md, 10.3). No macro has a value yet, so
 * a pragma is not allowed where a macro decides whether it counts.
 */
import type { IncludeResolver } from "../options.ts";
import { Reporter } from "../support/diagnostic.ts";
import { joinSpans, type SourceFile } from "../support/source.ts";
import { evaluateCondition } from "../preprocess/if_expr.ts";
import { lex, type PpToken } from "../preprocess/lexer.ts";
import { findIncluded } from "../preprocess/find_included.ts";
import type { PragmaGroup, PragmaInclude, PragmaItem } from "./pragma.ts";
import { MalformedPragma, PragmaCursor } from "./pragma_cursor.ts";
import { parseItem } from "./pragma_items.ts";

/** Whether the text of a conditional group counts; `unknown`: a macro decides. */
type Counts = "yes" | "no" | "unknown";

interface OpenGroup {
  /** Of the branch being read, what its own condition says. */
  counts: Counts;
  /** Whether an earlier branch was the one. */
  taken: Counts;
  /** Braces open where the group began; each branch starts there again. */
  readonly depth: number;
}

/** The pragmas of a file and of those that they include, by the kernel definition that follows them. */
export function readPragmas(
  file: SourceFile,
  include: IncludeResolver | undefined,
  reporter: Reporter,
): PragmaGroup[] {
  return new PragmaReader(file, include, reporter).run();
}

/**
 * One item from outside a file, as on the command line; `text` is what would follow
 * `#pragma tri`. Undefined when it is malformed, which has been reported then, in a file called `origin`.
 */
export function parsePragmaLine(
  text: string,
  origin: string,
  reporter: Reporter,
): PragmaItem | undefined {
  const file = { name: origin, text };
  const tokens = lex(file, reporter).tokens.slice(0, -1);
  const item = parseTokens(tokens, { file, start: 0, end: 0 }, reporter);
  if (item?.kind !== "include") return item;
  reporter.error("E9003", item.span, "only a file can include pragmas");
  return undefined;
}

function parseTokens(
  tokens: readonly PpToken[],
  before: PpToken["span"],
  reporter: Reporter,
): PragmaItem | PragmaInclude | undefined {
  try {
    return parseItem(new PragmaCursor(tokens, before, reporter), tokens.at(-1)?.span ?? before);
  } catch (error) {
    if (error instanceof MalformedPragma) return undefined;
    throw error;
  }
}

class PragmaReader {
  readonly #file: SourceFile;
  readonly #tokens: readonly PpToken[];
  readonly #include: IncludeResolver | undefined;
  readonly #reporter: Reporter;
  readonly #groups: PragmaGroup[] = [];
  readonly #conditions: OpenGroup[] = [];
  #items: PragmaItem[] = [];
  /** Offset of the end of the last of them, or of what has included it. */
  #end = 0;
  #depth = 0;

  constructor(file: SourceFile, include: IncludeResolver | undefined, reporter: Reporter) {
    this.#file = file;
    this.#include = include;
    // The preprocessor reports what is wrong with the text itself.
    this.#tokens = lex(file, new Reporter()).tokens;
    this.#reporter = reporter;
  }

  run(): PragmaGroup[] {
    const tokens = this.#tokens;
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at];
      if (token?.kind !== "punctuator") continue;
      if (token.text === "#" && token.lineStart) {
        const start = at + 1;
        while (tokens[at + 1]?.lineStart === false) at++;
        this.#directive(token, tokens.slice(start, at + 1));
      } else if (this.#counts() !== "no") {
        if (token.text === "{") this.#openBrace(at);
        else if (token.text === "}") this.#depth = Math.max(0, this.#depth - 1);
      }
    }
    this.#endGroup();
    return this.#groups;
  }

  #openBrace(at: number): void {
    const before = this.#tokens[at - 1]?.text;
    const isEnum = before === "enum" || this.#tokens[at - 2]?.text === "enum";
    // Any other brace at file scope is a function's body, where the pragmas above belong.
    if (this.#depth === 0 && before !== "=" && !isEnum) this.#endGroup();
    this.#depth++;
  }

  #endGroup(): void {
    if (this.#items.length > 0) this.#groups.push({ end: this.#end, items: this.#items });
    this.#items = [];
  }

  #directive(hash: PpToken, line: readonly PpToken[]): void {
    const [name, ...rest] = line;
    switch (name?.text) {
      case "if":
      case "ifdef":
      case "ifndef":
        this.#conditions.push({
          counts: evaluate(name.text, rest),
          taken: "no",
          depth: this.#depth,
        });
        break;
      case "elif":
      case "elifdef":
      case "elifndef":
      case "else":
        this.#alternative(name.text, rest);
        break;
      case "endif":
        this.#conditions.pop();
        break;
      case "pragma":
        if (rest[0]?.text === "tri" && rest[1]?.text !== "loop") this.#pragma(hash, rest);
    }
  }

  #alternative(word: string, condition: readonly PpToken[]): void {
    const group = this.#conditions.at(-1);
    if (group === undefined) return;
    this.#depth = group.depth;
    if (group.taken !== "yes" && group.counts !== "no") group.taken = group.counts;
    const own = word === "else" ? "yes" : evaluate(word.slice(2), condition);
    group.counts = group.taken === "yes" || own === "no"
      ? "no"
      : group.taken === "unknown"
      ? "unknown"
      : own;
  }

  #counts(): Counts {
    const all = this.#conditions.map(({ counts }) => counts);
    return all.includes("no") ? "no" : all.includes("unknown") ? "unknown" : "yes";
  }

  #pragma(hash: PpToken, line: readonly PpToken[]): void {
    const counts = this.#counts();
    const [tri, ...tokens] = line;
    if (counts === "no" || tri === undefined) return;
    const whole = joinSpans(hash.span, (tokens.at(-1) ?? tri).span);
    if (counts === "unknown") {
      this.#reporter.error("E9003", whole, "a kernel pragma cannot depend on `#if`", {
        hint:
          "it is read before macros are defined; move it out, or use `variants … in {…}` and `if`",
      });
    } else if (this.#depth > 0) {
      this.#reporter.error(
        "E9003",
        whole,
        "a kernel pragma must precede the kernel, at file scope",
      );
    } else {
      const item = parseTokens(tokens, tri.span, this.#reporter);
      if (item !== undefined) {
        this.#items.push(...item.kind === "include" ? this.#included(item) : [item]);
        this.#end = item.span.end;
      }
    }
  }

  #included({ file: name, span }: PragmaInclude): readonly PragmaItem[] {
    const asked = { name, kind: "quoted", span } as const;
    const found = findIncluded(asked, this.#file, this.#include, this.#reporter);
    return found === undefined ? [] : pragmasOnly(found, this.#reporter);
  }
}

/** The pragmas of a file that has nothing else. */
function pragmasOnly(file: SourceFile, reporter: Reporter): readonly PragmaItem[] {
  const lines: PpToken[][] = [];
  for (const token of lex(file, reporter).tokens.slice(0, -1)) {
    if (token.lineStart) lines.push([token]);
    else lines.at(-1)?.push(token);
  }
  return lines.flatMap((line) => {
    const [hash, pragma, tri, ...tokens] = line;
    if (hash === undefined) return [];
    if (hash.text !== "#" || pragma?.text !== "pragma" || tri?.text !== "tri") {
      const span = joinSpans(hash.span, (line.at(-1) ?? hash).span);
      reporter.error(
        "E9003",
        span,
        `expected \`#pragma tri\`: \`${file.name}\` is read for pragmas alone`,
        {
          hint: "what else it has belongs in a file for `#include`",
        },
      );
      return [];
    }
    const item = parseTokens(tokens, tri.span, reporter);
    if (item?.kind !== "include") return item ?? [];
    reporter.error("E9003", item.span, "a file of pragmas cannot include another one");
    return [];
  });
}

/** What is true of every build; so a file may hide its pragmas from other compilers. */
const ALWAYS_DEFINED = "__TRITON_C__";

/** What a condition says when nothing is known of macros. Errors in it are the preprocessor's to report. */
function evaluate(word: string, condition: readonly PpToken[]): Counts {
  const names = condition.filter(({ kind }) => kind === "identifier");
  const known = names.every(({ text }) =>
    text === ALWAYS_DEFINED || text === "defined" || text === "true"
  );
  if (!known) return "unknown";
  if (word === "ifdef") return "yes";
  if (word === "ifndef") return "no";
  // `defined` may stay without its operand's parentheses: `(1)` and `1` are the same.
  const tokens = condition.filter(({ text }) => text !== "defined").map((token): PpToken =>
    token.text === ALWAYS_DEFINED ? { ...token, kind: "number", text: "1" } : token
  );
  const [first] = tokens;
  if (first === undefined) return "no";
  return evaluateCondition(tokens, { span: first.span }, new Reporter()) === true ? "yes" : "no";
}
