/** What each preprocessing directive does (language.md, 1.2). */
import type { Reporter } from "../support/diagnostic.ts";
import { joinSpans, type Span } from "../support/source.ts";
import { nearest } from "../support/spelling.ts";
import type { Conditions } from "./conditions.ts";
import { evaluateCondition } from "./if_expr.ts";
import type { PpToken } from "./lexer.ts";
import { parseString } from "./literals.ts";
import { found, type Macro, parseDefine, sameDefinition } from "./macros.ts";
import { spell } from "./spell.ts";

/** One directive's tokens. */
export interface DirectiveLine {
  /** From `#` to the directive's name. */
  readonly span: Span;
  /** From `#` to the end of the line. */
  readonly whole: Span;
  readonly name: PpToken;
  /** What follows the name. */
  readonly rest: readonly PpToken[];
}

/** What directives act on. */
export interface DirectiveHost {
  readonly reporter: Reporter;
  readonly conditions: Conditions;
  readonly macros: Map<string, Macro>;
  /** Whether the compiler defines a macro of this name, here or in other builds. */
  readonly isPredefined: (name: string) => boolean;
  /** Whether a name is a macro now; the text depends on the answer. */
  readonly isDefined: (name: string) => boolean;
  /** A line's tokens with macros expanded; in conditions `defined` and `__type_is` are known. */
  readonly expandLine: (tokens: readonly PpToken[], inCondition: boolean) => PpToken[];
  readonly include: (name: string, kind: "quoted" | "angled", span: Span) => void;
  /** Continues the line numbers after this directive from `line`. */
  readonly setLine: (line: number, name: string | undefined, directive: Span) => void;
  /** Never read the current file again. */
  readonly readOnce: () => void;
  /** Whether the current text came in by `#include`. */
  readonly isIncluded: () => boolean;
}

type Directive = (line: DirectiveLine, host: DirectiveHost) => PpToken | undefined;

/** Directives that are followed in skipped groups too. */
export const CONDITIONALS: Readonly<Record<string, Directive>> = {
  if: (line, host) => open(line, host, () => holds(line, host)),
  ifdef: (line, host) => open(line, host, () => isDefined(line, host)),
  ifndef: (line, host) => open(line, host, () => !isDefined(line, host)),
  elif: (line, host) => alternative(line, host, () => holds(line, host)),
  elifdef: (line, host) => alternative(line, host, () => isDefined(line, host)),
  elifndef: (line, host) => alternative(line, host, () => !isDefined(line, host)),
  else: (line, host) => {
    if (host.conditions.counts) rejectRest(line, host);
    return alternative(line, host, () => true);
  },
  endif: (line, host) => {
    if (host.conditions.counts) rejectRest(line, host);
    host.conditions.close(line.span);
    return undefined;
  },
};

const OTHERS: Readonly<Record<string, Directive>> = {
  define,
  undef,
  include,
  error: ({ span, rest }, { reporter }) => {
    reporter.error("E1040", span, `#error ${spell(rest)}`.trimEnd());
    return undefined;
  },
  warning: ({ span, rest }, { reporter }) => {
    reporter.warn("W1041", span, `#warning ${spell(rest)}`.trimEnd());
    return undefined;
  },
  line: setLine,
  pragma,
};

/** The words that may follow `#`. */
export const DIRECTIVE_WORDS: readonly string[] = Object.keys({ ...CONDITIONALS, ...OTHERS });

/** Follows a directive where the text counts; gives the token that a loop pragma becomes. */
export function followDirective(line: DirectiveLine, host: DirectiveHost): PpToken | undefined {
  const { text } = line.name;
  const directive = Object.hasOwn(CONDITIONALS, text)
    ? CONDITIONALS[text]
    : Object.hasOwn(OTHERS, text)
    ? OTHERS[text]
    : undefined;
  if (directive !== undefined) return directive(line, host);
  const near = nearest(text, DIRECTIVE_WORDS);
  host.reporter.error("E1010", line.span, `unknown directive \`#${text}\``, {
    ...(near === undefined ? {} : {
      hint: `did you mean \`#${near}\`?`,
      fix: { span: line.name.span, replacement: near },
    }),
  });
  return undefined;
}

function open({ span }: DirectiveLine, host: DirectiveHost, test: () => boolean): undefined {
  host.conditions.open(span, test);
}

function alternative(
  { span, name }: DirectiveLine,
  host: DirectiveHost,
  test: () => boolean,
): undefined {
  host.conditions.alternative(span, name.text, test);
}

/** The condition of `#if`. A malformed one has been reported and does not hold. */
function holds({ rest, span, name }: DirectiveLine, host: DirectiveHost): boolean {
  const [first, operator, second] = rest;
  const last = rest.at(-1);
  if (first === undefined || last === undefined) {
    host.reporter.error("E1011", span, `\`#${name.text}\` has no condition`);
    return false;
  }
  const compares = rest.length === 3 && first.kind === "identifier" &&
    second?.kind === "identifier";
  const negation = operator?.text === "==" ? "" : operator?.text === "!=" ? "!" : undefined;
  const written = {
    span: joinSpans(first.span, last.span),
    ...(compares && negation !== undefined
      ? { typeTest: `${negation}__type_is(${first.text}, ${second.text})` }
      : {}),
  };
  const { reporter } = host;
  const errorsBefore = reporter.errorCount;
  const expanded = host.expandLine(rest, true);
  if (reporter.errorCount > errorsBefore) return false;
  return evaluateCondition(expanded, written, reporter) ?? false;
}

/** The condition of `#ifdef`. */
function isDefined(line: DirectiveLine, host: DirectiveHost): boolean {
  const [name, extra] = line.rest;
  if (name?.kind !== "identifier") {
    const message = `\`#${line.name.text}\` needs the name of a macro${found(name)}`;
    host.reporter.error("E1011", name?.span ?? line.span, message);
    return false;
  }
  if (extra !== undefined) {
    const message = `\`#${line.name.text}\` takes one name, found \`${extra.text}\` after it`;
    host.reporter.error("E1011", extra.span, message, {
      hint: "combine conditions with `#if defined(A) && …`",
    });
  }
  return host.isDefined(name.text);
}

function rejectRest({ name, rest }: DirectiveLine, { reporter }: DirectiveHost): void {
  const extra = rest[0];
  if (extra === undefined) return;
  const message = `expected the end of the line after \`#${name.text}\`, found \`${extra.text}\``;
  const hint = name.text === "else" && extra.text === "if" ? { hint: "write `#elif`" } : {};
  reporter.error("E5003", extra.span, message, hint);
}

function define(line: DirectiveLine, host: DirectiveHost): undefined {
  const macro = parseDefine(line.rest, line.span, host.reporter);
  if (macro === undefined || isReserved(macro.name, macro.span, host)) return;
  const old = host.isDefined(macro.name) ? host.macros.get(macro.name) : undefined;
  if (old?.origin === "define") {
    const message = `this overrides the \`-D ${macro.name}\` of the build`;
    const hint = `write \`#ifndef ${macro.name}\` around it to let the build decide`;
    host.reporter.warn("W1022", macro.span, message, { hint });
  } else if (old !== undefined && !sameDefinition(old, macro)) {
    const notes = [{ message: "the earlier definition", span: old.span }];
    host.reporter.warn(
      "W1021",
      macro.span,
      `\`${macro.name}\` is redefined with a different body`,
      {
        notes,
      },
    );
  }
  host.macros.set(macro.name, macro);
}

function undef(line: DirectiveLine, host: DirectiveHost): undefined {
  const [name, extra] = line.rest;
  if (name?.kind !== "identifier") {
    const message = `expected the name of a macro${found(name)}`;
    host.reporter.error("E5003", name?.span ?? line.span, message);
    return;
  }
  if (extra !== undefined) rejectRest({ ...line, rest: line.rest.slice(1) }, host);
  if (!isReserved(name.text, name.span, host)) host.macros.delete(name.text);
}

function isReserved(name: string, span: Span, host: DirectiveHost): boolean {
  if (!host.isPredefined(name)) return false;
  const message = `\`${name}\` is reserved and cannot be defined or undefined`;
  host.reporter.error("E1024", span, message);
  return true;
}

function include(line: DirectiveLine, host: DirectiveHost): undefined {
  const written = line.rest[0];
  const spelled = written?.kind === "string" || written?.text === "<";
  const tokens = spelled ? line.rest : host.expandLine(line.rest, false);
  const first = tokens[0];
  if (first?.kind === "string" && tokens.length === 1) {
    host.include(first.text.slice(1, -1), "quoted", first.span);
    return;
  }
  const close = tokens.findIndex(({ text }) => text === ">");
  const end = tokens[close];
  if (first?.text === "<" && end !== undefined && close === tokens.length - 1 && close > 1) {
    const name = spelled
      ? first.span.file.text.slice(first.span.end, end.span.start)
      : spell(tokens.slice(1, -1));
    host.include(name, "angled", spelled ? joinSpans(first.span, end.span) : line.whole);
    return;
  }
  const message = 'expected `"file"` or `<file>` after `#include`';
  host.reporter.error("E5003", first?.span ?? line.span, `${message}${found(first)}`);
}

function setLine(line: DirectiveLine, host: DirectiveHost): undefined {
  const [number, name, extra] = host.expandLine(line.rest, false);
  const isNumber = number?.kind === "number" && /^[0-9]{1,10}$/.test(number.text);
  const file = name?.kind === "string" ? parseString(name.text) : undefined;
  if (!isNumber || (name !== undefined && file?.kind !== "string") || extra !== undefined) {
    const bad = !isNumber ? number : file?.kind !== "string" ? name : extra;
    const message = `expected \`#line 12 "name"\`${found(bad)}`;
    host.reporter.error("E5003", bad?.span ?? line.span, message);
    return;
  }
  host.setLine(Number(number.text), file?.kind === "string" ? file.value : undefined, line.whole);
}

/** `#pragma`: a loop's hints become a token, what belongs to kernels was read before preprocessing. */
function pragma(line: DirectiveLine, host: DirectiveHost): PpToken | undefined {
  const [first, second, ...others] = line.rest;
  if (first?.text === "unroll") {
    const factor = host.expandLine(line.rest.slice(1), false);
    const bare = factor[0]?.text === "(" && factor.at(-1)?.text === ")"
      ? factor.slice(1, -1)
      : factor;
    return loopPragma(line, bare.length === 0 ? "unroll" : `unroll(${spell(bare)})`);
  }
  if (first?.text === "tri" && second?.text === "loop") {
    if (others.length === 0) {
      const message = "expected a hint such as `unroll(4)` after `loop`, found the end of the line";
      host.reporter.error("E5003", second.span, message);
      return undefined;
    }
    return loopPragma(line, spell(host.expandLine(others, false)));
  }
  if (first?.text === "once") host.readOnce();
  else if (first?.text !== "tri") {
    host.reporter.warn("W1042", line.whole, "unknown pragma; it has no effect");
  } else if (host.isIncluded()) {
    const message = "kernel pragmas are read in the main file only; this one is ignored";
    const hint = '`#pragma tri include "FILE"` in the main file reads those of a file without code';
    host.reporter.warn("W9004", line.whole, message, { hint });
  }
  return undefined;
}

function loopPragma({ whole, name }: DirectiveLine, text: string): PpToken {
  return { ...name, kind: "loop-pragma", text, span: whole };
}
