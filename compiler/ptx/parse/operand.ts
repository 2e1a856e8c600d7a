/** Operands of instructions, from PTX text (PTX ISA 9.0, chapter 6 "Instruction Operands"). */
import type { PtxCursor } from "../cursor.ts";
import type { Operand, Register } from "../func.ts";
import { beginsConstant, parseInteger, parseNumber, parseOffset } from "./constant.ts";
import type { Scope } from "../scope.ts";
import { canonicalName, vectorElements } from "../special.ts";

type Address = Extract<Operand, { kind: "address" }>;
type Symbol = Extract<Operand, { kind: "symbol" }>;

/** What follows a register in video instructions (PTX ISA 9.0, 9.7.18 "Video Instructions"). */
const PART = /^(?:b[0-7]{1,4}|h[0-3]{1,2})$/;

function parseWord(cursor: PtxCursor, scope: Scope): Operand {
  const token = cursor.take("word", "an operand");
  const { text } = token;
  const found = scope.find(text);
  if (found !== undefined) return found;
  if (text === "_") return { kind: "sink" };
  if (text === "WARP_SZ") return { kind: "integer", value: 32n };
  const [whole = "", part = ""] = text.split(".");
  const register = scope.find(whole);
  if (register?.kind === "register" && PART.test(part)) return { kind: "part", register, part };
  if (!text.startsWith("%")) return { kind: "symbol", name: text };
  // There may be no such register: then the instruction is what fails, where it is run.
  const name = text.slice(1);
  const elements = vectorElements(name);
  return elements === undefined
    ? { kind: "special", name: canonicalName(name) }
    : { kind: "vector", elements: elements.map((element) => ({ kind: "special", name: element })) };
}

/** `table[3]`: the byte offset of an element. */
function parseIndex(cursor: PtxCursor, scope: Scope, { name }: Symbol): bigint {
  const token = cursor.peek();
  cursor.expect("[");
  const bytes = scope.elementBytes(name) ?? cursor.fail("an operand without an index", token);
  const index = parseInteger(cursor);
  cursor.expect("]");
  return index * BigInt(bytes);
}

/** `tex, sampler, {x, y}` after the texture. */
function parseCoordinates(cursor: PtxCursor, scope: Scope): Partial<Address> {
  if (!cursor.eat(",")) return {};
  const first = parsePlain(cursor, scope);
  if (!cursor.eat(",")) return { coordinates: first };
  return { sampler: first, coordinates: parsePlain(cursor, scope) };
}

/** `[%rd1+16]`, `[symbol]`, `[64]`, `[%rd1, {%r1, %r2}]`, `[texture, sampler, {%f1}]` */
function parseAddress(cursor: PtxCursor, scope: Scope): Address {
  cursor.expect("[");
  const base = cursor.peek().kind === "word" ? parseWord(cursor, scope) : undefined;
  const index = base?.kind === "symbol" && cursor.is("[") ? parseIndex(cursor, scope, base) : 0n;
  const offset = index + (base === undefined ? parseInteger(cursor) : parseOffset(cursor));
  const coordinates = parseCoordinates(cursor, scope);
  cursor.expect("]");
  return {
    kind: "address",
    offset,
    ...(base === undefined ? {} : { base }),
    ...coordinates,
    ...(cursor.eat(".unified") ? { unified: true as const } : {}),
  };
}

/** Values up to the closing mark; vector registers are their elements where `flat`. */
function parseElements(cursor: PtxCursor, scope: Scope, close: string, flat = false): Operand[] {
  const elements: Operand[] = [];
  do {
    const token = cursor.peek();
    const element = parseElement(cursor, scope);
    if (element.kind !== "vector") elements.push(element);
    else if (flat) elements.push(...element.elements);
    else cursor.fail("a single value", token);
  } while (cursor.eat(","));
  cursor.expect(close);
  return elements;
}

/** `{a, b}` or a single operand. */
function parsePlain(cursor: PtxCursor, scope: Scope): Operand {
  return cursor.eat("{")
    ? { kind: "vector", elements: parseElements(cursor, scope, "}") }
    : parseElement(cursor, scope);
}

/** What neither braces nor brackets enclose. */
function parseElement(cursor: PtxCursor, scope: Scope): Operand {
  if (cursor.is("-") && cursor.peek(1).kind === "word" && cursor.peek(1).text !== "WARP_SZ") {
    cursor.next();
    return { kind: "negative", operand: parseWord(cursor, scope) };
  }
  if (beginsConstant(cursor)) return parseNumber(cursor);
  if (cursor.eat("!")) {
    return beginsConstant(cursor)
      ? { kind: "integer", value: parseInteger(cursor) === 0n ? 1n : 0n }
      : { kind: "negated", operand: parseWord(cursor, scope) };
  }
  const word = parseWord(cursor, scope);
  if (word.kind !== "symbol") return word;
  const offset = cursor.is("+") || cursor.is("-") ? parseOffset(cursor) : 0n;
  return offset === 0n ? word : { ...word, offset };
}

function parseSingle(cursor: PtxCursor, scope: Scope): Operand {
  return cursor.is("[") ? parseAddress(cursor, scope) : parsePlain(cursor, scope);
}

/**
 * One operand, with its second half after `|` if it has one. `table[3]` without brackets around it is the address
 * in memory, or its address where an instruction `wantsAddress`.
 */
export function parseOperand(cursor: PtxCursor, scope: Scope, wantsAddress: boolean): Operand {
  const first = parseSingle(cursor, scope);
  if (cursor.eat("|")) return { kind: "pair", first, second: parseSingle(cursor, scope) };
  if (first.kind !== "symbol" || !cursor.is("[")) return first;
  const offset = parseIndex(cursor, scope, first);
  return wantsAddress ? { ...first, offset } : { kind: "address", base: first, offset };
}

/** `(a, b)`: results or arguments of a call, with vector registers as their elements. */
export function parseList(cursor: PtxCursor, scope: Scope): Operand {
  cursor.expect("(");
  if (cursor.eat(")")) return { kind: "list", elements: [] };
  return { kind: "list", elements: parseElements(cursor, scope, ")", true) };
}

/** A declared register. */
export function parseRegister(cursor: PtxCursor, scope: Scope): Register {
  const token = cursor.peek();
  const operand = parseWord(cursor, scope);
  return operand.kind === "register" ? operand : cursor.fail("a declared register", token);
}
