/** Variables of modules and kernels, from PTX text (PTX ISA 9.0, 5.4 "Variables"). */
import type { PtxCursor } from "./cursor.ts";
import type { PtxReference, PtxVariable } from "./func.ts";
import { bitsAs } from "./literal.ts";
import { parseInteger, parseNumber, parseOffset } from "./parse_operand.ts";
import { isTypeName } from "./types.ts";

type Space = PtxVariable["space"];

const SPACES: ReadonlyMap<string, Space> = new Map([
  [".shared", "shared"],
  [".global", "global"],
  [".const", "const"],
  [".local", "local"],
]);

/** Whether a directive begins a variable. */
export function isSpace(directive: string): boolean {
  return SPACES.has(directive);
}

/** `.b32` */
export function parseType(cursor: PtxCursor): string {
  const name = cursor.peek().text.slice(1);
  if (cursor.peek().kind !== "directive" || !isTypeName(name)) cursor.fail("a type");
  cursor.next();
  return name;
}

/** A positive number that counts something. */
export function parseCount(cursor: PtxCursor): number {
  const token = cursor.peek();
  const value = Number(parseInteger(cursor));
  return value > 0 && Number.isSafeInteger(value) ? value : cursor.fail("a positive number", token);
}

/** `.align 16`, if it is there. */
export function parseAlign(cursor: PtxCursor): { align?: number } {
  return cursor.eat(".align") ? { align: parseCount(cursor) } : {};
}

/** `[4][8]`: all extents multiplied; 0 for `[]`, undefined for none. */
function parseExtents(cursor: PtxCursor): number | undefined {
  let count: number | undefined;
  while (cursor.eat("[")) {
    count = (count ?? 1) * (cursor.is("]") ? 0 : parseCount(cursor));
    cursor.expect("]");
  }
  return count;
}

function parseInitial(cursor: PtxCursor, type: string): bigint | PtxReference {
  const word = cursor.peek();
  if (word.kind !== "word") return bitsAs(parseNumber(cursor), type);
  cursor.next();
  if (word.text !== "generic" || !cursor.eat("(")) {
    return { symbol: word.text, offset: parseOffset(cursor), generic: false };
  }
  const symbol = cursor.take("word", "a variable").text;
  const offset = parseOffset(cursor);
  cursor.expect(")");
  return { symbol, offset, generic: true };
}

function parseInitials(
  cursor: PtxCursor,
  type: string,
  isArray: boolean,
): (bigint | PtxReference)[] {
  if (!isArray) return [parseInitial(cursor, type)];
  cursor.expect("{");
  const values: (bigint | PtxReference)[] = [];
  if (!cursor.is("}")) { do values.push(parseInitial(cursor, type)); while (cursor.eat(",")); }
  cursor.expect("}");
  return values;
}

/**
 * `.global .align 4 .b32 table[2] = {1, 2}, other;` from the space on. `declare` gets the names and gives those to
 * use; it fails by giving undefined.
 */
export function parseVariables(
  cursor: PtxCursor,
  linkage: { readonly extern?: boolean; readonly visible?: boolean },
  declare: (name: string) => string | undefined,
): PtxVariable[] {
  const space = SPACES.get(cursor.peek().text) ?? cursor.fail("a state space");
  cursor.next();
  const align = parseAlign(cursor);
  const type = parseType(cursor);
  const variables: PtxVariable[] = [];
  do {
    const word = cursor.take("word", "a name");
    const name = declare(word.text) ?? cursor.fail("a name that is not declared yet", word);
    const count = parseExtents(cursor);
    const initial = cursor.eat("=") ? parseInitials(cursor, type, count !== undefined) : undefined;
    variables.push({
      space,
      name,
      type,
      ...align,
      ...(count === undefined ? {} : { count: count === 0 ? initial?.length ?? 0 : count }),
      ...linkage,
      ...(initial === undefined ? {} : { initial }),
    });
  } while (cursor.eat(","));
  cursor.expect(";");
  return variables;
}
