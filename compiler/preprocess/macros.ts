/** Macros as data: what a definition holds, how `#define` is read, when two definitions are the same. */
import type { Reporter } from "../support/diagnostic.ts";
import type { SourceFile, Span } from "../support/source.ts";
import { joinSpans } from "../support/source.ts";
import { lex, type PpToken } from "./lexer.ts";

/** Who defined a macro: the file, a `-D`, or the compiler. */
export type MacroOrigin = "file" | "define" | "predefined";

export interface Macro {
  readonly name: string;
  readonly origin: MacroOrigin;
  readonly span: Span;
  /** Undefined for an object-like macro. A variadic one ends with `__VA_ARGS__`. */
  readonly params?: readonly string[];
  readonly variadic: boolean;
  readonly body: readonly PpToken[];
}

/** The macros that hold at one point of the text. */
export type MacroTable = ReadonlyMap<string, Macro>;

const VARIADIC_NAME = "__VA_ARGS__";

/** An object-like macro from text: the value of a `-D`, or a predefined macro. */
export function textMacro(
  name: string,
  text: string,
  origin: MacroOrigin,
  reporter: Reporter,
): Macro {
  const shown = origin === "define" ? `<-D ${name}>` : `<predefined ${name}>`;
  const file: SourceFile = { name: shown, text };
  const body = lex(file, reporter).tokens.slice(0, -1);
  return { name, origin, span: { file, start: 0, end: text.length }, variadic: false, body };
}

/** Reads what follows `#define`; reports and gives undefined when it defines nothing. */
export function parseDefine(
  line: readonly PpToken[],
  directive: Span,
  reporter: Reporter,
): Macro | undefined {
  const name = line[0];
  if (name?.kind !== "identifier") {
    reporter.error("E5003", name?.span ?? directive, `expected the name of a macro${found(name)}`);
    return undefined;
  }
  const open = line[1];
  const base = { name: name.text, origin: "file" as const, span: name.span };
  if (open?.text !== "(" || open.spaceBefore) {
    const body = line.slice(1);
    return pastesWell(body, reporter) ? { ...base, variadic: false, body } : undefined;
  }
  const parsed = parseParams(line, open, reporter);
  if (parsed === undefined) return undefined;
  const { params, variadic, next } = parsed;
  const body = line.slice(next);
  if (!pastesWell(body, reporter) || !stringifiesWell(body, params, reporter)) return undefined;
  return { ...base, params, variadic, body };
}

/** `(a, b, ...)` from the opening parenthesis at index 1; `next` is the index after it. */
function parseParams(
  line: readonly PpToken[],
  open: PpToken,
  reporter: Reporter,
): { params: string[]; variadic: boolean; next: number } | undefined {
  const params: string[] = [];
  if (line[2]?.text === ")") return { params, variadic: false, next: 3 };
  for (let at = 2;; at += 2) {
    const token = line[at];
    const separator = line[at + 1];
    const variadic = token?.text === "...";
    const isName = token?.kind === "identifier" && token.text !== VARIADIC_NAME;
    if (token === undefined || !(variadic || isName)) {
      const span = token?.span ?? open.span;
      reporter.error("E5003", span, `expected the name of a macro parameter${found(token)}`);
      return undefined;
    }
    const param = variadic ? VARIADIC_NAME : token.text;
    if (params.includes(param)) {
      reporter.error(
        "E5003",
        token.span,
        `expected another name; \`${param}\` is a parameter already`,
      );
      return undefined;
    }
    params.push(param);
    if (separator?.text === ")") return { params, variadic, next: at + 2 };
    if (separator?.text !== "," || variadic) {
      const span = separator?.span ?? open.span;
      const wanted = variadic ? "`)`" : "`,` or `)`";
      reporter.error(
        "E5003",
        span,
        `expected ${wanted} in the macro's parameters${found(separator)}`,
      );
      return undefined;
    }
  }
}

/** `##` needs a token on both sides. */
function pastesWell(body: readonly PpToken[], reporter: Reporter): boolean {
  const lone = [body[0], body.at(-1)].find((token) => isOperator(token, "##"));
  if (lone === undefined) return true;
  reporter.error("E1020", lone.span, "`##` needs a token on both sides");
  return false;
}

/** In a function-like macro `#` precedes parameters only. */
function stringifiesWell(
  body: readonly PpToken[],
  params: readonly string[],
  reporter: Reporter,
): boolean {
  const at = body.findIndex((token, i) =>
    isOperator(token, "#") && !params.includes(body[i + 1]?.text ?? "")
  );
  const hash = body[at];
  if (hash === undefined) return true;
  const span = joinSpans(hash.span, body[at + 1]?.span ?? hash.span);
  const hint = params.length === 0
    ? "this macro has no parameters"
    : `parameters: ${params.join(", ")}`;
  reporter.error("E1018", span, "`#` must be followed by a parameter of the macro", { hint });
  return false;
}

export function isOperator(token: PpToken | undefined, text: "#" | "##"): boolean {
  return token?.kind === "punctuator" && token.text === text;
}

/** C11 6.10.3: the same parameters and body, blanks between tokens counting as present or absent. */
export function sameDefinition(a: Macro, b: Macro): boolean {
  const params = (macro: Macro): string => macro.params?.join() ?? "none";
  return params(a) === params(b) && a.body.length === b.body.length &&
    a.body.every((token, i) => {
      const other = b.body[i];
      return token.text === other?.text && (i === 0 || token.spaceBefore === other.spaceBefore);
    });
}

/** `, found …` for the message about a token that should have been another. */
export function found(token: PpToken | undefined): string {
  return `, found ${
    token === undefined || token.kind === "end" ? "the end of the line" : `\`${token.text}\``
  }`;
}
