/**
 * Macro expansion as in C11, 6.10.3, with hide sets (Dave Prosser's algorithm): a token that came out of
 * macro M carries M in its hide set and never expands as M again.
 *
 *     #define TWICE(x) x + x
 *     TWICE(TM)     with -D TM=64   gives   64 + 64
 *
 * Both `64` are spelled at `<-D TM>:1:1`; their chain says: used as `TM` in the argument, which was used
 * by `TWICE(TM)`. Tokens of the body and of each argument get different `Expansion` objects, because
 * joining spans is meaningful only among tokens of one origin.
 */
import type { Reporter } from "../support/diagnostic.ts";
import { joinSpans, type Span, useSite } from "../support/source.ts";
import { hiddenInBoth, type HideSet, type PpToken } from "./lexer.ts";
import type { MacroBudget } from "./macro_budget.ts";
import type { Macro } from "./macros.ts";
import { substitute } from "./substitute.ts";

/** Gives one token after another, at the end `end` again and again. */
export type TokenSource = () => PpToken;

/**
 * What reads like a macro call but is computed by the preprocessor: `__LINE__`, and in `#if` `defined` and
 * `__type_is`. Gets the name and a source of the unexpanded tokens after it; undefined: it is replaced by nothing.
 */
export type MacroOperator = (name: PpToken, expander: Expander) => PpToken | undefined;

export interface ExpandContext {
  readonly macros: ReadonlyMap<string, Macro>;
  readonly operators: ReadonlyMap<string, MacroOperator>;
  readonly reporter: Reporter;
  /** Called for every identifier that was looked up, macro or not. */
  readonly lookedUp: (name: string) => void;
  /** Shared by all expansions of one text. */
  readonly budget: MacroBudget;
}

/** Arguments within arguments. */
const MAX_DEPTH = 200;

export class Expander {
  readonly #cx: ExpandContext;
  readonly #source: TokenSource;
  readonly #depth: number;
  /** Tokens to be read before the source's, last first. */
  readonly #pending: PpToken[] = [];
  /** Macros whose call had no `)`: left alone from then on. */
  readonly #unclosed = new Set<string>();

  constructor(cx: ExpandContext, source: TokenSource, depth = 0) {
    this.#cx = cx;
    this.#source = source;
    this.#depth = depth;
  }

  /** The next token that no macro can change any more. */
  next(): PpToken {
    for (;;) {
      const token = this.take();
      if (token.kind !== "identifier") return token;
      const operator = this.#cx.operators.get(token.text);
      if (operator !== undefined) {
        const result = operator(token, this);
        if (result === undefined) continue;
        return result;
      }
      const macro = this.#cx.macros.get(token.text);
      this.#cx.lookedUp(token.text);
      if (macro === undefined || token.hide?.has(macro.name) || !this.#expand(token, macro)) {
        return token;
      }
    }
  }

  /** The next token, not expanded. */
  take(): PpToken {
    return this.#pending.pop() ?? this.#source();
  }

  /** Puts tokens back, to be taken again in this order. */
  untake(tokens: readonly PpToken[]): void {
    for (let i = tokens.length - 1; i >= 0; i--) {
      const token = tokens[i];
      if (token !== undefined) this.#pending.push(token);
    }
  }

  /** All of a list, expanded on its own, as C11 wants it for arguments. */
  expandList(tokens: readonly PpToken[]): PpToken[] {
    const last = tokens.at(-1);
    if (last !== undefined && this.#depth >= MAX_DEPTH) {
      const message = `macro arguments are nested deeper than ${MAX_DEPTH}`;
      this.#cx.budget.exhaust(last.span, message, this.#cx.reporter);
      return [];
    }
    return expandTokens(tokens, this.#cx, this.#depth + 1);
  }

  /** Takes `( … )` apart at its commas; undefined (and nothing taken) when no `)` ends it. */
  takeArguments(): { args: PpToken[][]; close: PpToken } | undefined {
    const open = this.take();
    const taken = [open];
    let current: PpToken[] = [];
    const args = [current];
    for (let depth = 1;;) {
      const token = this.take();
      taken.push(token);
      if (token.kind === "end") {
        this.untake(taken);
        return undefined;
      }
      if (token.kind === "punctuator") {
        if (token.text === "(") depth++;
        else if (token.text === ")" && --depth === 0) return { args, close: token };
        else if (token.text === "," && depth === 1) {
          current = [];
          args.push(current);
          continue;
        }
      }
      current.push(token);
    }
  }

  /** Replaces a macro's name, and its arguments, by its body; false when the name stays. */
  #expand(name: PpToken, macro: Macro): boolean {
    if (this.#cx.budget.isExhausted) return false;
    if (macro.params === undefined) {
      this.#replace(name, macro, [], name.span, name.hide);
      return true;
    }
    if (this.#unclosed.has(macro.name)) return false;
    const open = this.take();
    this.untake([open]);
    if (open.kind !== "punctuator" || open.text !== "(") return false;
    const call = this.takeArguments();
    if (call === undefined) {
      this.#unclosed.add(macro.name);
      this.#cx.reporter.error(
        "E1019",
        name.span,
        `the call of macro \`${macro.name}\` has no \`)\``,
      );
      return false;
    }
    const args = matchArguments(macro, macro.params, call.args);
    const { close } = call;
    if (args === undefined) {
      this.#reportCount(name, macro, macro.params.length, call.args.length);
      // Any expression keeps the parser from reporting the same location again.
      this.untake([{ ...name, kind: "number", text: "0" }]);
      return true;
    }
    const closesHere = close.span.expansion === name.span.expansion;
    const use = closesHere ? joinSpans(name.span, close.span) : name.span;
    this.#replace(name, macro, args, use, hiddenInBoth(name.hide, close.hide));
    return true;
  }

  #reportCount(name: PpToken, macro: Macro, wanted: number, given: number): void {
    const count = macro.variadic ? `at least ${wanted - 1}` : `${wanted}`;
    const noun = count === "1" || count === "at least 1" ? "argument" : "arguments";
    const message = `macro \`${macro.name}\` takes ${count} ${noun}, not ${given}`;
    const notes = [{ message: `\`${macro.name}\` is defined here`, span: macro.span }];
    this.#cx.reporter.error("E1019", name.span, message, { notes });
  }

  #replace(
    name: PpToken,
    macro: Macro,
    args: readonly PpToken[][],
    use: Span,
    hide: HideSet | undefined,
  ): void {
    const { budget, reporter } = this.#cx;
    const result = substitute(macro, args, { name, use, expander: this, reporter, budget });
    const hiding = new Map<HideSet | undefined, HideSet>();
    this.untake(result.map((token, i) => {
      let hidden = hiding.get(token.hide);
      if (hidden === undefined) {
        hidden = new Set([...hide ?? [], ...token.hide ?? [], macro.name]);
        hiding.set(token.hide, hidden);
        budget.spendOnCopying(hidden.size);
      }
      const { kind, text, span } = token;
      const spaceBefore = i === 0 ? name.spaceBefore : token.spaceBefore;
      const lineStart = i === 0 && name.lineStart;
      return { kind, text, span, spaceBefore, lineStart, hide: hidden };
    }));
    budget.check(useSite(use), reporter);
  }
}

/** All of a list with macros expanded. */
export function expandTokens(tokens: readonly PpToken[], cx: ExpandContext, depth = 0): PpToken[] {
  const last = tokens.at(-1);
  if (last === undefined) return [];
  const expander = new Expander(cx, listSource(tokens, last.span), depth);
  const expanded: PpToken[] = [];
  for (let token = expander.next(); token.kind !== "end"; token = expander.next()) {
    expanded.push(token);
  }
  return expanded;
}

/** A source for a list of tokens. */
export function listSource(tokens: readonly PpToken[], at: Span): TokenSource {
  let next = 0;
  return () =>
    tokens[next++] ??
      {
        kind: "end",
        text: "",
        span: { ...at, start: at.end },
        spaceBefore: false,
        lineStart: true,
      };
}

/** One argument per parameter; undefined when the counts differ. `f()` has one empty argument or none. */
function matchArguments(
  macro: Macro,
  params: readonly string[],
  args: readonly PpToken[][],
): PpToken[][] | undefined {
  const given = params.length === 0 && args.length === 1 && args[0]?.length === 0 ? [] : args;
  if (!macro.variadic) return given.length === params.length ? [...given] : undefined;
  const named = params.length - 1;
  if (given.length < named) return undefined;
  const rest = given.slice(named).flatMap((arg, i) => {
    const first = arg[0] ?? args[0]?.[0];
    return i === 0 || first === undefined ? arg : [comma(first), ...arg];
  });
  return [...given.slice(0, named), rest];
}

function comma(before: PpToken): PpToken {
  const { start } = before.span;
  const span = { ...before.span, start, end: start };
  return { kind: "punctuator", text: ",", span, spaceBefore: false, lineStart: false };
}
