import fc from "../../support/property.ts";
import type { Expr, Stmt, Unit } from "../../../compiler/parse/ast.ts";
import { parse } from "../../../compiler/parse/parser.ts";
import { preprocess } from "../../../compiler/preprocess/preprocess.ts";
import { printExpr } from "../../../compiler/parse/print_expr.ts";
import { printAst } from "../../support/compiler/print_ast.ts";
import { Reporter } from "../../../compiler/support/diagnostic.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { withoutSpans } from "../../support/compiler/parse.ts";
import { RANDOM_PRELUDE, randomExpr, randomUnit } from "../../support/compiler/random_ast.ts";

/** The tree without parentheses, and without braces around single statements before an `else`. */
function withoutParens(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutParens);
  if (typeof node !== "object" || node === null) return node;
  if ("kind" in node && node.kind === "paren" && "inner" in node) return withoutParens(node.inner);
  const entries = Object.entries(node).map(([key, value]) => [
    key,
    withoutParens(key === "then" && "else" in node ? withoutBraces(value) : value),
  ]);
  return Object.fromEntries(entries);
}

function withoutBraces(node: Stmt): unknown {
  const [first, second] = node.kind === "block" ? node.items : [];
  const isSingle = first !== undefined && second === undefined && first.kind !== "declaration" &&
    first.kind !== "static-assert";
  return isSingle ? withoutBraces(first) : node;
}

function errorsOf(reporter: Reporter): string[] {
  return reporter.diagnostics.filter(({ severity }) => severity === "error").map(({ message }) =>
    message
  );
}

function reparse(text: string): Unit {
  const reporter = new Reporter();
  const { tokens, comments } = preprocess(
    { name: "t", text },
    { defines: [], predefined: {} },
    reporter,
  );
  const unit = parse(tokens, comments, reporter);
  assertEquals(errorsOf(reporter), [], text);
  return unit;
}

/** As the initializer of a variable, below the type that random trees name. */
function reparseExpr(text: string): Expr {
  const [, item] = reparse(`typedef float acc_t[16]; int z = (${text});`).items;
  const value = item?.kind === "declaration" ? item.inits[0]?.initializer?.[0] : undefined;
  assert(value?.kind === "paren", text);
  return value.inner;
}

Deno.test("printExpr() writes text that parses back to the same tree", () => {
  fc.assert(
    fc.property(randomExpr, (expr) => {
      const text = printExpr(expr);
      assertEquals(
        withoutParens(withoutSpans(reparseExpr(text))),
        withoutParens(withoutSpans(expr)),
        text,
      );
    }),
    { numRuns: 600 },
  );
});

Deno.test("printAst() writes text that parses back to the same tree", () => {
  const prelude = reparse(RANDOM_PRELUDE);
  fc.assert(
    fc.property(randomUnit, (unit) => {
      const text = `${RANDOM_PRELUDE}\n${printAst(unit)}`;
      const expected = { items: [...prelude.items, ...unit.items] };
      assertEquals(
        withoutParens(withoutSpans(reparse(text))),
        withoutParens(withoutSpans(expected)),
        text,
      );
    }),
    { numRuns: 300 },
  );
});

/** Every expression in a tree. */
function* expressionsIn(node: unknown): Generator<Expr> {
  if (typeof node !== "object" || node === null) return;
  if ("kind" in node && "span" in node && EXPRESSIONS.has(String(node.kind))) yield node as Expr;
  for (const [key, value] of Object.entries(node)) {
    if (key !== "span" && key !== "operatorSpan") yield* expressionsIn(value);
  }
}

const EXPRESSIONS = new Set(
  ["paren", "call", "subscript", "member", "step", "unary", "deref", "cast", "bitcast", "range"]
    .concat(
      "binary",
      "conditional",
      "assign",
      "comma",
      "name",
      "number",
      "sizeof-type",
      "sizeof-expr",
    ),
);

Deno.test("parse() gives every expression the span of its own text", () => {
  fc.assert(
    fc.property(randomExpr, (random) => {
      for (const expr of expressionsIn(reparseExpr(printExpr(random)))) {
        const { file, start, end } = expr.span;
        const text = file.text.slice(start, end);
        assertEquals(withoutSpans(reparseExpr(text)), withoutSpans(expr), text);
      }
    }),
    { numRuns: 150 },
  );
});
