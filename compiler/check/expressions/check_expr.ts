/**
 * Expressions: from syntax to typed tree. Undefined is a wrong expression, whose error is reported
 * already; callers that receive it report nothing.
 */
import { nearest } from "../../support/spelling.ts";
import type * as ast from "../../parse/ast.ts";
import { spellType } from "../tree/types.ts";
import type { TypedExpr } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import { BUILTIN_CONSTANTS, BUILTINS } from "../builtins/builtins.ts";
import { roundDecimal } from "../../preprocess/decimal.ts";
import { foreignNameHint, replacementOfMember } from "../../parse/foreign_words.ts";
import { parseChar, parseNumber, parseString } from "../../preprocess/literals.ts";
import { checkAssign, checkStep } from "./check_assign.ts";
import { checkBitcast, checkCast, checkSizeofExpr, checkSizeofType } from "./check_cast.ts";
import { checkCall } from "./check_call.ts";
import { checkConditional, checkLogical } from "./check_choice.ts";
import { applyBinary, applyUnary } from "./check_operators.ts";
import { checkAddress, checkLoad } from "./check_lvalue.ts";
import { checkMatmul, checkRange, checkSubscript, checkTranspose } from "./check_tile.ts";
import { reducedText } from "./conversion_hints.ts";
import { isOnLaterLine, MISSING_SEMICOLON, reportAssigned, reportChain } from "./mistakes.ts";
import { toBool } from "./convert.ts";
import { declarationNote } from "../analysis/origin.ts";
import { constant, intConstant, isValue, reshape, type Value } from "../tree/nodes.ts";
import { scalarType } from "../tree/value_types.ts";

/** Any expression; its type may be void. */
export function checkExpr(cx: Context, expr: ast.Expr): TypedExpr | undefined {
  const typed = checkForm(cx, expr);
  cx.watch?.expr(expr, typed);
  return typed;
}

function checkForm(cx: Context, expr: ast.Expr): TypedExpr | undefined {
  switch (expr.kind) {
    case "number":
      return checkNumber(cx, expr);
    case "char":
      return checkChar(cx, expr);
    case "bool":
      return intConstant(expr.value ? 1 : 0, "bool", expr.span);
    case "string":
      cx.reporter.error("E2016", expr.span, "a string cannot be used as a value");
      return undefined;
    case "name":
      return checkName(cx, expr);
    case "paren":
      return checkExpr(cx, expr.inner);
    case "call":
      return checkCall(cx, expr);
    case "subscript":
      return checkSubscript(cx, expr);
    case "member":
      reportMember(cx, expr);
      return undefined;
    case "step":
      return checkStep(cx, expr, true);
    case "unary":
      return checkUnary(cx, expr);
    case "deref":
      return checkLoad(cx, expr);
    case "cast":
      return checkCast(cx, expr);
    case "compound-literal":
      return undefined; // E5002, reported by the parser
    case "sizeof-type":
      return checkSizeofType(cx, expr);
    case "sizeof-expr":
      return checkSizeofExpr(cx, expr);
    case "bitcast":
      return checkBitcast(cx, expr);
    case "range":
      return checkRange(cx, expr);
    case "binary":
      return checkBinary(cx, expr);
    case "conditional":
      return checkConditional(cx, expr);
    case "assign":
      return checkAssign(cx, expr);
    case "comma":
      return checkComma(cx, expr, checkValue);
    case "error":
      return undefined;
  }
}

/** An expression that must have a value. */
export function checkValue(cx: Context, expr: ast.Expr): Value | undefined {
  const checked = checkExpr(cx, expr);
  return checked === undefined || isValue(checked) ? checked : reportVoid(cx, expr);
}

/** An expression whose value is not used: `i++` needs no old value. */
export function checkEffect(cx: Context, expr: ast.Expr): TypedExpr | undefined {
  switch (expr.kind) {
    case "paren":
      return checkEffect(cx, expr.inner);
    case "step":
      return checkStep(cx, expr, false);
    case "comma":
      return checkComma(cx, expr, checkEffect);
    default:
      return checkExpr(cx, expr);
  }
}

function checkComma(
  cx: Context,
  expr: Of<"comma">,
  checkSecond: (cx: Context, expr: ast.Expr) => TypedExpr | undefined,
): Value | undefined {
  const first = checkEffect(cx, expr.lhs);
  const then = checkSecond(cx, expr.rhs);
  if (first === undefined || then === undefined) return undefined;
  if (!isValue(then)) return reportVoid(cx, expr.rhs);
  return { kind: "comma", first, then, type: then.type, span: expr.span };
}

function reportVoid(cx: Context, expr: ast.Expr): undefined {
  cx.reporter.error("E5302", expr.span, "this call returns no value");
}

/** A condition of a statement: a scalar, or a tile of one element, tested `!= 0` (E6002). */
export function checkCondition(cx: Context, expr: ast.Expr): Value | undefined {
  reportAssigned(cx, expr);
  const value = checkValue(cx, expr);
  if (value === undefined) return undefined;
  const test = toBool(value);
  if (test.type.kind !== "tile") return test;
  if (test.type.shape.every((extent) => extent === 1)) return reshape(test, undefined);
  cx.reporter.error(
    "E6002",
    expr.span,
    `a condition must be a scalar, not ${spellType(value.type)}: a program has one flow of control`,
    {
      ...(value.kind === "variable" ? { notes: [declarationNote(value.variable)] } : {}),
      hint: "select per element with `?:` or `*?(mask)`, or test the whole tile with " +
        `\`${reducedText(value, "any")}\``,
    },
  );
  return undefined;
}

type Of<K extends ast.Expr["kind"]> = Extract<ast.Expr, { kind: K }>;

function checkNumber(cx: Context, { text, span }: Of<"number">): Value | undefined {
  const literal = parseNumber(text);
  if (literal.kind === "error") {
    const { code, message, hint } = literal;
    cx.reporter.error(code, span, message, hint === undefined ? {} : { hint });
    return undefined;
  }
  if (literal.kind === "int") return constant(literal.value, scalarType(literal.type), span);
  if (literal.type !== "weak") {
    const value = roundDecimal(literal.text, literal.type);
    return constant(value, scalarType(literal.type), span);
  }
  const name = cx.doubleLiterals ? "float64" : "float32";
  const value = constant(roundDecimal(literal.text, name), scalarType(name), span);
  if (cx.doubleLiterals) cx.implicitDoubles.set(value, text);
  else cx.weak.set(value, { text: literal.text, negative: false });
  return value;
}

function checkChar(cx: Context, { text, span }: Of<"char">): Value | undefined {
  const literal = parseChar(text);
  if (literal.kind === "int") return constant(literal.value, scalarType(literal.type), span);
  cx.reporter.error(literal.code, span, literal.message, {
    ...(literal.hint === undefined ? {} : { hint: literal.hint }),
  });
  return undefined;
}

/** The characters of a string argument; undefined if it is malformed. */
export function checkString(cx: Context, { text, span }: Of<"string">): string | undefined {
  const literal = parseString(text);
  if (literal.kind === "string") return literal.value;
  cx.reporter.error(literal.code, span, literal.message);
  return undefined;
}

function checkName(cx: Context, { name, span }: Of<"name">): TypedExpr | undefined {
  const entry = cx.meaning(name, span);
  switch (entry?.kind) {
    case "variable": {
      if (entry.initialising && cx.unevaluated === 0) {
        cx.reporter.error("E4005", span, `\`${name}\` is read in its own initialiser`, {
          notes: [declarationNote(entry.variable)],
          ...isOnLaterLine(span, entry.variable.span) ? { hint: MISSING_SEMICOLON } : {},
        });
        return undefined;
      }
      if (entry.value !== undefined) return { ...entry.value, span };
      const { variable } = entry;
      return { kind: "variable", variable, type: variable.type, span };
    }
    case "constant":
    case "buffer":
      return { ...entry.value, span };
    case "typedef":
    case "poison":
      return undefined;
    case "kernel":
    case "helper":
      cx.reporter.error(
        "E3010",
        span,
        `\`${name}\` is a function, and there are no function pointers`,
      );
      return undefined;
    case undefined:
      return checkBuiltinName(cx, name, span);
  }
}

function checkBuiltinName(cx: Context, name: string, span: ast.Name["span"]): Value | undefined {
  if (isConstantName(name)) {
    const { type, value } = BUILTIN_CONSTANTS[name];
    return constant(value, scalarType(type), span);
  }
  const builtin = BUILTINS.get(name);
  if (builtin !== undefined) {
    cx.reporter.error("E3010", span, `\`${name}\` is a built-in function`, {
      hint: `call it: \`${builtin.signature}\``,
    });
    return undefined;
  }
  reportUndeclared(cx, name, span, "name");
  return undefined;
}

function isConstantName(name: string): name is keyof typeof BUILTIN_CONSTANTS {
  return Object.hasOwn(BUILTIN_CONSTANTS, name);
}

/** E2001, once per name; `known` is the hint, where the place says what is meant. */
export function reportUndeclared(
  cx: Context,
  name: string,
  span: ast.Name["span"],
  what: "name" | "function",
  known?: string,
): void {
  if (cx.undeclared.has(name)) return;
  cx.undeclared.add(name);
  const near = cx.reporter.isFull ? undefined : nearest(name, [
    ...cx.scope.names(),
    ...(what === "function" ? [] : Object.keys(BUILTIN_CONSTANTS)),
    ...(what === "function" ? BUILTINS.keys() : []),
  ]);
  const foreign = known ?? foreignNameHint(name);
  const suggestion = foreign ?? (near === undefined ? undefined : `did you mean \`${near}\`?`);
  const isMacroName = /^[A-Z][A-Z0-9_]*$/.test(name);
  const later = cx.laterFunctions.get(name);
  const message = isMacroName
    ? `\`${name}\` is not declared; pass \`-D${name}=…\` or declare it with \`#pragma tri\``
    : later !== undefined
    ? `\`${name}\` is used before its definition`
    : `\`${name}\` is not declared`;
  const hint = later === undefined ? suggestion : "move the function up, or declare a prototype";
  cx.reporter.error("E2001", span, message, {
    ...(hint === undefined ? {} : { hint }),
    ...(later === undefined ? {} : { notes: [{ message: "it is defined here", span: later }] }),
    ...(near === undefined || later !== undefined || foreign !== undefined
      ? {}
      : { fix: { span, replacement: near } }),
  });
}

/** `blockIdx.x` of CUDA, or a member of what has none. */
function reportMember(cx: Context, { base, name, span }: Of<"member">): void {
  if (base.kind !== "name" || cx.meaning(base.name, base.span) !== undefined) {
    const message = "structures are not supported, so no value has members";
    cx.reporter.error("E2002", name.span, message);
    return;
  }
  const replacement = replacementOfMember(base.name, name.text);
  if (replacement === undefined) {
    reportUndeclared(cx, base.name, base.span, "name");
    return;
  }
  const shown = `${base.name}.${name.text}`;
  if (cx.undeclared.has(shown)) return;
  cx.undeclared.add(shown);
  cx.reporter.error("E2001", span, `\`${shown}\` is not declared`, {
    hint: `write \`${replacement}\``,
    fix: { span, replacement },
  });
}

function checkUnary(cx: Context, expr: Of<"unary">): TypedExpr | undefined {
  const { operator, span } = expr;
  if (operator === "&") return checkAddress(cx, expr.operand, span);
  const operand = checkValue(cx, expr.operand);
  if (operand === undefined) return undefined;
  if (operator === "^") return checkTranspose(cx, operand, span);
  return applyUnary(cx, operator, operand, { span, operatorSpan: span });
}

function checkBinary(cx: Context, expr: Of<"binary">): Value | undefined {
  const { operator } = expr;
  if (operator === "&&" || operator === "||") return checkLogical(cx, expr);
  const lhs = checkValue(cx, expr.lhs);
  const rhs = checkValue(cx, expr.rhs);
  if (lhs === undefined || rhs === undefined) return undefined;
  if (operator === "@") return checkMatmul(cx, lhs, rhs, expr);
  reportChain(cx, expr);
  return applyBinary(cx, operator, lhs, rhs, expr);
}
