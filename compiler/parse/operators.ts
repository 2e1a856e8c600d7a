/**
 * The operators and how tightly they bind (language.md 5.1). A lower level binds tighter. The parser climbs
 * these levels, the printer sets parentheses by them; neither names an operator.
 */
import type { AssignOperator, BinaryOperator, Expr, UnaryOperator } from "./ast.ts";

/** Levels of language.md 5.1 that are not binary operators. */
export const LEVEL = {
  postfix: 1,
  unary: 2,
  cast: 3,
  range: 4,
  conditional: 16,
  assign: 17,
  comma: 18,
} as const;

/** The binary operators; all associate to the left. */
export const BINARY_LEVELS = {
  "@": 5,
  "*": 6,
  "/": 6,
  "%": 6,
  "+": 7,
  "-": 7,
  "<<": 8,
  ">>": 8,
  "<": 9,
  "<=": 9,
  ">": 9,
  ">=": 9,
  "==": 10,
  "!=": 10,
  "&": 11,
  "^": 12,
  "|": 13,
  "&&": 14,
  "||": 15,
} as const satisfies Record<BinaryOperator, number>;

/** The loosest binary level: everything between `?:` and the operands. */
export const LOOSEST_BINARY = 15;

const ASSIGN_OPERATORS = {
  "=": true,
  "*=": true,
  "/=": true,
  "%=": true,
  "+=": true,
  "-=": true,
  "<<=": true,
  ">>=": true,
  "&=": true,
  "^=": true,
  "|=": true,
} as const satisfies Record<AssignOperator, true>;

/** Prefix operators whose operand is a cast-expression; `*` and `*?` are read apart. */
const UNARY_OPERATORS = {
  "-": true,
  "+": true,
  "~": true,
  "!": true,
  "^": true,
  "&": true,
} as const satisfies Record<UnaryOperator, true>;

/** Whether a spelling is a binary operator. */
export function isBinaryOperator(text: string): text is BinaryOperator {
  return Object.hasOwn(BINARY_LEVELS, text);
}

/** Whether a spelling is `=` or a compound assignment. */
export function isAssignOperator(text: string): text is AssignOperator {
  return Object.hasOwn(ASSIGN_OPERATORS, text);
}

/** Whether a spelling is a prefix operator other than `*`, `++`, `--`. */
export function isUnaryOperator(text: string): text is UnaryOperator {
  return Object.hasOwn(UNARY_OPERATORS, text);
}

const LEVEL_OF_KIND = {
  number: LEVEL.postfix,
  char: LEVEL.postfix,
  string: LEVEL.postfix,
  bool: LEVEL.postfix,
  name: LEVEL.postfix,
  paren: LEVEL.postfix,
  call: LEVEL.postfix,
  subscript: LEVEL.postfix,
  member: LEVEL.postfix,
  bitcast: LEVEL.postfix,
  error: LEVEL.postfix,
  unary: LEVEL.unary,
  deref: LEVEL.unary,
  "sizeof-type": LEVEL.unary,
  "sizeof-expr": LEVEL.unary,
  cast: LEVEL.cast,
  "compound-literal": LEVEL.cast,
  range: LEVEL.range,
  conditional: LEVEL.conditional,
  assign: LEVEL.assign,
  comma: LEVEL.comma,
} as const satisfies Record<Exclude<Expr["kind"], "binary" | "step">, number>;

/** The level of the outermost operator of an expression. */
export function levelOf(expr: Expr): number {
  if (expr.kind === "binary") return BINARY_LEVELS[expr.operator];
  if (expr.kind === "step") return expr.prefix ? LEVEL.unary : LEVEL.postfix;
  return LEVEL_OF_KIND[expr.kind];
}
