/** Text to tree for tests, trees as short texts, and diagnostics as a list. */
import type { Argument, Expr, Item, TypeName, Unit } from "../../../compiler/parse/ast.ts";
import { parse, parseExpression, parseTypeName } from "../../../compiler/parse/parser.ts";
import { preprocess } from "../../../compiler/preprocess/preprocess.ts";
import { printTypeName } from "../../../compiler/parse/print_expr.ts";
import { type Diagnostic, Reporter } from "../../../compiler/support/diagnostic.ts";
import { lineText, positionOf, type Span, useSite } from "../../../compiler/support/source.ts";
import { assertEquals } from "../assert.ts";

export type Defines = Readonly<Record<string, string>>;

export interface Parsed {
  readonly unit: Unit;
  readonly diagnostics: readonly Diagnostic[];
}

/** Preprocesses and parses a file. */
export function parseText(text: string, defines: Defines = {}): Parsed {
  const reporter = new Reporter();
  const { tokens, comments } = tokensOf(text, defines, reporter);
  return { unit: parse(tokens, comments, reporter), diagnostics: reporter.diagnostics };
}

/** The tree of a file that must be without fault. */
export function parseClean(text: string, defines: Defines = {}): Unit {
  const { unit, diagnostics } = parseText(text, defines);
  assertEquals(listDiagnostics(diagnostics), "", text);
  return unit;
}

/** The tree of an expression that must be without fault. */
export function parseCleanExpr(text: string): Expr {
  const reporter = new Reporter();
  const expr = parseExpression(tokensOf(text, {}, reporter).tokens, reporter);
  assertEquals(listDiagnostics(reporter.diagnostics), "", text);
  return expr;
}

/** The tree of a type name that must be without fault. */
export function parseCleanTypeName(text: string): TypeName {
  const reporter = new Reporter();
  const type = parseTypeName(tokensOf(text, {}, reporter).tokens, reporter);
  assertEquals(listDiagnostics(reporter.diagnostics), "", text);
  return type;
}

/** The codes reported for a file. */
export function codesOf(text: string, defines: Defines = {}): string[] {
  return parseText(text, defines).diagnostics.map(({ code }) => code);
}

/** The codes reported for the statements of a function with the parameters `a b c i j n x` and `p q`. */
export function codesOfBody(body: string): string[] {
  return codesOf(
    `void f(int a, int b, int c, int i, int j, int n, int x, float *p, float *q) {\n${body}\n}`,
  );
}

function tokensOf(
  text: string,
  defines: Defines,
  reporter: Reporter,
): ReturnType<typeof preprocess> {
  const list = Object.entries(defines).map(([name, value]) => ({ name, value }));
  return preprocess({ name: "test.tc", text }, { defines: list, predefined: {} }, reporter);
}

/** The tree without positions, and without absent fields. */
export function withoutSpans(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutSpans);
  if (typeof node !== "object" || node === null) return node;
  const kept = Object.entries(node).filter(([key, value]) =>
    key !== "span" && key !== "operatorSpan" && value !== undefined
  ).map(([key, value]) => [key, key === "variadic" ? true : withoutSpans(value)]);
  return Object.fromEntries(kept);
}

/** An expression as text with one pair of parentheses per node, so that the tree shows. */
export function shapeOf(expr: Expr): string {
  switch (expr.kind) {
    case "number":
    case "char":
    case "string":
      return expr.text;
    case "bool":
      return `${expr.value}`;
    case "name":
      return expr.name;
    case "paren":
      return shapeOf(expr.inner);
    case "call":
      return `${shapeOf(expr.callee)}(${expr.args.map(argumentShape).join(", ")})`;
    case "subscript":
      return `${shapeOf(expr.base)}[${expr.items.map(itemShape).join(", ")}]`;
    case "member":
      return `(${shapeOf(expr.base)}${expr.arrow ? "->" : "."}${expr.name.text})`;
    case "step":
      return expr.prefix
        ? `(${expr.operator}${shapeOf(expr.operand)})`
        : `(${shapeOf(expr.operand)}${expr.operator})`;
    case "unary":
      return `(${expr.operator}${shapeOf(expr.operand)})`;
    case "deref":
      return `(*${expr.mask ? `?(${shapeOf(expr.mask)}) ` : ""}${shapeOf(expr.pointer)})`;
    case "cast":
      return `((${printTypeName(expr.type)}) ${shapeOf(expr.operand)})`;
    case "compound-literal":
      return `(${printTypeName(expr.type)}){}`;
    case "sizeof-type":
      return `${expr.operator}(${printTypeName(expr.type)})`;
    case "sizeof-expr":
      return `(sizeof ${shapeOf(expr.operand)})`;
    case "bitcast":
      return `bitcast<${printTypeName(expr.type)}>(${shapeOf(expr.operand)})`;
    case "range":
      return `(${shapeOf(expr.lo)} ... ${shapeOf(expr.hi)})`;
    case "binary":
      return `(${shapeOf(expr.lhs)} ${expr.operator} ${shapeOf(expr.rhs)})`;
    case "conditional":
      return `(${shapeOf(expr.condition)} ?${expr.then ? ` ${shapeOf(expr.then)} ` : ""}: ${
        shapeOf(expr.else)
      })`;
    case "assign":
      return `(${shapeOf(expr.target)} ${expr.operator} ${shapeOf(expr.value)})`;
    case "comma":
      return `(${shapeOf(expr.lhs)}, ${shapeOf(expr.rhs)})`;
    case "error":
      return "<error>";
  }
}

function argumentShape(argument: Argument): string {
  return argument.kind === "type" ? `type ${printTypeName(argument.type)}` : shapeOf(argument.expr);
}

function itemShape(item: Item): string {
  switch (item.kind) {
    case "all":
      return ":";
    case "newaxis":
      return "newaxis";
    case "reduce":
      return `reduce ${item.operator}`;
    case "axis":
      return `axis ${shapeOf(item.axis)}`;
    case "index":
      return `index ${shapeOf(item.index)}`;
  }
}

/** Diagnostics one below the other, with the line they point at. */
export function listDiagnostics(diagnostics: readonly Diagnostic[]): string {
  return diagnostics.map(({ code, severity, message, span, notes, hint, fix }) => {
    const lines = [`${locationOf(span)}: ${severity} ${code}: ${message}`, ...underlined(span)];
    for (const note of notes) {
      lines.push(`  note: ${note.message}${note.span ? ` (${locationOf(note.span)})` : ""}`);
    }
    if (hint !== undefined) lines.push(`  hint: ${hint}`);
    if (fix !== undefined) {
      lines.push(`  fix: ${locationOf(fix.span)} ${JSON.stringify(fix.replacement)}`);
    }
    return lines.join("\n") + "\n";
  }).join("");
}

function locationOf(span: Span): string {
  const { file, start } = useSite(span);
  const { line, column } = positionOf(file, start);
  return `${line}:${column}`;
}

function underlined(span: Span): string[] {
  const { file, start, end } = useSite(span);
  const { line, column } = positionOf(file, start);
  const text = lineText(file, line);
  const length = Math.max(1, Math.min(end - start, text.length - column + 1));
  return [`  | ${text}`, `  | ${" ".repeat(column - 1)}${"^".repeat(length)}`];
}
