/**
 * How much work macros may make. They double each other in few lines, in tokens, in the length of one token
 * (`x ## x`) and in what is only read and thrown away (`#define DROP(x)`), so all three count. What is spent
 * is never given back: once it is, no macro is expanded any more.
 */
import type { Reporter } from "../support/diagnostic.ts";
import type { Span } from "../support/source.ts";
import type { PpToken } from "./lexer.ts";

/** Far above any honest kernel (the largest published one has some thousand tokens). */
const MAX_EXPANDED_TOKENS = 250_000;

/** What costs as much as one token of a result: characters of its text, tokens read, names and links copied. */
const CHARACTERS = 64;
const TOKENS_READ = 4;
const LINKS_COPIED = 16;

/** Shared by all expansions of one text. */
export class MacroBudget {
  #left = MAX_EXPANDED_TOKENS;
  #isReported = false;

  get isExhausted(): boolean {
    return this.#left <= 0;
  }

  /** Before tokens become part of a result, or their text part of another token's. */
  spendOnResult(tokens: readonly PpToken[]): void {
    this.#left -= tokens.length;
    this.spendOnText(tokens);
  }

  /** Before the text of tokens becomes part of another token's. */
  spendOnText(tokens: readonly PpToken[]): void {
    let characters = 0;
    for (const { text } of tokens) characters += text.length;
    this.#left -= characters / CHARACTERS;
  }

  spendOnReading(tokens: number): void {
    this.#left -= tokens / TOKENS_READ;
  }

  /** Names of a hide set, links of a chain of expansions. */
  spendOnCopying(links: number): void {
    this.#left -= links / LINKS_COPIED;
  }

  /** Reports an exhausted budget, once. */
  check(span: Span, reporter: Reporter): void {
    if (!this.isExhausted) return;
    this.exhaust(span, `macros expand to more than ${MAX_EXPANDED_TOKENS} tokens`, reporter);
  }

  /** Ends all expansion for another reason. */
  exhaust(span: Span, message: string, reporter: Reporter): void {
    this.#left = -Infinity;
    if (!this.#isReported) reporter.error("E1025", span, message);
    this.#isReported = true;
  }
}
