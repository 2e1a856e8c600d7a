/** Variables of modules and kernels, from PTX text (PTX ISA 9.0, 5.4 "Variables"). */
import type { PtxCursor } from "../cursor.ts";
import type { PtxReference, PtxVariable } from "../func.ts";
import { bitsAs } from "../literal.ts";
import {
  beginsConstant,
  parseCount,
  parseInteger,
  parseNumber,
  parseOffset,
  SUM,
} from "./constant.ts";
import { isTypeName, TYPES } from "../types.ts";
import { times } from "../../support/times.ts";

type Space = PtxVariable["space"];
type Initial = bigint | PtxReference;

const SPACES: ReadonlyMap<string, Space> = new Map([
  [".shared", "shared"],
  [".global", "global"],
  [".const", "const"],
  [".local", "local"],
  [".param", "param"],
  // Old for textures in global memory (PTX ISA, 5.1.8 "Texture State Space").
  [".tex", "global"],
]);
const OPAQUE: ReadonlySet<string> = new Set(["texref", "samplerref", "surfref"]);
/** The most names that `x<n>` declares. */
const MOST_NAMES = 1 << 20;

/** The most values that zeros between rows may make of what is given. */
const MOST_INITIALS = 1 << 22;

const productOf = (extents: readonly number[]): number => extents.reduce((a, b) => a * b, 1);

/** Whether a directive begins a variable. */
export function isSpace(directive: string): boolean {
  return SPACES.has(directive);
}

/** `.b32`, `.texref` */
export function parseType(cursor: PtxCursor): string {
  const name = cursor.peek().text.slice(1);
  if (cursor.peek().kind !== "directive" || !(isTypeName(name) || OPAQUE.has(name))) {
    cursor.fail("a type");
  }
  cursor.next();
  return name;
}

/** Bytes of an element; 0 for types that have no size. */
export function typeBytes(type: string): number {
  return isTypeName(type) ? Math.ceil(TYPES[type].bits / 8) : 0;
}

/** `.align 16`, if it is there. */
export function parseAlign(cursor: PtxCursor): { align?: number } {
  return cursor.eat(".align") ? { align: parseCount(cursor) } : {};
}

/** `.v4`, if it is there: the elements of a vector. */
export function parseVectorCount(cursor: PtxCursor): number | undefined {
  if (cursor.eat(".v2")) return 2;
  return cursor.eat(".v4") ? 4 : undefined;
}

/** `.attribute(.managed, .unified(1, 2))`, if it is there. */
export function parseAttributes(cursor: PtxCursor): { attributes?: string[] } {
  if (!cursor.eat(".attribute")) return {};
  const attributes: string[] = [];
  cursor.expect("(");
  do {
    const name = cursor.take("directive", "an attribute").text.slice(1);
    const values: bigint[] = [];
    if (cursor.eat("(")) {
      do values.push(parseInteger(cursor)); while (cursor.eat(","));
      cursor.expect(")");
    }
    attributes.push(values.length === 0 ? name : `${name}(${values.join(", ")})`);
  } while (cursor.eat(","));
  cursor.expect(")");
  return { attributes };
}

/** `[4][8]`: the extents; 0 for `[]`. */
export function parseExtents(cursor: PtxCursor): number[] {
  const extents: number[] = [];
  while (cursor.eat("[")) {
    if (cursor.is("]") && extents.length > 0) cursor.fail("a positive number");
    extents.push(cursor.is("]") ? 0 : parseCount(cursor));
    cursor.expect("]");
  }
  return extents;
}

/** `name<5>`: the names that it declares. */
export function parseNames(cursor: PtxCursor, what: string, parse = parseCount): string[] {
  const { text } = cursor.take("word", what);
  if (!cursor.eat("<")) return [text];
  const token = cursor.peek();
  const count = parse(cursor);
  if (count > MOST_NAMES) cursor.fail(`a number of at most ${MOST_NAMES}`, token);
  cursor.expect(">");
  return times(count, (i) => `${text}${i}`);
}

/** `name+4`, `generic(name+4)+8` */
function parseReference(cursor: PtxCursor): PtxReference {
  const { text } = cursor.take("word", "a number or the name of a variable");
  if (text !== "generic" || !cursor.eat("(")) {
    return { symbol: text, offset: parseOffset(cursor), generic: false };
  }
  const symbol = cursor.take("word", "a variable").text;
  const inner = parseOffset(cursor);
  cursor.expect(")");
  return { symbol, offset: inner + parseOffset(cursor), generic: true };
}

/** What `0xFF00(…)` picks from: the bits of the mask, shifted down to bit 0. */
function maskInteger(value: bigint, mask: bigint): bigint {
  let [bits, at] = [mask, 0n];
  for (; bits !== 0n && (bits & 1n) === 0n; bits >>= 1n) at++;
  return (BigInt.asUintN(64, value) & mask) >> at;
}

/** One value; `0xFF(name)` is a mask on an address. */
function parseInitial(cursor: PtxCursor, type: string): Initial {
  if (cursor.peek().kind === "number" && cursor.peek(1).text === "(") {
    const mask = BigInt.asUintN(64, parseInteger(cursor, SUM));
    cursor.expect("(");
    const value = beginsConstant(cursor) ? parseInteger(cursor) : parseReference(cursor);
    cursor.expect(")");
    return typeof value === "bigint" ? maskInteger(value, mask) : { ...value, mask };
  }
  if (beginsConstant(cursor)) return bitsAs(parseNumber(cursor), type);
  return parseReference(cursor);
}

/** Values in braces, as deep as there are extents; where a row is short, the next one begins after zeros. */
function parseNested(cursor: PtxCursor, type: string, extents: readonly number[]): Initial[] {
  const [, ...inner] = extents;
  const size = productOf(inner);
  const values: Initial[] = [];
  cursor.expect("{");
  if (cursor.eat("}")) return values;
  let rows = 0;
  do {
    if (inner.length > 0 && cursor.is("{")) {
      const token = cursor.peek();
      const row = parseNested(cursor, type, inner);
      if (row.length > size || rows * size > MOST_INITIALS) cursor.fail("fewer values", token);
      while (values.length < rows * size) values.push(0n);
      values.push(...row);
      rows++;
    } else values.push(parseInitial(cursor, type));
  } while (cursor.eat(","));
  cursor.expect("}");
  return values;
}

/** `{ filter_mode = nearest, width = 5 }` */
function parseProperties(cursor: PtxCursor): NonNullable<PtxVariable["properties"]> {
  const properties: { name: string; value: string }[] = [];
  cursor.expect("{");
  do {
    const name = cursor.take("word", "a property").text;
    cursor.expect("=");
    const value = cursor.peek().kind === "word" ? cursor.next().text : `${parseInteger(cursor)}`;
    properties.push({ name, value });
  } while (cursor.eat(","));
  cursor.expect("}");
  return properties;
}

/** What is given to a variable after `=`. */
function parseValue(
  cursor: PtxCursor,
  type: string,
  extents: readonly number[],
): Pick<PtxVariable, "initial" | "properties"> {
  if (!cursor.eat("=")) return {};
  if (OPAQUE.has(type)) return { properties: parseProperties(cursor) };
  const initial = extents.length === 0
    ? [parseInitial(cursor, type)]
    : parseNested(cursor, type, extents);
  return { initial };
}

export type Linkage = Pick<PtxVariable, "extern" | "visible" | "weak" | "common">;

/**
 * `.global .align 4 .b32 table[2] = {1, 2}, other;` from the space on. `declare` gets the names with the bytes of an
 * element and gives the names to use; it fails by giving undefined.
 */
export function parseVariables(
  cursor: PtxCursor,
  linkage: Linkage,
  declare: (name: string, elementBytes: number) => string | undefined,
): PtxVariable[] {
  const directive = cursor.peek().text;
  const space = SPACES.get(directive) ?? cursor.fail("a state space");
  cursor.next();
  const attributes = parseAttributes(cursor);
  const align = parseAlign(cursor);
  const vector = parseVectorCount(cursor);
  const named = parseType(cursor);
  const type = directive === ".tex" ? "texref" : named;
  if (vector !== undefined) align.align ??= vector * typeBytes(type);
  const variables: PtxVariable[] = [];
  do {
    const word = cursor.peek();
    for (const text of parseNames(cursor, "a name")) {
      const name = declare(text, typeBytes(type) * (vector ?? 1)) ??
        cursor.fail("a name that is not declared yet", word);
      const extents = [...parseExtents(cursor), ...vector === undefined ? [] : [vector]];
      const value = parseValue(cursor, type, extents);
      const rest = productOf(extents.slice(1));
      const rows = extents[0] === 0 ? Math.ceil((value.initial?.length ?? 0) / rest) : extents[0];
      const count = rows === undefined ? {} : { count: rows * rest };
      if (!Number.isSafeInteger(count.count ?? 0)) cursor.fail("a smaller array", word);
      variables.push({
        space,
        name,
        type,
        ...attributes,
        ...align,
        ...count,
        ...linkage,
        ...value,
      });
    }
  } while (cursor.eat(","));
  cursor.expect(";");
  return variables;
}
