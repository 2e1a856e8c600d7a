/**
 * A macro's body with its arguments put in, `#` and `##` applied (C11, 6.10.3.1 to 6.10.3.3), and where each
 * token of the result came from.
 */
import type { Reporter } from "../support/diagnostic.ts";
import { type Expansion, joinSpans, type Span } from "../support/source.ts";
import { type PpToken, tokenFrom } from "./lexer.ts";
import type { MacroBudget } from "./macro_budget.ts";
import { isOperator, type Macro } from "./macros.ts";
import { paste, stringify } from "./paste.ts";

/** Expands a list of tokens on its own, as C11 wants it for arguments. */
export interface ArgumentExpander {
  expandList(tokens: readonly PpToken[]): readonly PpToken[];
}

/** A use of a macro, and what its arguments are expanded with. */
export interface MacroUse {
  readonly name: PpToken;
  /** From the name to the end of the arguments. */
  readonly use: Span;
  readonly expander: ArgumentExpander;
  readonly reporter: Reporter;
  readonly budget: MacroBudget;
}

/** The body with arguments put in; only its beginning when that exhausts the budget. */
export function substitute(
  macro: Macro,
  args: readonly (readonly PpToken[])[],
  use: MacroUse,
): readonly PpToken[] {
  const { body } = macro;
  const { budget } = use;
  budget.spendOnReading(body.length + 4);
  const bodyExpansion: Expansion = { macro: macro.name, use: use.use };
  const rebased = args.map((arg) => rebase(arg, macro, use));
  const indexOf = (token: PpToken | undefined): number =>
    token?.kind === "identifier" ? macro.params?.indexOf(token.text) ?? -1 : -1;
  const fromBody = (token: PpToken): PpToken => tokenFrom(token, bodyExpansion);
  const expanded: (readonly PpToken[])[] = [];
  const expandedArg = (index: number): readonly PpToken[] =>
    expanded[index] ??= use.expander.expandList(rebased[index] ?? []);
  const takesString = (at: number): boolean =>
    macro.params !== undefined && isOperator(body[at], "#");
  /** One operand of the body from index `at`. */
  const operand = (at: number, raw: boolean): readonly PpToken[] => {
    const token = body[at];
    if (token === undefined) return [];
    if (takesString(at)) {
      const arg = rebased[indexOf(body[at + 1])] ?? [];
      budget.spendOnText(arg);
      if (budget.isExhausted) return [];
      const span = joinSpans(token.span, body[at + 1]?.span ?? token.span);
      return [fromBody({ ...token, kind: "string", text: stringify(arg), span })];
    }
    const index = indexOf(token);
    if (index < 0) return [fromBody(token)];
    const arg = raw ? rebased[index] ?? [] : expandedArg(index);
    const first = arg[0];
    if (first === undefined) return [];
    const { spaceBefore } = token;
    return [{ ...first, spaceBefore }, ...arg.slice(1)];
  };

  const result: PpToken[] = [];
  const push = (tokens: readonly PpToken[]): void => {
    budget.spendOnResult(tokens);
    if (!budget.isExhausted) { for (const token of tokens) result.push(token); }
  };
  // Beyond the budget the rest is dropped; the caller reports that.
  for (let at = 0; at < body.length && !budget.isExhausted;) {
    const start = at;
    at += takesString(at) ? 2 : 1;
    if (!isOperator(body[at], "##")) {
      push(operand(start, false));
      continue;
    }
    let left = [...operand(start, true)];
    while (isOperator(body[at], "##") && !budget.isExhausted) {
      const right = operand(at + 1, true);
      at += takesString(at + 1) ? 3 : 2;
      const first = body[start];
      const last = body[at - 1];
      const span = first !== undefined && last !== undefined
        ? { ...joinSpans(first.span, last.span), expansion: bodyExpansion }
        : use.use;
      budget.spendOnText([...left.slice(-1), ...right.slice(0, 1)]);
      if (budget.isExhausted) break;
      // All but the last token is whole.
      push(left.slice(0, -1));
      left = paste(left.slice(-1), right, span, use.reporter);
    }
    push(left);
  }
  return result;
}

/**
 * Argument tokens with this use put into their chains: after the expansions within the argument, and
 * before the expansions that the macro's own name came out of. Those that the argument came out of too are
 * in its chain once, so that a chain of n macros makes chains of n links.
 */
function rebase(
  arg: readonly PpToken[],
  macro: Macro,
  { name, use, budget }: MacroUse,
): readonly PpToken[] {
  const own: Expansion = { macro: macro.name, use };
  const around = new Set<Span>();
  for (let at = name.span.expansion; at !== undefined; at = at.use.expansion) around.add(at.use);
  budget.spendOnReading(arg.length);
  budget.spendOnCopying(around.size);
  const moved = new Map<Expansion, Expansion>();
  const move = (expansion: Expansion | undefined): Expansion => {
    const within: Expansion[] = [];
    let outer = own;
    for (let at = expansion; at !== undefined && !around.has(at.use); at = at.use.expansion) {
      const known = moved.get(at);
      if (known !== undefined) {
        outer = known;
        break;
      }
      within.push(at);
    }
    budget.spendOnCopying(within.length);
    for (const link of within.reverse()) {
      outer = { macro: link.macro, use: { ...link.use, expansion: outer } };
      moved.set(link, outer);
    }
    return outer;
  };
  return arg.map((token) => tokenFrom(token, move(token.span.expansion)));
}
