/** Operands of expressions: primary expressions, and the calls and subscripts behind them. */
import { joinSpans, sourceText } from "../support/source.ts";
import type { DiagnosticDetails } from "../support/diagnostic.ts";
import type { Argument, Expr, Item } from "./ast.ts";
import { isBinaryOperator } from "./operators.ts";
import { keywordGroup } from "../preprocess/keywords.ts";
import type { ParseContext } from "./parse_context.ts";
import { parseTypeNameHere, startsType } from "./parse_specs.ts";
import { atTwoDots } from "./two_dots.ts";
import { isWord, type Token } from "../preprocess/token.ts";
import { parseAssign, parseConditional, parseExpr } from "./parse_expr.ts";

/** postfix = primary { '[' item { ',' item } ']' | '(' [ arg { ',' arg } ] ')' | '++' | '--' } */
export function parsePostfix(p: ParseContext): Expr {
  const { cursor } = p;
  let expr = parsePrimary(p);
  for (;;) {
    const { text, kind } = cursor.token;
    if (kind !== "punctuator") return expr;
    const base = expr;
    cursor.link();
    switch (text) {
      case "[": {
        const items = parseItems(p, base);
        expr = { kind: "subscript", base, items, span: cursor.spanFrom(base.span) };
        break;
      }
      case "(": {
        const args = parseArguments(p, base);
        expr = { kind: "call", callee: base, args, span: cursor.spanFrom(base.span) };
        break;
      }
      case "++":
      case "--":
        cursor.next();
        expr = {
          kind: "step",
          operator: text,
          prefix: false,
          operand: base,
          span: cursor.spanFrom(base.span),
        };
        break;
      case ".":
      case "->": {
        if (atTwoDots(p)) return expr;
        cursor.next();
        const { token } = cursor;
        if (token.kind === "identifier") cursor.next();
        else cursor.fail(`a name after \`${text}\``);
        const name = { text: token.text, span: token.span };
        expr = {
          kind: "member",
          base,
          arrow: text === "->",
          name,
          span: cursor.spanFrom(base.span),
        };
        break;
      }
      default:
        return expr;
    }
  }
}

/** '[' item { ',' item } ']' */
function parseItems(p: ParseContext, base: Expr): Item[] {
  const { cursor } = p;
  const open = cursor.next();
  cursor.enter();
  const items: Item[] = [];
  let isSlice = false;
  do {
    const item = parseItem(p);
    items.push(item);
    if (!cursor.at(":") && (item.kind !== "all" || endsItem(cursor.token))) continue;
    if (!isSlice) {
      const hint = `slices have no bounds; load with \`*(${sourceText(base.span)} + …)\``;
      cursor.complain("`,` or `]`", { hint });
    }
    isSlice = true;
    do {
      if (!cursor.at(":") && !endsItem(cursor.token)) parseConditional(p);
    } while (cursor.accept(":"));
  } while (cursor.accept(","));
  cursor.leave();
  cursor.expectClose("]", open);
  return items;
}

/** item = ':' | 'newaxis' | reduce-op | '^' cond | cond; a reduce-op only if `,` or `]` follows. */
function parseItem(p: ParseContext): Item {
  const { cursor } = p;
  const { token } = cursor;
  const { text, span } = token;
  if (cursor.accept(":")) return { kind: "all", span };
  if (cursor.accept("newaxis")) return { kind: "newaxis", span };
  if ((token.kind === "identifier" || isBinaryOperator(text)) && endsItem(cursor.ahead(1))) {
    cursor.next();
    return { kind: "reduce", operator: text, span };
  }
  if (cursor.accept("^")) {
    const axis = parseConditional(p);
    return { kind: "axis", axis, span: joinSpans(span, axis.span) };
  }
  const index = parseConditional(p);
  return { kind: "index", index, span: index.span };
}

function endsItem(token: Token): boolean {
  return isWord(token, ",") || isWord(token, "]");
}

/** '(' [ arg { ',' arg } ] ')', arg = assign | type-name */
function parseArguments(p: ParseContext, callee: Expr): Argument[] {
  const { cursor } = p;
  const open = cursor.next();
  cursor.enter();
  const args: Argument[] = [];
  if (!cursor.at(")")) {
    do {
      if (startsType(p, cursor.token)) args.push({ kind: "type", type: parseTypeNameHere(p) });
      else args.push({ kind: "expr", expr: parseAssign(p) });
    } while (cursor.accept(","));
  }
  cursor.leave();
  cursor.expectClose(")", open);
  // Note 6: `atomic_add(float, 64, 64)` names a function, which is called next.
  if (
    callee.kind === "name" && callee.name === "atomic_add" && args[0]?.kind === "type" &&
    !cursor.at("(")
  ) {
    cursor.fail("`(` and the arguments", {
      hint: "write `atomic_add(p, value, mask)`; it works for every type",
    });
  }
  return args;
}

/** primary = name | literal | '(' expr ')' | 'bitcast' '<' type-name '>' '(' expr ')' */
function parsePrimary(p: ParseContext): Expr {
  const { cursor } = p;
  const { kind, text, span } = cursor.token;
  switch (kind) {
    case "identifier":
      cursor.next();
      return { kind: "name", name: text, span };
    case "number":
    case "char":
    case "string":
      cursor.next();
      return { kind, text, span };
    case "keyword":
      if (text === "true" || text === "false") {
        cursor.next();
        return { kind: "bool", value: text === "true", span };
      }
      if (text === "bitcast") return parseBitcast(p);
      if (text === "_Generic") return parseGeneric(p);
      break;
    case "punctuator": {
      const open = cursor.accept("(");
      if (open === undefined) break;
      cursor.enter();
      const inner = parseExpr(p);
      cursor.leave();
      cursor.expectClose(")", open);
      return { kind: "paren", inner, span: cursor.spanFrom(span) };
    }
    case "loop-pragma":
    case "end":
      break;
  }
  cursor.fail("an expression", hintForOperand(p));
  return { kind: "error", span };
}

function parseBitcast(p: ParseContext): Expr {
  const { cursor } = p;
  const { span: start } = cursor.next();
  cursor.expect("<", { hint: "write `bitcast<float>(e)`" });
  const type = parseTypeNameHere(p);
  cursor.expect(">");
  const open = cursor.expect("(");
  cursor.enter();
  const operand = parseExpr(p);
  cursor.leave();
  cursor.expectClose(")", open);
  return { kind: "bitcast", type, operand, span: cursor.spanFrom(start) };
}

function parseGeneric(p: ParseContext): Expr {
  const { cursor } = p;
  const { span } = cursor.next();
  p.reporter.error("E2002", span, "`_Generic` is not supported", {
    hint: "built-in functions choose by type already; otherwise use `#if __type_is(TYPE, half)`",
  });
  if (cursor.at("(")) cursor.skipPair();
  return { kind: "error", span: cursor.spanFrom(span) };
}

const OPERAND_HINTS: Readonly<Record<string, string>> = {
  "{": "a list in braces is allowed only after `=` in a declaration",
  newaxis: "`newaxis` is allowed only in the `[ ]` of a subscript",
  ":": "`:` is allowed only in the `[ ]` of a subscript, or after `?`",
  "@": "`@` multiplies two tiles; the old `@mask statement` is now `*?(mask) p = v`",
  "...": "a range is `lo ... hi`",
};

/** What may have been meant where no operand can begin. */
function hintForOperand(p: ParseContext): DiagnosticDetails {
  const { text, kind } = p.cursor.token;
  if (kind === "keyword" && keywordGroup(text) === "type") {
    return { hint: `a conversion is written \`(${text}) x\`` };
  }
  if (kind === "keyword" && keywordGroup(text) === "statement") {
    return { hint: "the expression before it is not complete" };
  }
  const hint = Object.hasOwn(OPERAND_HINTS, text) ? OPERAND_HINTS[text] : undefined;
  return hint === undefined ? {} : { hint };
}
