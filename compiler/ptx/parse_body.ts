/** The body of a kernel, from PTX text. */
import type { PtxCursor } from "./cursor.ts";
import type { Instruction, Item, PtxVariable, Register, RegisterType } from "./func.ts";
import { splitSpelling } from "./match.ts";
import { parseInteger, parseOffset, parseOperand, parseRegister } from "./parse_operand.ts";
import { isSpace, parseCount, parseVariables } from "./parse_variable.ts";
import { Scope } from "./scope.ts";

const REGISTER_TYPES: ReadonlySet<string> = new Set<RegisterType>([
  "pred",
  "b8",
  "b16",
  "b32",
  "b64",
  "b128",
  "u8",
  "u16",
  "u32",
  "u64",
  "s8",
  "s16",
  "s32",
  "s64",
  "f16",
  "f16x2",
  "bf16",
  "bf16x2",
  "f32",
  "f64",
]);

function isRegisterType(name: string): name is RegisterType {
  return REGISTER_TYPES.has(name);
}

/** What a body declares and contains. */
export interface PtxBody {
  readonly registers: Register[];
  readonly variables: PtxVariable[];
  readonly items: Item[];
}

/** `.reg .b32 %r<5>, %x;` after `.reg` */
function parseRegisters(cursor: PtxCursor, scope: Scope, body: PtxBody): void {
  const type = cursor.peek().text.slice(1);
  if (!isRegisterType(type)) cursor.fail("a register type");
  cursor.next();
  do {
    const word = cursor.take("word", "a register name");
    const count = cursor.eat("<") ? parseCount(cursor) : undefined;
    if (count !== undefined) cursor.expect(">");
    const names = count === undefined
      ? [word.text]
      : Array.from({ length: count }, (_, i) => `${word.text}${i}`);
    for (const name of names) {
      body.registers.push(
        scope.register(name, type) ?? cursor.fail("a name that is not declared yet", word),
      );
    }
  } while (cursor.eat(","));
  cursor.expect(";");
}

/** Labels may be used before they stand there: declares those of the scope that begins here. */
function declareLabels(cursor: PtxCursor, scope: Scope): void {
  let depth = 0;
  for (let ahead = 0;; ahead++) {
    const token = cursor.peek(ahead);
    if (token.kind === "end") return;
    if (token.kind === "word" && depth === 0 && cursor.peek(ahead + 1).text === ":") {
      if (scope.symbol(token.text) === undefined) {
        cursor.fail("a label that is not there yet", token);
      }
    } else if (token.kind === "mark" && token.text === "{") depth++;
    else if (token.kind === "mark" && token.text === "}" && --depth < 0) return;
  }
}

function parseInstruction(cursor: PtxCursor, scope: Scope): Instruction {
  let guard: Instruction["guard"];
  if (cursor.eat("@")) {
    const negated = cursor.eat("!");
    guard = { register: parseRegister(cursor, scope), negated };
  }
  const spelling = cursor.take("word", "an instruction");
  if (spelling.text === "call") {
    cursor.fail("an instruction that is supported (calls are not)", spelling);
  }
  const { opcode, modifiers } = splitSpelling(spelling.text);
  const operands = [];
  if (!cursor.is(";")) { do operands.push(parseOperand(cursor, scope)); while (cursor.eat(",")); }
  cursor.expect(";");
  const instruction: Instruction = { kind: "instruction", opcode, modifiers, operands };
  return guard === undefined ? instruction : { ...instruction, guard };
}

function labelName(cursor: PtxCursor, scope: Scope): string {
  const token = cursor.take("word", "a label");
  const found = scope.find(token.text);
  return found?.kind === "symbol" ? found.name : cursor.fail("a label", token);
}

/** `name:`, perhaps with the list of labels that it stands for. */
function parseLabel(cursor: PtxCursor, scope: Scope): Item {
  const name = labelName(cursor, scope);
  cursor.expect(":");
  if (!cursor.eat(".branchtargets")) return { kind: "label", name };
  const labels: string[] = [];
  do labels.push(labelName(cursor, scope)); while (cursor.eat(","));
  cursor.expect(";");
  return { kind: "targets", name, labels };
}

/** `.loc 1 20 3`, whatever it was inlined from. */
function parseLoc(cursor: PtxCursor): Item {
  const [file, line, column] = [parseInteger(cursor), parseInteger(cursor), parseInteger(cursor)]
    .map(Number);
  while (cursor.eat(",")) {
    if (cursor.eat("function_name")) {
      cursor.take("word", "a label of .debug_str");
      parseOffset(cursor);
    } else {
      cursor.expect("inlined_at");
      for (let i = 0; i < 3; i++) parseInteger(cursor);
    }
  }
  return { kind: "loc", file: file ?? 0, line: line ?? 0, column: column ?? 0 };
}

type Statement = (cursor: PtxCursor, scope: Scope, body: PtxBody) => void;

const STATEMENTS: Readonly<Record<string, Statement>> = {
  ".reg": parseRegisters,
  ".loc": (cursor, _scope, body) => {
    body.items.push(parseLoc(cursor));
  },
  ".pragma": (cursor, _scope, body) => {
    const text = cursor.take("string", "a string").text.slice(1, -1);
    cursor.expect(";");
    body.items.push({ kind: "pragma", text });
  },
  "{": (cursor, scope, body) => {
    parseStatements(cursor, new Scope(scope.used, scope), body);
    cursor.expect("}");
  },
};

function parseStatement(cursor: PtxCursor, scope: Scope, body: PtxBody): void {
  const token = cursor.peek();
  const statement = Object.hasOwn(STATEMENTS, token.text) ? STATEMENTS[token.text] : undefined;
  if (statement !== undefined) {
    cursor.next();
    statement(cursor, scope, body);
  } else if (isSpace(token.text)) {
    body.variables.push(...parseVariables(cursor, {}, (name) => scope.symbol(name)));
  } else if (token.kind === "word" && cursor.peek(1).text === ":") {
    body.items.push(parseLabel(cursor, scope));
  } else if (token.kind === "word" || token.text === "@") {
    body.items.push(parseInstruction(cursor, scope));
  } else cursor.fail("an instruction, a label or a declaration that is supported");
}

/** Statements up to the closing brace of their scope, which stays. */
export function parseStatements(cursor: PtxCursor, scope: Scope, body: PtxBody): void {
  declareLabels(cursor, scope);
  for (;;) {
    for (const text of cursor.peek().comments ?? []) body.items.push({ kind: "comment", text });
    if (cursor.is("}") || cursor.peek().kind === "end") return;
    parseStatement(cursor, scope, body);
  }
}
