/**
 * Reads PTX text, as our printer, nvcc and people write it. Instructions are split into opcode and modifiers but not
 * judged; verify.ts does that. What only serves debuggers (DWARF sections) is skipped.
 */
import { PtxCursor } from "./cursor.ts";
import type { PtxFunction, PtxKernel, PtxModule, PtxVariable } from "./func.ts";
import { type BodyContext, parseBody } from "./parse/body.ts";
import { parseInteger, parseNatural } from "./parse/constant.ts";
import { DebugStrings, nameInlined, parseSection } from "./parse/debug.ts";
import { parseDirectives, parseFormals, parseParams, parsePragma } from "./parse/signature.ts";
import { isSpace, type Linkage, parseAttributes, parseVariables } from "./parse/variable.ts";
import { Scope, usedNames } from "./scope.ts";

export { PtxSyntaxError } from "./syntax_error.ts";

/** A module that is being read. */
class Draft {
  version = 0;
  target = "";
  addressSize: 32 | 64 = 64;
  readonly files: string[] = [];
  readonly pragmas: string[] = [];
  /** By name: a definition replaces its declarations. */
  readonly variables = new Map<string, PtxVariable>();
  readonly functions = new Map<string, PtxFunction>();
  readonly aliases: { name: string; target: string }[] = [];
  readonly kernels: PtxKernel[] = [];
  readonly names = new Map<string, number>();
  readonly strings = new DebugStrings();
  readonly context: BodyContext = { inlined: new Map(), spellings: new Map() };
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

const smOf = (target: string): number => Number(/^(?:sm|compute)_(\d+)/.exec(target)?.[1] ?? 0);

function parseAddressSize(cursor: PtxCursor): 32 | 64 {
  const token = cursor.peek();
  const size = parseNatural(cursor);
  return size === 32 || size === 64 ? size : cursor.fail("an address size of 32 or 64", token);
}

/** `.file 1 "name"`, perhaps with time and size. */
function parseFile(cursor: PtxCursor, files: string[]): void {
  const token = cursor.peek();
  const index = parseNatural(cursor);
  if (index < 1 || index > 1 << 16) cursor.fail("the number of a file", token);
  const name = cursor.take("string", "a file name").text.slice(1, -1);
  while (cursor.eat(",")) parseInteger(cursor);
  while (files.length < index) files.push("");
  files[index - 1] = name;
}

/** `name, target;` after `.alias` */
function parseAlias(cursor: PtxCursor, draft: Draft): void {
  const name = cursor.take("word", "the name of a function").text;
  cursor.expect(",");
  const target = cursor.take("word", "the name of a function").text;
  cursor.expect(";");
  draft.names.set(name, 0);
  draft.aliases.push({ name, target });
}

/** What follows `.entry`. A kernel that is declared only is defined further on, or not needed. */
function parseKernel(cursor: PtxCursor, { weak }: Linkage, draft: Draft): void {
  const token = cursor.take("word", "the name of a kernel");
  const scope = new Scope(usedNames(draft.names));
  const params = parseParams(cursor, scope);
  const { directives, pragmas } = parseDirectives(cursor);
  if (cursor.eat(";")) return;
  if (!cursor.is("{")) cursor.fail("`{` or a directive of kernels that is supported");
  const { registers, variables, body } = parseBody(cursor, scope, pragmas, draft.context);
  const linkage = weak === true ? { weak } : {};
  draft.kernels.push({
    name: token.text,
    params,
    directives,
    registers,
    variables,
    body,
    ...linkage,
  });
}

/** What follows `.func`: a function or its declaration. */
function parseFunction(cursor: PtxCursor, linkage: Linkage, draft: Draft): void {
  const attributes = parseAttributes(cursor);
  const scope = new Scope(usedNames(draft.names));
  const returns = parseFormals(cursor, scope);
  const token = cursor.take("word", "the name of a function");
  const name = token.text;
  const params = parseFormals(cursor, scope);
  const { directives, pragmas } = parseDirectives(cursor);
  const { extern, visible, weak } = linkage;
  const declared: PtxFunction = {
    name,
    returns,
    params,
    directives,
    ...attributes,
    ...(extern === undefined ? {} : { extern }),
    ...(visible === undefined ? {} : { visible }),
    ...(weak === undefined ? {} : { weak }),
  };
  const known = draft.functions.get(name);
  draft.names.set(name, 0);
  // Old declarations of functions end without a semicolon.
  if (cursor.eat(";") || cursor.peek().kind === "end" || beginsDeclaration(cursor.peek().text)) {
    if (known === undefined) draft.functions.set(name, declared);
    return;
  }
  if (!cursor.is("{")) cursor.fail("`;`, `{` or a directive of functions that is supported");
  if (known?.code !== undefined) cursor.fail("a name that is not declared yet", token);
  const code = parseBody(cursor, scope, pragmas, draft.context);
  // A declaration keeps its position, so that what comes after it may call the function.
  draft.functions.set(name, { ...declared, code });
}

const LINKAGE: Readonly<Record<string, Linkage>> = {
  ".visible": { visible: true },
  ".weak": { visible: true, weak: true },
  ".common": { visible: true, common: true },
  ".extern": { extern: true },
};

function beginsDeclaration(text: string): boolean {
  return text === ".entry" || text === ".func" || isSpace(text) || Object.hasOwn(LINKAGE, text) ||
    Object.hasOwn(DIRECTIVES, text);
}

function parseDeclaration(cursor: PtxCursor, draft: Draft): void {
  const word = cursor.peek().text;
  const linkage = Object.hasOwn(LINKAGE, word) ? LINKAGE[word] : undefined;
  if (linkage !== undefined) cursor.next();
  if (cursor.eat(".entry")) parseKernel(cursor, linkage ?? {}, draft);
  else if (cursor.eat(".func")) parseFunction(cursor, linkage ?? {}, draft);
  else if (isSpace(cursor.peek().text)) {
    const token = cursor.peek();
    const declare = (name: string, bytes: number): string | undefined => {
      const isNew = !draft.names.has(name) || draft.variables.has(name);
      draft.names.set(name, bytes);
      return isNew ? name : undefined;
    };
    for (const variable of parseVariables(cursor, linkage ?? {}, declare)) {
      const known = draft.variables.get(variable.name);
      if (known === undefined || known.extern === true) {
        draft.variables.set(variable.name, variable);
      } else if (variable.extern !== true) cursor.fail("a name that is not declared yet", token);
    }
  } else cursor.fail("a kernel, a function, a variable or another directive that is supported");
}

type Directive = (cursor: PtxCursor, draft: Draft) => void;

const DIRECTIVES: Readonly<Record<string, Directive>> = {
  ".address_size": (cursor, draft) => {
    draft.addressSize = parseAddressSize(cursor);
  },
  ".target": (cursor, draft) => {
    // Further targets may only ask for more (PTX ISA, 11.1.2 "Semantics").
    const target = parseTarget(cursor);
    if (smOf(target) > smOf(draft.target)) draft.target = target;
  },
  ".file": (cursor, draft) => parseFile(cursor, draft.files),
  ".section": (cursor, draft) => parseSection(cursor, draft.strings),
  ".alias": parseAlias,
  ".pragma": (cursor, draft) => {
    draft.pragmas.push(...parsePragma(cursor));
  },
};

/** Reads a whole module. Throws {@linkcode PtxSyntaxError}. */
export function parsePtx(text: string): PtxModule {
  const cursor = new PtxCursor(text);
  const draft = new Draft();
  cursor.expect(".version");
  draft.version = parseVersion(cursor);
  cursor.expect(".target");
  draft.target = parseTarget(cursor);
  while (cursor.peek().kind !== "end") {
    const word = cursor.peek().text;
    const directive = Object.hasOwn(DIRECTIVES, word) ? DIRECTIVES[word] : undefined;
    if (directive === undefined) parseDeclaration(cursor, draft);
    else {
      cursor.next();
      directive(cursor, draft);
    }
  }
  const { version, target, addressSize, files, pragmas, variables, aliases } = draft;
  const { context: { inlined }, strings } = draft;
  return {
    version,
    target,
    ...(addressSize === 32 ? { addressSize } : {}),
    files,
    ...(pragmas.length > 0 ? { pragmas } : {}),
    variables: [...variables.values()],
    functions: nameInlined([...draft.functions.values()], inlined, strings),
    ...(aliases.length > 0 ? { aliases } : {}),
    kernels: nameInlined(draft.kernels, inlined, strings),
  };
}
