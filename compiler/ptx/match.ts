/** Finds the row and the form of an instruction, or says why there is none. */
import { bug } from "../support/bug.ts";
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

/** Splits `cp.async.ca.shared.global` into the name of its row and its modifiers. */
export function splitSpelling(spelling: string): { opcode: string; modifiers: readonly string[] } {
  const [first = "", ...rest] = spelling.split(".");
  return findRow(first, rest) ?? { opcode: first, modifiers: rest };
}

/** One operand of a form, its type resolved, with what stands there. */
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
  /** What the variables of the form stand for: T, U, RND, VEC, …; flags by their name. */
  readonly bound: ReadonlyMap<string, string>;
  /** All modifiers behind the opcode, in order: of groups that a form names twice, `bound` has the first only. */
  readonly modifiers: readonly string[];
  readonly operands: readonly BoundOperand[];
  readonly since: Since;
}

type Bound = Map<string, string>;

/** Assigns modifiers to the pieces of a form from piece `at` on. */
function bindModifiers(
  form: ReadForm,
  modifiers: readonly string[],
  at = 0,
  from = 0,
): Bound | undefined {
  const piece = form.modifiers[at];
  const modifier = modifiers[from];
  if (piece === undefined) return modifier === undefined ? new Map() : undefined;
  if (modifier !== undefined && piece.names.includes(modifier)) {
    const rest = bindModifiers(form, modifiers, at + 1, from + 1);
    if (rest !== undefined) return rest.set(piece.variable, modifier);
  }
  return piece.optional ? bindModifiers(form, modifiers, at + 1, from) : undefined;
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

/** What is wrong with a single operand in its place; undefined if nothing. */
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

/** The pieces that the given operands stand for: optional ones may be left out from the end. */
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

/** The form that an instruction has, or a sentence about what is wrong with it. */
export function matchInstruction(instruction: Instruction): Match | string {
  const found = findRow(instruction.opcode, instruction.modifiers);
  if (found === undefined) return `unknown opcode ${instruction.opcode}`;
  const { opcode, row, modifiers } = found;
  if (row.forms.length === 0) {
    return `${opcode} is not supported (PTX ISA 9.0, ${row.isa})`;
  }
  let problem = spaceProblem(modifiers);
  if (problem !== undefined) return problem;
  for (const form of row.forms) {
    const pieces = readForm(form);
    const bound = bindModifiers(pieces, modifiers);
    if (bound === undefined) continue;
    const operands = assignOperands(pieces, bound, instruction.operands);
    if (typeof operands === "string") {
      problem ??= operands;
      continue;
    }
    const since = [row.since, form.since, ...modifiers.map((name) => MODIFIER_SINCE.get(name))]
      .reduce<Since>(bothSince, ALWAYS);
    return { opcode, row, form, bound, modifiers, operands, since };
  }
  const unsupported = modifiers.find((name) => row.unsupported?.includes(name));
  if (unsupported !== undefined) {
    return `${opcode} with .${unsupported} is not supported (PTX ISA 9.0, ${row.isa})`;
  }
  return problem ??
    `no form of ${opcode} has the modifiers ${modifiers.map((name) => `.${name}`).join("")}`;
}
