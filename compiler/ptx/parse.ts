/**
 * Reads PTX text, as our printer and as nvcc write it. Instructions are split into opcode and modifiers but not judged;
 * verify.ts does that. What has no place in the data is skipped where it only serves debuggers (`.section`, where
 * an inlined `.loc` came from) and is an error where it matters (functions, textures, call parameters).
 */
import { PtxCursor } from "./cursor.ts";
import type { PtxKernel, PtxModule, PtxParam, PtxVariable } from "./func.ts";
import { parseStatements, type PtxBody } from "./parse_body.ts";
import { parseInteger } from "./parse_operand.ts";
import { isSpace, parseAlign, parseCount, parseType, parseVariables } from "./parse_variable.ts";
import { Scope } from "./scope.ts";

export { PtxSyntaxError } from "./syntax_error.ts";

interface Draft {
  version: number;
  target: string;
  readonly files: string[];
  readonly variables: PtxVariable[];
  readonly kernels: PtxKernel[];
}

/** `9.0` as 90. */
function parseVersion(cursor: PtxCursor): number {
  const token = cursor.take("number", "a version");
  const [, major, minor] = /^(\d+)\.(\d)$/.exec(token.text) ??
    cursor.fail("a version such as 7.4", token);
  return Number(major) * 10 + Number(minor);
}

/** `sm_90a, debug` */
function parseTarget(cursor: PtxCursor): string {
  const names: string[] = [];
  do names.push(cursor.take("word", "a target").text); while (cursor.eat(","));
  return names.join(", ");
}

/** `.file 1 "name"`, perhaps with time and size. */
function parseFile(cursor: PtxCursor, files: string[]): void {
  const index = parseCount(cursor);
  const name = cursor.take("string", "a file name").text.slice(1, -1);
  while (cursor.eat(",")) parseInteger(cursor);
  while (files.length < index) files.push("");
  files[index - 1] = name;
}

/** `.section .debug_str { … }`: for debuggers. */
function skipSection(cursor: PtxCursor): void {
  cursor.take("directive", "the name of a section");
  cursor.expect("{");
  for (let depth = 1; depth > 0;) {
    const token = cursor.next();
    if (token.kind === "end") cursor.fail("`}`");
    if (token.kind === "mark") depth += token.text === "{" ? 1 : token.text === "}" ? -1 : 0;
  }
}

const POINTER_SPACES: ReadonlySet<string> = new Set([".global", ".shared", ".const", ".local"]);

/** `.param .u64 .ptr .global .align 16 x`, `.param .align 8 .b8 x[24]` */
function parseParam(cursor: PtxCursor): PtxParam {
  cursor.expect(".param");
  const align = parseAlign(cursor);
  const type = parseType(cursor);
  const pointer = cursor.eat(".ptr") ? { pointer: parsePointer(cursor) } : {};
  const name = cursor.take("word", "a name").text;
  if (!cursor.is("[")) return { name, type, ...align, ...pointer };
  if (type !== "b8") cursor.fail("`,` or `)` (only parameters of .b8 are arrays)");
  cursor.next();
  const bytes = parseCount(cursor);
  cursor.expect("]");
  return { name, type, bytes, ...align, ...pointer };
}

function parsePointer(cursor: PtxCursor): NonNullable<PtxParam["pointer"]> {
  const space = POINTER_SPACES.has(cursor.peek().text)
    ? { space: cursor.next().text.slice(1) }
    : {};
  return { ...space, ...parseAlign(cursor) };
}

function parseParams(cursor: PtxCursor): PtxParam[] {
  const params: PtxParam[] = [];
  if (!cursor.eat("(")) return params;
  if (!cursor.is(")")) { do params.push(parseParam(cursor)); while (cursor.eat(",")); }
  cursor.expect(")");
  return params;
}

/** Performance directives and how many numbers they take (PTX ISA 9.0, 11.4 and 11.7). */
const DIRECTIVES: Readonly<Record<string, readonly [least: number, most: number]>> = {
  ".maxntid": [1, 3],
  ".reqntid": [1, 3],
  ".minnctapersm": [1, 1],
  ".maxnctapersm": [1, 1],
  ".maxnreg": [1, 1],
  ".noreturn": [0, 0],
  ".reqnctapercluster": [1, 3],
  ".explicitcluster": [0, 0],
  ".maxclusterrank": [1, 1],
  ".blocksareclusters": [0, 0],
};

function parseDirectives(cursor: PtxCursor): PtxKernel["directives"] {
  const directives: { name: string; values: number[] }[] = [];
  while (!cursor.is("{")) {
    const name = cursor.peek().text;
    const [least, most] = (Object.hasOwn(DIRECTIVES, name) ? DIRECTIVES[name] : undefined) ??
      cursor.fail("`{` or a directive of kernels that is supported");
    cursor.next();
    const values: number[] = [];
    if (most > 0) {
      do values.push(parseCount(cursor)); while (values.length < most && cursor.eat(","));
    }
    if (values.length < least) cursor.fail("a number");
    directives.push({ name: name.slice(1), values });
  }
  return directives;
}

/** What stands after `.entry`. */
function parseKernel(cursor: PtxCursor, globals: readonly PtxVariable[]): PtxKernel {
  const name = cursor.take("word", "the name of a kernel").text;
  const params = parseParams(cursor);
  const directives = parseDirectives(cursor);
  const used = {
    registers: new Set<string>(),
    symbols: new Set(params.map((param) => param.name)),
    globals: new Set(globals.map((variable) => variable.name)),
  };
  const body: PtxBody = { registers: [], variables: [], items: [] };
  cursor.expect("{");
  parseStatements(cursor, new Scope(used), body);
  cursor.expect("}");
  return {
    name,
    params,
    directives,
    registers: body.registers,
    variables: body.variables,
    body: body.items,
  };
}

const LINKAGE: Readonly<Record<string, { readonly extern?: boolean; readonly visible?: boolean }>> =
  {
    ".visible": { visible: true },
    ".weak": { visible: true },
    ".common": { visible: true },
    ".extern": { extern: true },
  };

function parseDeclaration(cursor: PtxCursor, draft: Draft): void {
  const word = cursor.peek().text;
  const linkage = Object.hasOwn(LINKAGE, word) ? LINKAGE[word] : undefined;
  if (linkage !== undefined) cursor.next();
  if (linkage?.extern !== true && cursor.eat(".entry")) {
    draft.kernels.push(parseKernel(cursor, draft.variables));
  } else if (isSpace(cursor.peek().text)) {
    const declared = (name: string): boolean =>
      draft.variables.some((variable) => variable.name === name);
    draft.variables.push(
      ...parseVariables(cursor, linkage ?? {}, (name) => declared(name) ? undefined : name),
    );
  } else cursor.fail("a kernel, a variable or another directive that is supported");
}

/** Reads a whole module. Throws {@linkcode PtxSyntaxError}. */
export function parsePtx(text: string): PtxModule {
  const cursor = new PtxCursor(text);
  const draft: Draft = { version: 0, target: "", files: [], variables: [], kernels: [] };
  cursor.expect(".version");
  draft.version = parseVersion(cursor);
  cursor.expect(".target");
  draft.target = parseTarget(cursor);
  while (cursor.peek().kind !== "end") {
    if (cursor.eat(".address_size")) {
      if (cursor.next().text !== "64") cursor.fail("an address size of 64");
    } else if (cursor.eat(".file")) parseFile(cursor, draft.files);
    else if (cursor.eat(".section")) skipSection(cursor);
    else parseDeclaration(cursor, draft);
  }
  return draft;
}
