/**
 * Pragma text to contract expressions (language.md 10.3): C integer expressions over the kernel's scalar
 * parameters, with the macros of an instance expanded, and `cdiv min max next_pow2 sizeof(type)`.
 */
import type { Expr, Specs, TypeName } from "../parse/ast.ts";
import { parseNumber } from "../preprocess/literals.ts";
import { parseExpression } from "../parse/parser.ts";
import type { PragmaText } from "../pragma/pragma.ts";
import { expandText, type MacroTable } from "../preprocess/preprocess.ts";
import { scalarOfWords } from "../preprocess/type_spelling.ts";
import { Reporter } from "../support/diagnostic.ts";
import { nearest } from "../support/spelling.ts";
import { type ScalarName, SCALARS } from "../support/scalar.ts";
import type { Span } from "../support/source.ts";
import { apply, constant, constantValue, substitute } from "./expr.ts";
import type { ContractExpr, ContractOperator } from "./types.ts";

/** What names in an expression mean. */
export interface ExprScope {
  readonly macros: MacroTable;
  /** Names that become parameters of the expression. */
  readonly params: ReadonlySet<string>;
  /** What those names are, for messages: `scalar parameters of transpose`. */
  readonly what: string;
}

/** The functions of contract expressions, with their number of arguments. */
const FUNCTIONS: Readonly<
  Record<string, { readonly op: ContractOperator; readonly least: number; readonly most: number }>
> = {
  cdiv: { op: "cdiv", least: 2, most: 2 },
  next_pow2: { op: "next_pow2", least: 1, most: 1 },
  min: { op: "min", least: 2, most: Infinity },
  max: { op: "max", least: 2, most: Infinity },
};

const BINARY: ReadonlySet<string> = new Set([
  "+",
  "-",
  "*",
  "/",
  "%",
  "==",
  "!=",
  "<",
  "<=",
  ">",
  ">=",
  "&&",
  "||",
]);
const isBinary = (operator: string): operator is ContractOperator => BINARY.has(operator);

/** Reads an expression; undefined after an error, which is reported. */
export function parseContractExpr(
  text: PragmaText,
  scope: ExprScope,
  reporter: Reporter,
): ContractExpr | undefined {
  const expr = parseUnnamedExpr(text, scope, reporter);
  return expr && withTrueNames(expr, scope);
}

/** The same where only the value matters: constants may have names of macros that stand for more. */
export function parseUnnamedExpr(
  text: PragmaText,
  scope: ExprScope,
  reporter: Reporter,
): ContractExpr | undefined {
  const errors = reporter.errorCount;
  const tree = parseExpression(expandText(text, scope.macros, reporter), reporter);
  if (reporter.errorCount > errors) return undefined;
  return new Translator(scope, reporter).expr(tree);
}

/** What macros are replaced by in a scope, which many expressions share: constants, or undefined for all else. */
const VALUES = new WeakMap<ExprScope, Map<string, bigint | undefined>>();

/** Constants keep the name of a macro only if it is replaced by just them: wrappers have one value per name. */
function withTrueNames(expr: ContractExpr, scope: ExprScope): ContractExpr {
  const values = VALUES.get(scope) ?? new Map<string, bigint | undefined>();
  VALUES.set(scope, values);
  const valueOf = (macro: string): bigint | undefined => {
    if (!values.has(macro)) {
      const file = { name: "<macro>", text: macro };
      const text = { text: macro, span: { file, start: 0, end: macro.length } };
      const alone = parseUnnamedExpr(text, scope, new Reporter());
      const value = alone && constantValue(alone);
      values.set(macro, value === undefined ? undefined : BigInt(value));
    }
    return values.get(macro);
  };
  return substitute(
    expr,
    (leaf) =>
      leaf.op === "const" && leaf.macro !== undefined && valueOf(leaf.macro) !== BigInt(leaf.value)
        ? constant(leaf.value)
        : undefined,
  );
}

/** Reads the name of a scalar type, such as `TYPE`; undefined when it is none. */
export function parseScalarType(
  text: PragmaText,
  macros: MacroTable,
  reporter: Reporter,
): ScalarName | undefined {
  const words = expandText(text, macros, reporter).filter((token) => token.kind !== "end").map((
    token,
  ) => token.text);
  return scalarOfWords(words.filter((word) => word !== "const" && word !== "volatile"));
}

/** The macro a node's text came from, if all of it did. */
function macroOf(span: Span): string | undefined {
  let at = span;
  let macro: string | undefined;
  for (; at.expansion !== undefined; at = at.expansion.use) macro = at.expansion.macro;
  return macro;
}

class Translator {
  readonly #scope: ExprScope;
  readonly #reporter: Reporter;

  constructor(scope: ExprScope, reporter: Reporter) {
    this.#scope = scope;
    this.#reporter = reporter;
  }

  expr(node: Expr): ContractExpr | undefined {
    switch (node.kind) {
      case "number":
        return this.#number(node.text, node.span);
      case "bool":
        return constant(node.value ? 1 : 0);
      case "name":
        return this.#name(node.name, node.span);
      case "paren":
        return this.expr(node.inner);
      case "unary":
        return this.#unary(node);
      case "binary":
        return this.#binary(node);
      case "conditional":
        return this.#conditional(node);
      case "call":
        return this.#call(node);
      case "sizeof-type":
        return this.#sizeof(node.type, node.span);
      case "sizeof-expr":
        if (node.operand.kind === "paren" && node.operand.inner.kind === "name") {
          return this.#unknown("E9013", node.span, `\`${node.operand.inner.name}\` is not a type`);
        }
        return this.#misfit(node.span);
      case "error":
        return undefined;
      default:
        return this.#misfit(node.span);
    }
  }

  #unknown(code: "E9013", span: Span, message: string, hint?: string): undefined {
    this.#reporter.error(code, span, message, hint === undefined ? {} : { hint });
    return undefined;
  }

  #misfit(span: Span): undefined {
    this.#reporter.error("E5003", span, "this is not allowed in a contract expression", {
      hint:
        "use integers, scalar parameters, + - * / %, comparisons, && || ?:, cdiv, min, max, next_pow2, sizeof(type)",
    });
    return undefined;
  }

  #number(text: string, span: Span): ContractExpr | undefined {
    const literal = parseNumber(text);
    if (literal.kind === "error") {
      this.#reporter.error(
        literal.code,
        span,
        literal.message,
        literal.hint === undefined ? {} : { hint: literal.hint },
      );
      return undefined;
    }
    if (literal.kind === "float") return this.#misfit(span);
    if (literal.value > BigInt(Number.MAX_SAFE_INTEGER)) {
      this.#reporter.error("E2010", span, `${text} is too large for a contract expression`, {
        hint: "the limit is 2^53 - 1",
      });
      return undefined;
    }
    return constant(literal.value, macroOf(span));
  }

  #name(name: string, span: Span): ContractExpr | undefined {
    if (this.#scope.params.has(name)) return { op: "param", name };
    const near = this.#reporter.isFull
      ? undefined
      : nearest(name, [...this.#scope.params, ...this.#scope.macros.keys()]);
    const advice = /^[A-Z_][A-Z0-9_]*$/.test(name)
      ? `pass \`-D${name}=…\` or declare it with \`#pragma tri\``
      : undefined;
    const hint = near === undefined ? advice : `did you mean \`${near}\`?`;
    return this.#unknown(
      "E9013",
      span,
      `\`${name}\` is neither one of the ${this.#scope.what} nor a macro`,
      hint,
    );
  }

  #unary({ operator, operand, span }: Extract<Expr, { kind: "unary" }>): ContractExpr | undefined {
    const value = this.expr(operand);
    if (value === undefined) return undefined;
    if (operator === "+") return value;
    if (operator === "-") return this.#named("neg", [value], span);
    return operator === "!" ? this.#named("!", [value], span) : this.#misfit(span);
  }

  #binary(
    { operator, lhs, rhs, operatorSpan, span }: Extract<Expr, { kind: "binary" }>,
  ): ContractExpr | undefined {
    if (!isBinary(operator)) return this.#misfit(span);
    const [a, b] = [this.expr(lhs), this.expr(rhs)];
    if (a === undefined || b === undefined) return undefined;
    return this.#named(operator, [a, b], operatorSpan);
  }

  /**
   * `TM` defined as `64 * 2` is one constant named TM. Where a macro is more than a constant, the
   * constants in it have no name.
   */
  #named(
    operator: ContractOperator,
    parts: readonly ContractExpr[],
    operatorSpan: Span,
  ): ContractExpr {
    const macro = macroOf(operatorSpan);
    if (macro === undefined) return apply(operator, ...parts);
    const isOwn = (part: ContractExpr): boolean => part.op === "const" && part.macro === macro;
    const unnamed = (leaf: ContractExpr): ContractExpr | undefined =>
      leaf.op === "const" && isOwn(leaf) ? constant(leaf.value) : undefined;
    const expr = apply(operator, ...parts.map((part) => substitute(part, unnamed)));
    const value = parts.every(isOwn) ? constantValue(expr) : undefined;
    return value === undefined ? expr : constant(value, macro);
  }

  #conditional(
    { condition, then, else: otherwise, operatorSpan }: Extract<Expr, { kind: "conditional" }>,
  ): ContractExpr | undefined {
    const test = this.expr(condition);
    const yes = then === undefined ? test : this.expr(then);
    const no = this.expr(otherwise);
    return test && yes && no && this.#named("?:", [test, yes, no], operatorSpan);
  }

  #call({ callee, args, span }: Extract<Expr, { kind: "call" }>): ContractExpr | undefined {
    if (callee.kind !== "name") return this.#misfit(span);
    const row = Object.hasOwn(FUNCTIONS, callee.name) ? FUNCTIONS[callee.name] : undefined;
    if (row === undefined) {
      const near = nearest(callee.name, Object.keys(FUNCTIONS));
      const hint = near === undefined
        ? `there are ${Object.keys(FUNCTIONS).join(", ")}`
        : `did you mean \`${near}\`?`;
      return this.#unknown(
        "E9013",
        callee.span,
        `\`${callee.name}\` is not a function of contract expressions`,
        hint,
      );
    }
    const values = args.map((arg) =>
      arg.kind === "expr" ? this.expr(arg.expr) : this.#misfit(span)
    );
    if (values.length < row.least || values.length > row.most) {
      this.#reporter.error(
        "E7001",
        span,
        `\`${callee.name}\` takes ${row.least} arguments, not ${values.length}`,
      );
      return undefined;
    }
    const known = values.filter((value) => value !== undefined);
    return known.length < values.length ? undefined : this.#named(row.op, known, callee.span);
  }

  #sizeof(type: TypeName, span: Span): ContractExpr | undefined {
    const element = type.pointers.length > 0 ? 8 : this.#elementBytes(type.specs);
    if (element === undefined) {
      return this.#unknown("E9013", span, "this is not a type of known size");
    }
    let size: ContractExpr = constant(element);
    for (const dim of type.shape?.dims ?? []) {
      const extent = this.expr(dim);
      if (extent === undefined) return undefined;
      size = apply("*", size, extent);
    }
    return size;
  }

  #elementBytes({ type }: Specs): number | undefined {
    const words = type.kind === "words"
      ? type.words.map((word) => word.text)
      : type.kind === "typedef-name"
      ? [type.name.text]
      : [];
    const scalar = scalarOfWords(words);
    return scalar === undefined ? undefined : Math.max(8, SCALARS[scalar].bits) / 8;
  }
}
