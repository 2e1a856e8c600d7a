/** Finds the row and the form of an instruction, or says why there is none. */
import { bug } from "../support/bug.ts";
import { groupBy } from "../support/group_by.ts";
import { bindAnyOrder, type Binding, bindInOrder, type Bound } from "./bind.ts";
import {
  bothSince,
  type OperandPiece,
  type PtxForm,
  type PtxOpRow,
  type ReadForm,
  readForm,
  type Since,
} from "./form.ts";
import type { Instruction, Operand } from "./func.ts";
import { GLOBAL_MODIFIERS, MODIFIER_SINCE, OTHER_SPACES, PTX_OPS } from "./ops.ts";
import {
  holds,
  isTypeName,
  takesFloat,
  takesInteger,
  type TypeName,
  TYPES,
  wideType,
} from "./types.ts";

const rows: ReadonlyMap<string, PtxOpRow> = new Map(Object.entries(PTX_OPS));
/** First words of rows whose name has several, with the most words that such a name has. */
const longest: ReadonlyMap<string, number> = new Map(
  [...rows.keys()].map((
    name,
  ): [string, number] => [name.split(".")[0] ?? name, name.split(".").length])
    .sort((a, b) => a[1] - b[1]),
);

/** A row, and the words of its name after the first. */
interface Namesake {
  readonly name: string;
  readonly words: readonly string[];
  readonly row: PtxOpRow;
}

/** Rows by the first words of their names, with the further words; those with most words first. */
const namesake: ReadonlyMap<string, readonly Namesake[]> = groupBy(
  [...rows].map(([name, row]): Namesake => ({ name, words: name.split(".").slice(1), row }))
    .sort((a, b) => b.words.length - a.words.length),
  ({ name }) => name.split(".")[0] ?? name,
);

/** An instruction's row, its full name, and the modifiers that are not part of the name. */
export interface FoundRow {
  readonly opcode: string;
  readonly row: PtxOpRow;
  readonly modifiers: readonly string[];
}

/** The row with the longest name that a spelling begins with. */
export function findRow(opcode: string, modifiers: readonly string[]): FoundRow | undefined {
  if (longest.get(opcode) === 1) {
    const row = rows.get(opcode);
    return row === undefined ? undefined : { opcode, row, modifiers };
  }
  const words = [...opcode.split("."), ...modifiers];
  for (let count = Math.min(longest.get(words[0] ?? "") ?? 0, words.length); count > 0; count--) {
    const name = words.slice(0, count).join(".");
    const row = rows.get(name);
    if (row !== undefined) return { opcode: name, row, modifiers: words.slice(count) };
  }
  return undefined;
}

/**
 * The rows whose names are among the words of a spelling, in whatever order, those with most words first: of
 * `add.u32.cc` the row `add.cc`, then the row `add`.
 */
function rowsAmong(opcode: string, modifiers: readonly string[]): FoundRow[] {
  const [first = "", ...rest] = [...opcode.split("."), ...modifiers];
  const found: FoundRow[] = [];
  for (const { name, words, row } of namesake.get(first) ?? []) {
    const left = [...rest];
    const has = words.every((word) => {
      const at = left.indexOf(word);
      if (at >= 0) left.splice(at, 1);
      return at >= 0;
    });
    if (has) found.push({ opcode: name, row, modifiers: left });
  }
  return found;
}

/** Splits `cp.async.ca.shared.global` into the name of its row and its modifiers. */
export function splitSpelling(spelling: string): { opcode: string; modifiers: readonly string[] } {
  const [first = "", ...rest] = spelling.split(".");
  return findRow(first, rest) ?? { opcode: first, modifiers: rest };
}

/** Whether instructions of a row's name have forms. */
export function isSupported(opcode: string): boolean {
  return (rows.get(opcode)?.forms.length ?? 0) > 0;
}

/** One operand of a form, its type resolved, with the operand given. */
export interface BoundOperand {
  readonly name: string;
  readonly destination: boolean;
  /** What the form asks for: a value, an address, a label, … */
  readonly kind: OperandPiece["kind"];
  readonly type: TypeName;
  readonly operand: Operand;
}

export interface Match {
  readonly opcode: string;
  readonly row: PtxOpRow;
  readonly form: PtxForm;
  /** The values of the variables of the form: T, U, RND, VEC, …; flags by their name. */
  readonly bound: ReadonlyMap<string, string>;
  /** All modifiers after the opcode, in order: of groups that a form names twice, `bound` has the first only. */
  readonly modifiers: readonly string[];
  readonly operands: readonly BoundOperand[];
  readonly since: Since;
}

function resolveType(type: string, bound: Bound): TypeName {
  if (type === "W") return wideType(resolveType("T", bound));
  const name = bound.get(type) ?? type;
  return isTypeName(name) ? name : bug(`form with unknown type ${type}`);
}

/** Elements of a vector operand; undefined for an operand without braces. */
function resolveCount(count: string | undefined, bound: Bound): number | undefined {
  switch (count) {
    case undefined:
      return undefined;
    case "V": {
      const vector = bound.get("VEC") ?? bound.get("v2") ?? bound.get("VEC8");
      return vector === undefined ? undefined : Number(vector.slice(1));
    }
    case "N":
      return Number(bound.get("NUM")?.slice(1));
    case "S/2":
    case "S/4": {
      const shape = bound.get("WG8") ?? bound.get("WG16") ?? bound.get("WG32") ??
        bound.get("WGI") ?? "";
      return Number(/n(\d+)/.exec(shape)?.[1]) / Number(count.slice(2));
    }
    default:
      return Number(count);
  }
}

const DESCRIPTIONS: Readonly<Record<Operand["kind"], string>> = {
  register: "a register",
  integer: "an integer",
  float: "a float",
  special: "a special register",
  symbol: "a symbol",
  address: "an address",
  list: "a list",
  part: "a part of a register",
  negative: "a negative register",
  vector: "a vector",
  pair: "a pair",
  negated: "a negated operand",
  sink: "_",
};

/** What is wrong with a single operand at its position; undefined if nothing. */
function scalarProblem(piece: OperandPiece, type: TypeName, operand: Operand): string | undefined {
  const wanted = (what: string): string =>
    `operand ${piece.name} must be ${what}, not ${DESCRIPTIONS[operand.kind]}`;
  switch (operand.kind) {
    case "register":
      if (piece.kind === "label" || piece.kind === "literal") return wanted(`a ${piece.kind}`);
      return holds(operand.type, type, piece.wider)
        ? undefined
        : `operand ${piece.name} is .${type}, but %${operand.name} is .${operand.type}`;
    case "sink":
      return piece.destination ? undefined : wanted("a value");
    case "integer":
      if (piece.destination || piece.kind === "label") return wanted("a register");
      return takesInteger(type) ? undefined : wanted(`a value of .${type}`);
    case "float":
      if (piece.destination || piece.kind === "label" || piece.kind === "literal") {
        return wanted("a register");
      }
      return takesFloat(type) ? undefined : wanted(`a value of .${type}`);
    case "part":
      return piece.kind === "part"
        ? scalarProblem(piece, type, operand.register)
        : wanted("a whole register");
    case "negative":
      return piece.kind === "part" && !piece.destination
        ? scalarProblem(piece, type, operand.operand)
        : wanted("a value");
    case "negated":
      if (piece.destination || type !== "pred") return wanted("a value");
      return scalarProblem(piece, type, operand.operand);
    case "symbol":
      return piece.kind === "label" || piece.kind === "any" ? undefined : wanted("a value");
    case "special":
      return piece.kind === "any"
        ? undefined
        : wanted("a register (special registers are read by mov)");
    default:
      return wanted("a single value");
  }
}

function addressProblem(piece: OperandPiece, operand: Operand): string | undefined {
  if (operand.kind !== "address") {
    return `operand ${piece.name} must be an address, not ${DESCRIPTIONS[operand.kind]}`;
  }
  const { base, sampler, coordinates } = operand;
  if ((coordinates !== undefined) !== (piece.kind !== "address")) {
    const preposition = piece.kind === "address" ? "without" : "with";
    return `operand ${piece.name} must be an address ${preposition} coordinates`;
  }
  if ((sampler !== undefined) !== (piece.kind === "texture")) {
    const preposition = piece.kind === "texture" ? "with" : "without";
    return `operand ${piece.name} must be an address ${preposition} a sampler`;
  }
  if (base?.kind === "register" && TYPES[base.type].bits < 32) {
    return `%${base.name} cannot hold an address`;
  }
  if (base === undefined || base.kind === "register" || base.kind === "symbol") return undefined;
  return `the base of an address must be a register or a symbol, not ${DESCRIPTIONS[base.kind]}`;
}

function operandProblem(piece: OperandPiece, bound: Bound, operand: Operand): string | undefined {
  if (piece.kind === "address" || piece.kind === "tensor" || piece.kind === "texture") {
    return addressProblem(piece, operand);
  }
  if (piece.kind === "list") {
    return operand.kind === "list"
      ? undefined
      : `operand ${piece.name} must be a list, not ${DESCRIPTIONS[operand.kind]}`;
  }
  if (piece.kind === "sink") {
    return operand.kind === "sink"
      ? undefined
      : `operand ${piece.name} must be _, not ${DESCRIPTIONS[operand.kind]}`;
  }
  const { second } = piece;
  if (second !== undefined && (operand.kind === "pair" || !second.optional)) {
    if (operand.kind !== "pair") return `operand ${piece.name} must be a pair`;
    return vectorProblem(piece, bound, operand.first) ??
      vectorProblem(second, bound, operand.second);
  }
  return vectorProblem(piece, bound, operand);
}

/** What is wrong with a vector or single operand. */
function vectorProblem(piece: OperandPiece, bound: Bound, operand: Operand): string | undefined {
  const type = resolveType(piece.type, bound);
  const count = resolveCount(piece.count, bound);
  if (count === undefined) {
    // nvcc writes braces around single operands of surfaces.
    const isSingle = piece.count === "V" && operand.kind === "vector" &&
      operand.elements.length === 1;
    return scalarProblem(piece, type, isSingle ? operand.elements[0] ?? operand : operand);
  }
  if (operand.kind !== "vector") return `operand ${piece.name} must be a vector of ${count}`;
  if (operand.elements.length !== count) {
    return `operand ${piece.name} must have ${count} elements, not ${operand.elements.length}`;
  }
  return operand.elements.map((element) => scalarProblem(piece, type, element)).find((p) =>
    p !== undefined
  );
}

/** The pieces that the given operands match: optional ones may be left out from the end. */
function assignOperands(
  form: ReadForm,
  bound: Bound,
  operands: readonly Operand[],
): BoundOperand[] | string {
  const pieces = form.operands.filter(({ needs }) => needs === undefined || bound.has(needs));
  const required = pieces.filter(({ optional }) => !optional).length;
  const most = pieces.length;
  if (operands.length < required || operands.length > most) {
    const count = required === most ? `${most}` : `${required} to ${most}`;
    return `takes ${count} operands, not ${operands.length}`;
  }
  let spare = operands.length - required;
  const kept = pieces.filter(({ optional }) => !optional || spare-- > 0);
  const assigned: BoundOperand[] = [];
  for (const [i, operand] of operands.entries()) {
    const piece = kept[i] ?? bug("more operands than pieces");
    const problem = operandProblem(piece, bound, operand);
    if (problem !== undefined) return problem;
    const type = resolveType(piece.type, bound);
    const { name, destination, kind } = piece;
    assigned.push({ name, destination, kind, type, operand });
  }
  return assigned;
}

/** Whether the space of an access rules out another of its modifiers; copies name two spaces. */
function spaceProblem(modifiers: readonly string[]): string | undefined {
  const hint = modifiers.find((name) => GLOBAL_MODIFIERS.has(name));
  if (hint === undefined || modifiers.includes("global")) return undefined;
  const space = modifiers.find((name) => OTHER_SPACES.has(name));
  return space === undefined ? undefined : `.${hint} is for global memory, not for .${space}`;
}

/** Instructions of PTX 1.0. */
const ALWAYS: Since = { ptx: 10, sm: 10 };

const inOrder = (form: ReadForm, modifiers: readonly string[]): Binding | undefined => {
  const bound = bindInOrder(form, modifiers);
  return bound === undefined ? undefined : { bound, modifiers };
};

/**
 * The form of a row that an instruction has, or a sentence about its operands; undefined if no form has its modifiers.
 */
function matchRow(
  { opcode, row, modifiers: written }: FoundRow,
  bind: (form: ReadForm, modifiers: readonly string[]) => Binding | undefined,
  given: readonly Operand[],
): Match | string | undefined {
  let problem: string | undefined;
  for (const form of row.forms) {
    const pieces = readForm(form);
    const binding = bind(pieces, written);
    if (binding === undefined) continue;
    const { bound, modifiers } = binding;
    const operands = assignOperands(pieces, bound, given);
    if (typeof operands === "string") {
      problem ??= operands;
      continue;
    }
    const since = [row.since, form.since, ...modifiers.map((name) => MODIFIER_SINCE.get(name))]
      .reduce<Since>(bothSince, ALWAYS);
    return { opcode, row, form, bound, modifiers, operands, since };
  }
  return problem;
}

const notSupported = ({ opcode, row }: FoundRow): string =>
  `${opcode} is not supported (PTX ISA 9.0, ${row.isa})`;

function noForm({ opcode, row, modifiers }: FoundRow): string {
  const unsupported = modifiers.find((name) => row.unsupported?.includes(name));
  if (unsupported !== undefined) {
    return `${opcode} with .${unsupported} is not supported (PTX ISA 9.0, ${row.isa})`;
  }
  return `no form of ${opcode} has the modifiers ${modifiers.map((name) => `.${name}`).join("")}`;
}

/** The form that an instruction has, or a sentence about what is wrong with it. */
export function matchInstruction(instruction: Instruction): Match | string {
  const found = findRow(instruction.opcode, instruction.modifiers);
  const written = found?.row.forms.length === 0
    ? notSupported(found)
    : found && (spaceProblem(found.modifiers) ?? matchRow(found, inOrder, instruction.operands));
  if (typeof written === "object") return written;
  let problem = written;
  const { opcode, modifiers, operands } = instruction;
  const others = rowsAmong(opcode, modifiers);
  for (const each of others) {
    const isLonger = each.opcode.length > (found?.opcode.length ?? 0);
    if (each.row.forms.length === 0 && isLonger) return notSupported(each);
    if (spaceProblem(each.modifiers) !== undefined) continue;
    const match = matchRow(each, bindAnyOrder, operands);
    if (typeof match === "object") return match;
    problem ??= match;
  }
  const named = found ?? others[0];
  if (named === undefined) {
    return opcode.startsWith(".") ? `unknown directive ${opcode}` : `unknown opcode ${opcode}`;
  }
  return problem ?? noForm(named);
}
