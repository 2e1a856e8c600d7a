/** The body of a kernel or function, from PTX text. */
import type { PtxCursor } from "../cursor.ts";
import type {
  Instruction,
  Item,
  Operand,
  PtxCode,
  PtxLocation,
  PtxVariable,
  Register,
} from "../func.ts";
import { findLabels, type Labels } from "../labels.ts";
import { isSupported, splitSpelling } from "../match.ts";
import { parseNatural, parseOffset } from "./constant.ts";
import { parseList, parseOperand, parseRegister } from "./operand.ts";
import { parseRegisters } from "./register.ts";
import { parsePragma, parsePrototype } from "./signature.ts";
import { PtxSyntaxError } from "../syntax_error.ts";
import { isSpace, parseNames, parseVariables } from "./variable.ts";
import { Scope } from "../scope.ts";

/** Scopes nest no deeper, so that no text overflows the stack. */
const MOST_DEPTH = 256;

type Loc = Extract<Item, { kind: "loc" }>;

/** A name of an inlined function, as an offset in `.debug_str`, and where it was inlined. */
export interface InlinedAt {
  readonly label: string;
  readonly offset: bigint;
  readonly at: PtxLocation;
}

/** Of `.loc` with `inlined_at`: where the function's name is, which may come at the end of the text. */
export type InlinedLocs = Map<Loc, InlinedAt>;

/** What bodies of one text share. */
export interface BodyContext {
  readonly inlined: InlinedLocs;
  readonly spellings: Map<string, ReturnType<typeof splitSpelling>>;
}

class Body {
  readonly registers: Register[] = [];
  readonly variables: PtxVariable[] = [];
  readonly items: Item[] = [];

  constructor(readonly labels: Labels, readonly context: BodyContext) {}
}

/** Instructions that take the address of a variable, so that `table[3]` is a number and no memory. */
const ADDRESS_TAKERS: ReadonlySet<string> = new Set([
  "mov",
  "cvta",
  "mapa",
  "getctarank",
  "isspacep",
]);

function parseOperands(cursor: PtxCursor, scope: Scope, opcode: string): Operand[] {
  const operands: Operand[] = [];
  if (cursor.is(";")) return operands;
  const [isCall, wantsAddress] = [opcode === "call", ADDRESS_TAKERS.has(opcode)];
  do {
    operands.push(
      isCall && cursor.is("(")
        ? parseList(cursor, scope)
        : parseOperand(cursor, scope, wantsAddress),
    );
  } while (cursor.eat(","));
  return operands;
}

/** What follows the name of an instruction or directive that is not known, as text. */
function parseText(cursor: PtxCursor): Operand[] {
  const text = cursor.takeStatement();
  return text === "" ? [] : [{ kind: "symbol", name: text }];
}

/** Operands of an instruction that is not supported may look like nothing that is known. */
function parseUnknown(cursor: PtxCursor, scope: Scope, opcode: string): Operand[] {
  const start = cursor.position;
  try {
    const operands = parseOperands(cursor, scope, opcode);
    if (cursor.is(";")) return operands;
  } catch (error) {
    if (!(error instanceof PtxSyntaxError)) throw error;
  }
  cursor.rewind(start);
  return parseText(cursor);
}

/** A directive that is not known fails like an instruction, where it is run: what else is in the module works. */
function parseDirective(cursor: PtxCursor): Instruction {
  const opcode = cursor.next().text;
  const operands = parseText(cursor);
  cursor.expect(";");
  return { kind: "instruction", opcode, modifiers: [], operands };
}

function parseInstruction(cursor: PtxCursor, scope: Scope, { context }: Body): Instruction {
  let guard: Instruction["guard"];
  if (cursor.eat("@")) {
    const negated = cursor.eat("!");
    guard = { register: parseRegister(cursor, scope), negated };
  }
  let { text } = cursor.take("word", "an instruction");
  // Modifiers may be separate words: `ld.global .u32`.
  while (cursor.peek().kind === "directive") text += cursor.next().text;
  let parts = context.spellings.get(text);
  if (parts === undefined) {
    parts = splitSpelling(text);
    context.spellings.set(text, parts);
  }
  const { opcode, modifiers } = parts;
  const operands = isSupported(opcode)
    ? parseOperands(cursor, scope, opcode)
    : parseUnknown(cursor, scope, opcode);
  cursor.expect(";");
  const instruction: Instruction = { kind: "instruction", opcode, modifiers, operands };
  return guard === undefined ? instruction : { ...instruction, guard };
}

function labelName(cursor: PtxCursor, scope: Scope): string {
  const token = cursor.take("word", "a label");
  const found = scope.find(token.text);
  return found?.kind === "symbol" ? found.name : cursor.fail("a label", token);
}

/** `L0, L1, N<5>` */
function parseLabels(cursor: PtxCursor, scope: Scope): string[] {
  const labels: string[] = [];
  do {
    const token = cursor.peek();
    if (cursor.peek(1).text !== "<") labels.push(labelName(cursor, scope));
    else {
      for (const name of parseNames(cursor, "a label")) {
        const found = scope.find(name);
        labels.push(found?.kind === "symbol" ? found.name : cursor.fail("labels", token));
      }
    }
  } while (cursor.eat(","));
  return labels;
}

/** `name:`, perhaps with its value. */
function parseLabel(cursor: PtxCursor, scope: Scope): Item {
  const name = labelName(cursor, scope);
  cursor.expect(":");
  let item: Item;
  if (cursor.eat(".branchtargets")) {
    item = { kind: "targets", name, labels: parseLabels(cursor, scope) };
  } else if (cursor.eat(".calltargets")) {
    const functions: string[] = [];
    do functions.push(cursor.take("word", "a function").text); while (cursor.eat(","));
    item = { kind: "functions", name, functions };
  } else if (cursor.eat(".callprototype")) {
    item = { kind: "prototype", name, ...parsePrototype(cursor) };
  } else return { kind: "label", name };
  cursor.expect(";");
  return item;
}

function parseLocation(cursor: PtxCursor): PtxLocation {
  const file = parseNatural(cursor);
  const line = parseNatural(cursor);
  return { file, line, column: parseNatural(cursor) };
}

/** `.loc 1 20 3`, perhaps with the function and where it was inlined. */
function parseLoc(cursor: PtxCursor, inlined: InlinedLocs): Item {
  const item: Loc = { kind: "loc", ...parseLocation(cursor) };
  if (!cursor.eat(",")) return item;
  let [label, offset] = ["", 0n];
  if (cursor.eat("function_name")) {
    // A label, or the section itself.
    label = cursor.next().text;
    offset = parseOffset(cursor);
    if (!cursor.eat(",")) return item;
  }
  cursor.expect("inlined_at");
  inlined.set(item, { label, offset, at: parseLocation(cursor) });
  return item;
}

type Statement = (cursor: PtxCursor, scope: Scope, body: Body) => void;

const STATEMENTS: Readonly<Record<string, Statement>> = {
  ".reg": (cursor, scope, body) => {
    for (const register of parseRegisters(cursor, scope)) body.registers.push(register);
  },
  ".loc": (cursor, _scope, body) => {
    body.items.push(parseLoc(cursor, body.context.inlined));
  },
  ".pragma": (cursor, _scope, body) => {
    for (const text of parsePragma(cursor)) body.items.push({ kind: "pragma", text });
  },
  "{": (cursor, scope, body) => {
    if (scope.depth >= MOST_DEPTH) cursor.fail("scopes that nest less deeply");
    parseStatements(cursor, new Scope(scope.used, scope), body, cursor.position - 1);
    cursor.expect("}");
  },
};

/** Initial values name variables as the text does. */
function resolveInitial(variable: PtxVariable, scope: Scope): PtxVariable {
  const { initial } = variable;
  if (initial === undefined) return variable;
  const nameOf = (word: string): string => {
    const found = scope.find(word);
    return found?.kind === "symbol" ? found.name : word;
  };
  return {
    ...variable,
    initial: initial.map((value) =>
      typeof value === "bigint" ? value : { ...value, symbol: nameOf(value.symbol) }
    ),
  };
}

function parseStatement(cursor: PtxCursor, scope: Scope, body: Body): void {
  const token = cursor.peek();
  const statement = Object.hasOwn(STATEMENTS, token.text) ? STATEMENTS[token.text] : undefined;
  if (statement !== undefined) {
    cursor.next();
    statement(cursor, scope, body);
  } else if (token.kind === "word") {
    const isLabel = cursor.peek(1).text === ":";
    body.items.push(
      isLabel ? parseLabel(cursor, scope) : parseInstruction(cursor, scope, body),
    );
  } else if (token.text === "@") {
    body.items.push(parseInstruction(cursor, scope, body));
  } else if (isSpace(token.text)) {
    const declare = (name: string, bytes: number): string | undefined => scope.symbol(name, bytes);
    for (const each of parseVariables(cursor, {}, declare)) {
      body.variables.push(resolveInitial(each, scope));
    }
  } else if (token.kind === "directive") {
    body.items.push(parseDirective(cursor));
  } else cursor.fail("an instruction, a label or a declaration that is supported");
}

/** Statements up to the closing brace of their scope, which stays. */
function parseStatements(cursor: PtxCursor, scope: Scope, body: Body, opening: number): void {
  for (const label of body.labels.get(opening) ?? []) {
    if (scope.symbol(label.text) === undefined) {
      cursor.fail("a label that is not there yet", label);
    }
  }
  for (;;) {
    const token = cursor.peek();
    if (token.comments !== undefined) {
      for (const text of token.comments) body.items.push({ kind: "comment", text });
    }
    if (token.kind === "end" || cursor.is("}")) return;
    parseStatement(cursor, scope, body);
  }
}

/** A body with its braces, after pragmas that stood in front of it. */
export function parseBody(
  cursor: PtxCursor,
  scope: Scope,
  pragmas: readonly string[],
  context: BodyContext,
): PtxCode {
  const body = new Body(findLabels(cursor), context);
  for (const text of pragmas) body.items.push({ kind: "pragma", text });
  cursor.expect("{");
  parseStatements(cursor, scope, body, cursor.position - 1);
  cursor.expect("}");
  return { registers: body.registers, variables: body.variables, body: body.items };
}
