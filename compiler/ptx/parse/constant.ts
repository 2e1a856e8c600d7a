/** Numbers and constant expressions, from PTX text (PTX ISA 9.0, 4.5 "Constants"). */
import { must } from "../../support/bug.ts";
import type { PtxCursor } from "../cursor.ts";
import { doubleBits, floatValue, negateNumber, type PtxNumber, readNumber } from "../literal.ts";

/** An operand of an expression: an integer that is signed or not, or a double. */
type Value =
  | { readonly kind: "integer"; readonly value: bigint; readonly unsigned: boolean }
  | { readonly kind: "float"; readonly value: number };
type Integer = Extract<Value, { kind: "integer" }>;

/** Binary operators, those that bind most last. */
const PRECEDENCE: ReadonlyMap<string, number> = new Map(
  [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", ">", "<=", ">="], ["<<", ">>"], [
    "+",
    "-",
  ], ["*", "/", "%"]].flatMap((names, level) => names.map((name) => [name, level + 1] as const)),
);
/** Precedences to begin with: any operator, sums but not `>`, products only. */
const ANY = 0;
export const SUM = must(PRECEDENCE.get("+"), "precedence of sums");
export const PRODUCT = must(PRECEDENCE.get("*"), "precedence of products");
/** Deeper expressions are refused, so that no text overflows the stack. */
const MOST_DEPTH = 64;

const integer = (value: bigint, unsigned = false): Integer => ({
  kind: "integer",
  value: unsigned ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value),
  unsigned,
});
const truth = (value: boolean): Integer => integer(value ? 1n : 0n);

type BigOperator = (a: bigint, b: bigint) => bigint | undefined;
/** Those with the usual conversions: unsigned if one operand is. */
const USUAL: Readonly<Record<string, BigOperator>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => b === 0n ? undefined : a / b,
  "&": (a, b) => a & b,
  "|": (a, b) => a | b,
  "^": (a, b) => a ^ b,
};
const ON_DOUBLES: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
};
const COMPARISONS: Readonly<Record<string, <T extends bigint | number>(a: T, b: T) => boolean>> = {
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};
/** Those that see their operands in a way of their own. */
const OTHERS: Readonly<Record<string, (a: Integer, b: Integer) => Integer | undefined>> = {
  "||": (a, b) => truth(a.value !== 0n || b.value !== 0n),
  "&&": (a, b) => truth(a.value !== 0n && b.value !== 0n),
  "%": (a, b) => {
    const [x, y] = [BigInt.asUintN(64, a.value), BigInt.asUintN(64, b.value)];
    return y === 0n ? undefined : integer(x % y);
  },
  "<<": (a, b) => {
    const by = BigInt.asUintN(64, b.value);
    return integer(by > 63n ? 0n : a.value << by, a.unsigned);
  },
  ">>": (a, b) => {
    const by = BigInt.asUintN(64, b.value);
    return integer(a.value >> (by > 63n ? 64n : by), a.unsigned);
  },
};

/** The operator's result; undefined where it has none, as of x / 0. */
function evaluate(name: string, a: Value, b: Value): Value | undefined {
  const compare = COMPARISONS[name];
  if (a.kind === "float" || b.kind === "float") {
    if (a.kind !== b.kind) return undefined;
    const [x, y] = [Number(a.value), Number(b.value)];
    if (compare !== undefined) return truth(compare(x, y));
    const value = ON_DOUBLES[name]?.(x, y);
    return value === undefined ? undefined : { kind: "float", value };
  }
  const other = OTHERS[name];
  if (other !== undefined) return other(a, b);
  const unsigned = a.unsigned || b.unsigned;
  const [x, y] = [integer(a.value, unsigned).value, integer(b.value, unsigned).value];
  if (compare !== undefined) return truth(compare(x, y));
  const value = USUAL[name]?.(x, y);
  return value === undefined ? undefined : integer(value, unsigned);
}

const UNARY: Readonly<Record<string, (a: Value) => Value | undefined>> = {
  "+": (a) => a,
  "-": (a) => a.kind === "float" ? { ...a, value: -a.value } : integer(-a.value, a.unsigned),
  "!": (a) => a.kind === "float" ? undefined : truth(a.value === 0n),
  "~": (a) => a.kind === "float" ? undefined : integer(~a.value, true),
};

class Expression {
  #depth = 0;
  constructor(readonly cursor: PtxCursor) {}

  /** Operators that bind at least as `least` says. */
  binary(least: number): Value {
    let value = this.unary();
    for (;;) {
      const token = this.cursor.peek();
      const precedence = token.kind === "mark" ? PRECEDENCE.get(token.text) : undefined;
      if (precedence === undefined || precedence < least) break;
      this.cursor.next();
      const right = this.binary(precedence + 1);
      value = evaluate(token.text, value, right) ?? this.cursor.fail("a constant value", token);
    }
    return least === ANY && this.cursor.eat("?") ? this.choice(value) : value;
  }

  /** `? a : b` */
  choice(condition: Value): Value {
    if (++this.#depth > MOST_DEPTH) this.cursor.fail("an expression that is less deep");
    const first = this.binary(ANY);
    this.cursor.expect(":");
    const second = this.binary(ANY);
    this.#depth--;
    if (condition.kind === "float" || first.kind !== second.kind) this.cursor.fail("an integer");
    const chosen = condition.value !== 0n ? first : second;
    if (first.kind === "float" || second.kind === "float" || chosen.kind === "float") return chosen;
    return integer(chosen.value, first.unsigned || second.unsigned);
  }

  unary(): Value {
    if (++this.#depth > MOST_DEPTH) this.cursor.fail("an expression that is less deep");
    const operators = [];
    while (this.cursor.peek().kind === "mark" && Object.hasOwn(UNARY, this.cursor.peek().text)) {
      operators.push(this.cursor.next());
    }
    let value = this.primary();
    for (const token of operators.reverse()) {
      value = UNARY[token.text]?.(value) ?? this.cursor.fail("an integer", token);
    }
    this.#depth--;
    return value;
  }

  /** A literal, something in parentheses, or a cast. */
  primary(): Value {
    const { cursor } = this;
    const token = cursor.peek();
    if (!cursor.eat("(")) {
      if (token.kind === "word" && token.text === "WARP_SZ") {
        cursor.next();
        return integer(32n);
      }
      return valueOf(cursor, parseLiteral(cursor));
    }
    const cast = cursor.peek().text;
    if (cast === ".s64" || cast === ".u64") {
      cursor.next();
      cursor.expect(")");
      const value = this.unary();
      return value.kind === "float"
        ? cursor.fail("an integer", token)
        : integer(value.value, cast === ".u64");
    }
    const value = this.binary(ANY);
    cursor.expect(")");
    return value;
  }
}

/** Literals are signed unless they are too large or say otherwise. */
function valueOf(cursor: PtxCursor, { number, suffix }: Literal): Value {
  if (number.kind === "integer") {
    return integer(number.value, suffix || number.value > 0x7fffffffffffffffn);
  }
  if (number.type === "f32") cursor.fail("a double (singles cannot be computed with)");
  return { kind: "float", value: floatValue(number) };
}

interface Literal {
  readonly number: PtxNumber;
  readonly suffix: boolean;
}

function parseLiteral(cursor: PtxCursor): Literal {
  const token = cursor.peek();
  const number = token.kind === "number" ? readNumber(token.text) : undefined;
  if (number === undefined) cursor.fail("a number");
  cursor.next();
  return { number, suffix: token.text.endsWith("U") };
}

/** Whether a token can begin a constant and nothing else. */
export function beginsConstant(cursor: PtxCursor): boolean {
  const { kind, text } = cursor.peek();
  return kind === "number" ||
    (kind === "mark" && (text === "-" || text === "+" || text === "~" || text === "("));
}

/** `5`, `-5`, `0xFF`, `0f3F800000`, `(1 << 4) | 3`, with operators that bind at least as `least` says. */
export function parseNumber(cursor: PtxCursor, least = ANY): PtxNumber {
  // Nearly all are a literal, perhaps with a minus, and the end of the operand.
  const at = cursor.peek().text === "-" ? 1 : 0;
  const [literal, after] = [cursor.peek(at), cursor.peek(at + 1)];
  const isWhole = after.kind !== "mark" ||
    (after.text !== "?" && (PRECEDENCE.get(after.text) ?? -1) < least);
  const wraps = at === 1 && literal.text.endsWith("U");
  if (literal.kind === "number" && isWhole && !wraps) {
    const negative = cursor.eat("-");
    const { number } = parseLiteral(cursor);
    return negative ? negateNumber(number) : number;
  }
  const value = new Expression(cursor).binary(least);
  return value.kind === "integer"
    ? { kind: "integer", value: value.value }
    : { kind: "float", type: "f64", bits: doubleBits(value.value) };
}

/** A number without a fraction. */
export function parseInteger(cursor: PtxCursor, least = ANY): bigint {
  const token = cursor.peek();
  const number = parseNumber(cursor, least);
  return number.kind === "integer" ? number.value : cursor.fail("an integer", token);
}

/** A number from 0. */
export function parseNatural(cursor: PtxCursor): number {
  const token = cursor.peek();
  const value = Number(parseInteger(cursor, SUM));
  return value >= 0 && Number.isSafeInteger(value) ? value : cursor.fail("a number from 0", token);
}

/** A positive number that counts something. */
export function parseCount(cursor: PtxCursor): number {
  const token = cursor.peek();
  const value = parseNatural(cursor);
  return value > 0 ? value : cursor.fail("a positive number", token);
}

/** `+4`, `-4`, `+-4`, any number of times. */
export function parseOffset(cursor: PtxCursor): bigint {
  let offset = 0n;
  while (cursor.is("+") || cursor.is("-")) {
    const sign = cursor.next().text === "-" ? -1n : 1n;
    offset += sign * parseInteger(cursor, PRODUCT);
  }
  return offset;
}
