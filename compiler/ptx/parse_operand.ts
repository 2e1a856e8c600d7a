/** Operands of instructions, from PTX text. */
import type { PtxCursor } from "./cursor.ts";
import type { Operand, Register } from "./func.ts";
import { negateNumber, type PtxNumber, readNumber } from "./literal.ts";
import type { Scope } from "./scope.ts";
import { specialRegister } from "./special.ts";

/** `5`, `-5`, `0xFF`, `0f3F800000`. */
export function parseNumber(cursor: PtxCursor): PtxNumber {
  const negative = cursor.eat("-");
  const token = cursor.peek();
  const number = token.kind === "number" ? readNumber(token.text) : undefined;
  if (number === undefined) cursor.fail("a number");
  cursor.next();
  return negative ? negateNumber(number) : number;
}

/** A number without a fraction. */
export function parseInteger(cursor: PtxCursor): bigint {
  const token = cursor.peek();
  const number = parseNumber(cursor);
  return number.kind === "integer" ? number.value : cursor.fail("an integer", token);
}

/** `+4`, `-4`, `+-4`, any number of times. */
export function parseOffset(cursor: PtxCursor): bigint {
  let offset = 0n;
  while (cursor.is("+") || cursor.is("-")) {
    const sign = cursor.next().text === "-" ? -1n : 1n;
    offset += sign * parseInteger(cursor);
  }
  return offset;
}

function parseWord(cursor: PtxCursor, scope: Scope): Operand {
  const token = cursor.take("word", "an operand");
  const { text } = token;
  const found = scope.find(text);
  if (found !== undefined) return found;
  if (text === "_") return { kind: "sink" };
  if (text === "WARP_SZ") return { kind: "integer", value: 32n };
  if (!text.startsWith("%")) return { kind: "symbol", name: text };
  const name = text.slice(1);
  if (specialRegister(name) === undefined) {
    cursor.fail("a declared register or a special register", token);
  }
  return { kind: "special", name };
}

/** `[%rd1+16]`, `[symbol]`, `[64]`, `[%rd1, {%r1, %r2}]` */
function parseAddress(cursor: PtxCursor, scope: Scope): Operand {
  cursor.expect("[");
  const base = cursor.peek().kind === "word" ? parseWord(cursor, scope) : undefined;
  const offset = base === undefined
    ? parseInteger(cursor) + parseOffset(cursor)
    : parseOffset(cursor);
  const coordinates = cursor.eat(",") ? parseVector(cursor, scope) : undefined;
  cursor.expect("]");
  return {
    kind: "address",
    offset,
    ...(base === undefined ? {} : { base }),
    ...(coordinates === undefined ? {} : { coordinates }),
  };
}

function parseVector(cursor: PtxCursor, scope: Scope): Operand {
  cursor.expect("{");
  const elements: Operand[] = [];
  do elements.push(parseOperand(cursor, scope)); while (cursor.eat(","));
  cursor.expect("}");
  return { kind: "vector", elements };
}

/** One operand, with its second half after `|` if it has one. */
export function parseOperand(cursor: PtxCursor, scope: Scope): Operand {
  const first = parseSingle(cursor, scope);
  return cursor.eat("|") ? { kind: "pair", first, second: parseSingle(cursor, scope) } : first;
}

function parseSingle(cursor: PtxCursor, scope: Scope): Operand {
  if (cursor.is("[")) return parseAddress(cursor, scope);
  if (cursor.is("{")) return parseVector(cursor, scope);
  if (cursor.is("-") || cursor.peek().kind === "number") return parseNumber(cursor);
  if (cursor.eat("!")) return { kind: "negated", operand: parseSingle(cursor, scope) };
  return parseWord(cursor, scope);
}

/** A declared register. */
export function parseRegister(cursor: PtxCursor, scope: Scope): Register {
  const token = cursor.peek();
  const operand = parseWord(cursor, scope);
  return operand.kind === "register" ? operand : cursor.fail("a declared register", token);
}
