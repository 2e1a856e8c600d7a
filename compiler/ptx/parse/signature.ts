/** Parameters, results and directives of kernels and functions, from PTX text. */
import type { PtxCursor } from "../cursor.ts";
import type { PtxDirective, PtxFormal, PtxParam, PtxSignature } from "../func.ts";
import { parseNatural } from "./constant.ts";
import { isRegisterType } from "./register.ts";
import {
  parseAlign,
  parseExtents,
  parseNames,
  parseType,
  parseVectorCount,
  typeBytes,
} from "./variable.ts";
import type { Scope } from "../scope.ts";
import { times } from "../../support/times.ts";

const POINTER_SPACES: ReadonlySet<string> = new Set([".global", ".shared", ".const", ".local"]);

function parsePointer(cursor: PtxCursor): NonNullable<PtxParam["pointer"]> {
  const space = POINTER_SPACES.has(cursor.peek().text)
    ? { space: cursor.next().text.slice(1) }
    : {};
  return { ...space, ...parseAlign(cursor) };
}

/** A parameter as it is written: arrays of all types become bytes, but indices count elements. */
interface WrittenParam {
  readonly param: PtxParam;
  readonly elementBytes: number;
}

/** `.param .u64 .ptr .global .align 16 x`, `.param .align 8 .b8 x[24]` */
function parseParam(cursor: PtxCursor): WrittenParam {
  cursor.expect(".param");
  const align = parseAlign(cursor);
  const vector = parseVectorCount(cursor);
  const type = parseType(cursor);
  const pointer = cursor.eat(".ptr") ? { pointer: parsePointer(cursor) } : {};
  const { text: name } = cursor.take("word", "a name");
  const extents = parseExtents(cursor);
  const elementBytes = typeBytes(type) * (vector ?? 1);
  if (extents.length === 0 && vector === undefined) {
    return { param: { name, type, ...align, ...pointer }, elementBytes };
  }
  const bytes = extents.reduce((product, extent) => product * extent, elementBytes);
  if (elementBytes > 1) align.align ??= elementBytes;
  return { param: { name, type: "b8", bytes, ...align, ...pointer }, elementBytes };
}

/** What is in parentheses, separated by commas; nothing if there are none. */
function parseParenthesised<T>(cursor: PtxCursor, parse: () => T): T[] {
  const found: T[] = [];
  if (!cursor.eat("(")) return found;
  if (!cursor.is(")")) { do found.push(parse()); while (cursor.eat(",")); }
  cursor.expect(")");
  return found;
}

/** Parameters of a kernel, whose scope gets their names. */
export function parseParams(cursor: PtxCursor, scope: Scope): PtxParam[] {
  return parseParenthesised(cursor, () => {
    const token = cursor.peek();
    const { param, elementBytes } = parseParam(cursor);
    const name = scope.symbol(param.name, elementBytes);
    return name === undefined ? cursor.fail("a name that is not declared yet", token) : param;
  });
}

/**
 * `.param .b32 x` or `.reg .b32 x`; names are declared in the scope of the function, if there is one. A vector register
 * is a formal per element.
 */
function parseFormal(cursor: PtxCursor, scope: Scope | undefined): PtxFormal[] {
  if (!cursor.eat(".reg")) {
    const token = cursor.peek();
    const { param, elementBytes } = parseParam(cursor);
    const name = scope === undefined || param.name === "_"
      ? param.name
      : scope.symbol(param.name, elementBytes);
    if (name === undefined) cursor.fail("a name that is not declared yet", token);
    return [{ kind: "param", ...param, name }];
  }
  parseAlign(cursor);
  const vector = parseVectorCount(cursor);
  const type = cursor.peek().text.slice(1);
  if (!isRegisterType(type)) cursor.fail("a register type");
  cursor.next();
  const token = cursor.peek();
  const [word = "", more] = parseNames(cursor, "a name");
  if (more !== undefined) cursor.fail("a single name", token);
  // Prototypes have a scope of their own, but for `_`, which may be there more than once.
  if (scope === undefined) {
    const name = word.replace(/^%/, "");
    return times(vector ?? 1, () => ({ kind: "register", type, name }));
  }
  const declared = vector === undefined
    ? scope.register(word, type)
    : scope.vectorRegister(word, type, vector);
  return [declared ?? cursor.fail("a name that is not declared yet", token)].flat();
}

export function parseFormals(cursor: PtxCursor, scope?: Scope): PtxFormal[] {
  return parseParenthesised(cursor, () => parseFormal(cursor, scope)).flat();
}

/** Directives of kernels and functions, and how many numbers they take (PTX ISA 9.0, 11.4, 11.7 and 11.8). */
const DIRECTIVES: Readonly<Record<string, readonly [least: number, most: number]>> = {
  ".maxntid": [1, 3],
  ".reqntid": [1, 3],
  ".minnctapersm": [1, 1],
  ".maxnctapersm": [1, 1],
  ".maxnreg": [1, 1],
  ".noreturn": [0, 0],
  ".abi_preserve": [1, 1],
  ".abi_preserve_control": [1, 1],
  ".reqnctapercluster": [1, 3],
  ".explicitcluster": [0, 0],
  ".maxclusterrank": [1, 1],
  ".blocksareclusters": [0, 0],
};

/** Directives and pragmas up to what is none. */
export function parseDirectives(
  cursor: PtxCursor,
): { directives: PtxDirective[]; pragmas: string[] } {
  const directives: PtxDirective[] = [];
  const pragmas: string[] = [];
  for (;;) {
    if (cursor.eat(".pragma")) {
      pragmas.push(...parsePragma(cursor));
      continue;
    }
    const name = cursor.peek().text;
    const counts = Object.hasOwn(DIRECTIVES, name) ? DIRECTIVES[name] : undefined;
    if (counts === undefined) return { directives, pragmas };
    const [least, most] = counts;
    cursor.next();
    const values: number[] = [];
    if (most > 0) {
      do values.push(parseNatural(cursor)); while (values.length < most && cursor.eat(","));
    }
    if (values.length < least) cursor.fail("a number");
    directives.push({ name: name.slice(1), values });
  }
}

/** `"nounroll", "frequency 3";` after `.pragma` */
export function parsePragma(cursor: PtxCursor): string[] {
  const texts: string[] = [];
  do texts.push(cursor.take("string", "a string").text.slice(1, -1)); while (cursor.eat(","));
  cursor.expect(";");
  return texts;
}

/** `(.param .b32 _) _ (.param .b64 _) .noreturn` after `.callprototype` */
export function parsePrototype(cursor: PtxCursor): PtxSignature {
  const returns = parseFormals(cursor);
  cursor.expect("_");
  const params = parseFormals(cursor);
  return { returns, params, directives: parseDirectives(cursor).directives };
}
