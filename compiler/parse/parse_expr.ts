/**
 * Expressions (language.md 5.1 and Appendix A). Binary operators are climbed by the level column of
 * `operators.ts`; the grammar rule is above each function.
 */
import { joinSpans, sourceText, type Span } from "../support/source.ts";
import type { Expr } from "./ast.ts";
import {
  BINARY_LEVELS,
  isAssignOperator,
  isBinaryOperator,
  isUnaryOperator,
  LEVEL,
  LOOSEST_BINARY,
} from "./operators.ts";
import type { ParseContext } from "./parse_context.ts";
import { parseTypeNameHere, startsType } from "./parse_specs.ts";
import { atTwoDots, readTwoDots } from "./two_dots.ts";
import { isWord } from "../preprocess/token.ts";
import { parsePostfix } from "./parse_operand.ts";

/** expr = assign { ',' assign } */
export function parseExpr(p: ParseContext): Expr {
  let lhs = parseAssign(p);
  while (p.cursor.accept(",")) {
    p.cursor.link();
    const rhs = parseAssign(p);
    lhs = { kind: "comma", lhs, rhs, span: joinSpans(lhs.span, rhs.span) };
  }
  return lhs;
}

/** assign = cond [ assign-op assign ]; whether the target is an lvalue is checked later (note 2). */
export function parseAssign(p: ParseContext): Expr {
  const { cursor } = p;
  const target = parseConditional(p);
  const { text: operator, span: operatorSpan } = cursor.token;
  if (!isAssignOperator(operator)) return target;
  cursor.next();
  cursor.enter();
  const value = parseAssign(p);
  cursor.leave();
  return {
    kind: "assign",
    operator,
    target,
    value,
    operatorSpan,
    span: joinSpans(target.span, value.span),
  };
}

/** cond = lor [ '?' [ expr ] ':' cond ] */
export function parseConditional(p: ParseContext): Expr {
  const { cursor } = p;
  const condition = parseBinary(p, LOOSEST_BINARY);
  const question = cursor.accept("?");
  if (question === undefined) return condition;
  cursor.enter();
  const then = cursor.at(":") ? undefined : parseExpr(p);
  cursor.expect(":", { notes: [{ message: "to go with this `?`", span: question.span }] });
  const otherwise = parseConditional(p);
  cursor.leave();
  return {
    kind: "conditional",
    condition,
    ...(then && { then }),
    else: otherwise,
    operatorSpan: question.span,
    span: joinSpans(condition.span, otherwise.span),
  };
}

/** lor … matmul: every level of language.md 5.1 from 15 down to 5, left-associative. */
function parseBinary(p: ParseContext, loosest: number): Expr {
  const { cursor } = p;
  let lhs = parseRange(p);
  for (;;) {
    const { text: operator, span: operatorSpan, kind } = cursor.token;
    if (kind !== "punctuator" || !isBinaryOperator(operator)) return lhs;
    const level = BINARY_LEVELS[operator];
    if (level > loosest) return lhs;
    cursor.next();
    cursor.link();
    const rhs = operator === "*" && cursor.at("?")
      ? parseMisplacedLoad(p, lhs, operatorSpan)
      : level - 1 === LEVEL.range
      ? parseRange(p)
      : parseBinary(p, level - 1);
    if (level <= BINARY_LEVELS["*"]) warnRangeOperand(p, lhs, operator, operatorSpan, rhs);
    lhs = { kind: "binary", operator, lhs, rhs, operatorSpan, span: joinSpans(lhs.span, rhs.span) };
  }
}

/** W5102: `0 ... N / 2` halves the range, not its end. */
function warnRangeOperand(
  p: ParseContext,
  lhs: Expr,
  operator: string,
  span: Span,
  rhs: Expr,
): void {
  let last = lhs;
  while (last.kind === "binary") last = last.rhs;
  if (last.kind !== "range" || p.cursor.stuck) return;
  if (span.expansion !== undefined) {
    p.reporter.warn("W5102", span, `\`${operator}\` applies to the whole range before it`, {
      hint: `put parentheses around the value of the macro \`${span.expansion.macro}\``,
    });
    return;
  }
  const [lo, hi, factor] = [
    sourceText(last.lo.span),
    sourceText(last.hi.span),
    sourceText(rhs.span),
  ];
  p.reporter.warn("W5102", span, `\`${operator}\` applies to the whole range before it`, {
    hint: `write \`(${lo} ... ${hi}) ${operator} ${factor}\` if that is intended, else ` +
      `\`${lo} ... (${hi} ${operator} ${factor})\``,
  });
}

/** `a *?(m) p`: a product and a masked load share a star that can only be one of them (note 3). */
function parseMisplacedLoad(p: ParseContext, lhs: Expr, star: Span): Expr {
  const { cursor } = p;
  const { span: question } = cursor.token;
  const maskEnd = cursor.pastPair(1);
  const pointerEnd = isWord(cursor.ahead(maskEnd), "(") ? cursor.pastPair(maskEnd) : maskEnd + 1;
  const textOf = (from: number, to: number): string =>
    sourceText(joinSpans(cursor.ahead(from).span, cursor.ahead(to - 1).span));
  const load = maskEnd > 0 && pointerEnd > 0
    ? `${textOf(1, maskEnd)} ${textOf(maskEnd, pointerEnd)}`
    : "(m) p";
  cursor.complain("an expression after `*`", {
    hint: `to multiply by a masked load write \`${sourceText(lhs.span)} * *?${load}\``,
    fix: { span: { ...star, start: star.end }, replacement: " *" },
  });
  return parseDereference(p, question);
}

/** range = cast [ '...' cast ] */
function parseRange(p: ParseContext): Expr {
  const { cursor } = p;
  const lo = parseCast(p);
  const isMistyped = atTwoDots(p);
  if (!isMistyped && !cursor.accept("...")) return lo;
  const hi = (isMistyped ? readTwoDots(p) : undefined) ?? parseCast(p);
  const range: Expr = { kind: "range", lo, hi, span: joinSpans(lo.span, hi.span) };
  if (cursor.at("...")) {
    p.reporter.error("E5101", cursor.token.span, "ranges cannot be chained", {
      notes: [{ message: "the bounds of this range are complete", span: range.span }],
      hint: "a range has two bounds: `lo ... hi`",
    });
    while (cursor.accept("...")) parseCast(p);
  }
  return range;
}

/** cast = '(' type-name ')' cast | unary */
function parseCast(p: ParseContext): Expr {
  const { cursor } = p;
  if (!cursor.at("(") || !startsCast(p)) return parseUnary(p);
  const open = cursor.next();
  cursor.enter();
  const type = parseTypeNameHere(p);
  cursor.expectClose(")", open);
  let expr: Expr;
  if (cursor.at("{")) {
    p.reporter.error("E5002", cursor.spanFrom(open.span), "compound literals are not supported", {
      hint: "fill a tile with a cast, `(float[16]) 0`, or declare a variable",
    });
    cursor.skipPair();
    expr = { kind: "compound-literal", type, span: cursor.spanFrom(open.span) };
  } else {
    const operand = parseCast(p);
    expr = { kind: "cast", type, operand, span: joinSpans(open.span, operand.span) };
  }
  cursor.leave();
  return expr;
}

/** Whether the `(` at the cursor opens a cast, also one to a type that nothing declares. */
function startsCast(p: ParseContext): boolean {
  const { cursor, scopes } = p;
  const first = cursor.ahead(1);
  if (startsType(p, first)) return true;
  if (first.kind !== "identifier" || scopes.kindOf(first.text) !== undefined) return false;
  // `(T *)` is no expression; `(T) x` and `(T[N]) x` are none when an operand follows directly.
  let at = 2;
  if (isWord(cursor.ahead(at), "*")) {
    while (isWord(cursor.ahead(at), "*")) at++;
    return isWord(cursor.ahead(at), ")");
  }
  if (isWord(cursor.ahead(at), "[")) at = cursor.pastPair(at);
  const after = cursor.ahead(at + 1);
  return isWord(cursor.ahead(at), ")") && (after.kind === "identifier" || after.kind === "number");
}

/**
 * unary = ( '++' | '--' ) unary | ( '-' | '+' | '~' | '!' | '^' ) cast | '*' [ '?' '(' expr ')' ] cast
 *       | 'sizeof' ( '(' type-name ')' | unary ) | '_Alignof' '(' type-name ')' | postfix
 */
function parseUnary(p: ParseContext): Expr {
  const { cursor } = p;
  const { text, span: start, kind } = cursor.token;
  if (kind !== "punctuator" && text !== "sizeof" && text !== "_Alignof") return parsePostfix(p);
  cursor.enter();
  const expr = parsePrefixed(p, text, start);
  cursor.leave();
  return expr;
}

function parsePrefixed(p: ParseContext, operator: string, start: Span): Expr {
  const { cursor } = p;
  if (isUnaryOperator(operator)) {
    cursor.next();
    const operand = parseCast(p);
    return { kind: "unary", operator, operand, span: joinSpans(start, operand.span) };
  }
  switch (operator) {
    case "*":
      cursor.next();
      return parseDereference(p, start);
    case "++":
    case "--": {
      cursor.next();
      const operand = parseUnary(p);
      return {
        kind: "step",
        operator,
        prefix: true,
        operand,
        span: joinSpans(start, operand.span),
      };
    }
    case "sizeof":
    case "_Alignof":
      return parseSizeof(p, operator);
    default:
      return parsePostfix(p);
  }
}

/** What follows the star: [ '?' '(' expr ')' ] cast. A `(` after the mask belongs to the pointer (note 8). */
function parseDereference(p: ParseContext, start: Span): Expr {
  const { cursor } = p;
  let mask: Expr | undefined;
  if (cursor.accept("?")) {
    const open = cursor.expect("(", { hint: "a masked access is `*?(mask) pointer`" });
    mask = parseExpr(p);
    cursor.expectClose(")", open);
  }
  const pointer = parseCast(p);
  return { kind: "deref", ...(mask && { mask }), pointer, span: joinSpans(start, pointer.span) };
}

/** 'sizeof' ( '(' type-name ')' | unary ) | '_Alignof' '(' type-name ')' */
function parseSizeof(p: ParseContext, operator: "sizeof" | "_Alignof"): Expr {
  const { cursor } = p;
  const { span: start } = cursor.next();
  if (operator === "sizeof" && !(cursor.at("(") && startsType(p, cursor.ahead(1)))) {
    const operand = parseUnary(p);
    return { kind: "sizeof-expr", operand, span: joinSpans(start, operand.span) };
  }
  const open = cursor.expect("(");
  const type = parseTypeNameHere(p);
  cursor.expectClose(")", open);
  return { kind: "sizeof-type", operator, type, span: cursor.spanFrom(start) };
}
