/**
 * The integer expression of `#if`, after macro expansion (language.md, 1.2): 64 bits, C's precedences,
 * and what is not evaluated reports nothing.
 */
import type { Code, Reporter } from "../support/diagnostic.ts";
import type { Span } from "../support/source.ts";
import type { PpToken } from "./lexer.ts";
import { parseChar, parseNumber } from "./literals.ts";
import { isTypeWord } from "./type_spelling.ts";

interface Value {
  readonly bits: bigint;
  readonly unsigned: boolean;
}

interface BinaryRow {
  readonly level: number;
  /** The result has this type whatever the operands are. */
  readonly result?: "truth" | "left";
  readonly apply: (a: bigint, b: bigint) => bigint;
}

const truth = (value: boolean): bigint => value ? 1n : 0n;

/** Higher levels bind tighter. `&&`, `||` and `?:` are handled apart: they skip a side. */
const BINARY: Readonly<Record<string, BinaryRow>> = {
  "*": { level: 12, apply: (a, b) => a * b },
  "/": { level: 12, apply: (a, b) => a / b },
  "%": { level: 12, apply: (a, b) => a % b },
  "+": { level: 11, apply: (a, b) => a + b },
  "-": { level: 11, apply: (a, b) => a - b },
  "<<": { level: 10, result: "left", apply: (a, b) => b < 0n || b > 63n ? 0n : a << b },
  ">>": { level: 10, result: "left", apply: (a, b) => a >> (b < 0n || b > 63n ? 64n : b) },
  "<": { level: 9, result: "truth", apply: (a, b) => truth(a < b) },
  ">": { level: 9, result: "truth", apply: (a, b) => truth(a > b) },
  "<=": { level: 9, result: "truth", apply: (a, b) => truth(a <= b) },
  ">=": { level: 9, result: "truth", apply: (a, b) => truth(a >= b) },
  "==": { level: 8, result: "truth", apply: (a, b) => truth(a === b) },
  "!=": { level: 8, result: "truth", apply: (a, b) => truth(a !== b) },
  "&": { level: 7, apply: (a, b) => a & b },
  "^": { level: 6, apply: (a, b) => a ^ b },
  "|": { level: 5, apply: (a, b) => a | b },
  "&&": { level: 4, result: "truth", apply: (a, b) => truth(a !== 0n && b !== 0n) },
  "||": { level: 3, result: "truth", apply: (a, b) => truth(a !== 0n || b !== 0n) },
};

const UNARY: Readonly<Record<string, (a: bigint) => bigint>> = {
  "-": (a) => -a,
  "+": (a) => a,
  "~": (a) => ~a,
  "!": (a) => truth(a === 0n),
};

const ASSIGNMENTS = new Set(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="]);

const MAX_DEPTH = 200;

/** Ends the evaluation; the report has been made. */
class Malformed extends Error {}

/** The condition as it was written. */
export interface WrittenCondition {
  /** The span to show when something is missing at its end. */
  readonly span: Span;
  /** How to write it when it was meant to compare types. */
  readonly typeTest?: string;
}

/** Whether the condition holds; undefined when it is malformed, which has been reported then. */
export function evaluateCondition(
  tokens: readonly PpToken[],
  written: WrittenCondition,
  reporter: Reporter,
): boolean | undefined {
  try {
    return new Evaluator(tokens, written, reporter).run();
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

class Evaluator {
  readonly #tokens: readonly PpToken[];
  readonly #written: WrittenCondition;
  readonly #reporter: Reporter;
  #at = 0;
  #depth = 0;
  #warned = false;

  constructor(tokens: readonly PpToken[], written: WrittenCondition, reporter: Reporter) {
    this.#tokens = tokens;
    this.#written = written;
    this.#reporter = reporter;
  }

  run(): boolean {
    const value = this.#conditional(true);
    const rest = this.#tokens[this.#at];
    if (rest === undefined) return value.bits !== 0n;
    if (ASSIGNMENTS.has(rest.text)) {
      const hint = rest.text === "=" ? { hint: "write `==` to compare" } : {};
      return this.#fail(rest.span, `\`${rest.text}\` cannot assign in \`#if\``, hint);
    }
    if (rest.text === ",") return this.#fail(rest.span, "a comma is not allowed in `#if`");
    return this.#fail(rest.span, `expected the condition to end, found \`${rest.text}\``);
  }

  #fail(span: Span, message: string, details: { hint?: string } = {}, code: Code = "E1011"): never {
    this.#reporter.error(code, span, message, details);
    throw new Malformed();
  }

  /** Takes a punctuator if it is next. */
  #accept(text: string): PpToken | undefined {
    const token = this.#tokens[this.#at];
    if (token?.kind !== "punctuator" || token.text !== text) return undefined;
    this.#at++;
    return token;
  }

  #conditional(live: boolean): Value {
    if (++this.#depth > MAX_DEPTH) {
      this.#fail(this.#written.span, "this condition is nested too deeply");
    }
    const test = this.#binary(3, live);
    let value = test;
    if (this.#accept("?") !== undefined) {
      const holds = test.bits !== 0n;
      const then = this.#conditional(live && holds);
      if (this.#accept(":") === undefined) this.#missing("`:`");
      const otherwise = this.#conditional(live && !holds);
      const unsigned = then.unsigned || otherwise.unsigned;
      value = wrap((holds ? then : otherwise).bits, unsigned);
    }
    this.#depth--;
    return value;
  }

  #missing(what: string): never {
    const token = this.#tokens[this.#at];
    const found = token === undefined ? "the end of the line" : `\`${token.text}\``;
    return this.#fail(
      token?.span ?? this.#written.span,
      `expected ${what} in the condition, found ${found}`,
    );
  }

  /** Operators of `level` and above, left-associative. */
  #binary(level: number, live: boolean): Value {
    let left = this.#unary(live);
    for (;;) {
      const token = this.#tokens[this.#at];
      const known = token?.kind === "punctuator" && Object.hasOwn(BINARY, token.text);
      const row = known ? BINARY[token.text] : undefined;
      if (token === undefined || row === undefined || row.level < level) return left;
      this.#at++;
      const skips = (token.text === "&&" && left.bits === 0n) ||
        (token.text === "||" && left.bits !== 0n);
      const rightLive = live && !skips;
      const right = this.#binary(row.level + 1, rightLive);
      left = this.#apply(token, row, left, right, live);
    }
  }

  #apply(operator: PpToken, row: BinaryRow, left: Value, right: Value, live: boolean): Value {
    const unsigned = row.result === "left" ? left.unsigned : left.unsigned || right.unsigned;
    const a = wrap(left.bits, unsigned).bits;
    const b = row.result === "left" ? right.bits : wrap(right.bits, unsigned).bits;
    if (b === 0n && (operator.text === "/" || operator.text === "%")) {
      if (live) this.#fail(operator.span, "division by zero in `#if`", {}, "E1012");
      return left;
    }
    return wrap(row.apply(a, b), row.result === "truth" ? false : unsigned);
  }

  #unary(live: boolean): Value {
    const token = this.#tokens[this.#at];
    if (token === undefined) return this.#missing("a value");
    if (token.kind === "punctuator" && Object.hasOwn(UNARY, token.text)) {
      if (++this.#depth > MAX_DEPTH) this.#fail(token.span, "this condition is nested too deeply");
      this.#at++;
      const operand = this.#unary(live);
      this.#depth--;
      const bits = UNARY[token.text]?.(operand.bits) ?? 0n;
      return wrap(bits, token.text !== "!" && operand.unsigned);
    }
    if (this.#accept("(") !== undefined) {
      const inner = this.#conditional(live);
      if (this.#accept(")") === undefined) this.#missing("`)`");
      return inner;
    }
    return this.#primary(token);
  }

  #primary(token: PpToken): Value {
    if (token.kind === "identifier") {
      this.#at++;
      if (token.text !== "true" && isTypeWord(token.text)) this.#warnType(token);
      return wrap(truth(token.text === "true"), false);
    }
    if (token.kind !== "number" && token.kind !== "char") return this.#missing("an integer");
    this.#at++;
    const literal = token.kind === "char" ? parseChar(token.text) : parseNumber(token.text);
    if (literal.kind === "int") return wrap(literal.value, literal.type.startsWith("u"));
    const message = literal.kind === "error"
      ? literal.message
      : `\`${token.text}\` is not an integer`;
    return this.#fail(token.span, message);
  }

  /** The trap `#if TYPE == half`: both sides become 0, so it always holds. */
  #warnType(token: PpToken): void {
    if (this.#warned) return;
    this.#warned = true;
    const message = `the type \`${token.text}\` counts as 0 in \`#if\`, like every name`;
    const { span, typeTest } = this.#written;
    const hint = `compare types with \`${typeTest ?? `__type_is(TYPE, ${token.text})`}\``;
    const fix = typeTest === undefined ? {} : { fix: { span, replacement: typeTest } };
    this.#reporter.warn("W1013", token.span, message, { hint, ...fix });
  }
}

function wrap(bits: bigint, unsigned: boolean): Value {
  return { bits: unsigned ? BigInt.asUintN(64, bits) : BigInt.asIntN(64, bits), unsigned };
}
