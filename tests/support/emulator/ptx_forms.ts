/** Every spelling that the forms of PTX_OPS allow, as instructions on registers: each choice of modifiers and operands. */
import {
  type ModifierPiece,
  type OperandPiece,
  type PtxForm,
  type PtxOpRow,
  readForm,
} from "../../../compiler/ptx/form.ts";
import type { Instruction, Operand, Register, RegisterType } from "../../../compiler/ptx/func.ts";
import { type Match, matchInstruction } from "../../../compiler/ptx/match.ts";
import { PTX_OPS } from "../../../compiler/ptx/ops.ts";
import { isTypeName, type TypeName, TYPES, wideType } from "../../../compiler/ptx/types.ts";
import { must } from "../../../compiler/support/bug.ts";

/** One spelling of a form. */
export interface Spelling {
  readonly instruction: Instruction;
  readonly match: Match;
}

const REGISTERS: Readonly<
  Record<number, { readonly type: RegisterType; readonly prefix: string }>
> = {
  1: { type: "pred", prefix: "p" },
  8: { type: "b8", prefix: "c" },
  16: { type: "b16", prefix: "h" },
  32: { type: "b32", prefix: "r" },
  64: { type: "b64", prefix: "q" },
  128: { type: "b128", prefix: "o" },
};

/** Every choice of one element from each list. */
function choices<T>(lists: readonly (readonly T[])[]): T[][] {
  return lists.reduce<T[][]>(
    (chosen, list) => chosen.flatMap((head) => list.map((element) => [...head, element])),
    [[]],
  );
}

/** Truth tables that are tried: and, or, xor, majority, choice, parts of a alone, none and all. */
const TABLES: readonly bigint[] = [0x80n, 0xfen, 0x96n, 0xe8n, 0xcan, 0x1an, 0x00n, 0xffn];

type Chosen = ReadonlyMap<string, string>;

/** Parts of operands by name that are tried together, a minus in front for a negative operand. */
type Parts = Readonly<Record<string, string>>;

const NO_PARTS: readonly Parts[] = [{}];
const SCALAR_PARTS: readonly Parts[] = [
  {},
  { a: "b0", b: "h1" },
  { a: "h0", b: "b3" },
  { d: "b1", a: "b2" },
  { d: "h1", b: "b1" },
  { d: "b3", a: "h1", b: "h0" },
  { d: "h0" },
  { d: "b0", a: "b1", b: "b2" },
  { d: "b2", a: "b3" },
];
const MULTIPLY_PARTS: readonly Parts[] = [
  {},
  { a: "h0", b: "b1" },
  { a: "b3", b: "h1" },
  { a: "-", b: "h0" },
  { b: "-" },
  { a: "-", b: "-" },
  { c: "-" },
  { a: "b2", c: "-" },
];
const PAIR_PARTS: readonly Parts[] = [
  {},
  { d: "h0" },
  { d: "h1", a: "h01", b: "h23" },
  { a: "h33", b: "h00" },
  { d: "h10", a: "h12", b: "h30" },
];
const QUAD_PARTS: readonly Parts[] = [
  {},
  { d: "b0", a: "b7654" },
  { d: "b310", a: "b0123", b: "b1357" },
  { d: "b3210", a: "b7531", b: "b6420" },
  { d: "b21" },
];

/** The parts to try on the operands of an opcode: of video instructions a selection of all there are. */
function partsOf(opcode: string): readonly Parts[] {
  if (opcode === "vmad") return MULTIPLY_PARTS;
  if (/^v\w+2$/.test(opcode)) return PAIR_PARTS;
  if (/^v\w+4$/.test(opcode)) return QUAD_PARTS;
  return /^v(?:add|sub|absdiff|min|max|shl|shr|set)$/.test(opcode) ? SCALAR_PARTS : NO_PARTS;
}

function takePart(operand: Operand, part: string | undefined): Operand {
  if (part === undefined || operand.kind !== "register") return operand;
  return part === "-" ? { kind: "negative", operand } : { kind: "part", register: operand, part };
}

/** Whether the operands go together: c is there if, and only if, something is done with it. */
function agree(opcode: string, parts: Parts, modifiers: readonly string[], count: number): boolean {
  const named = Object.keys(parts);
  if (opcode === "vmad") {
    const negative = Object.values(parts).includes("-");
    return !(modifiers.includes("po") && negative);
  }
  if (partsOf(opcode) !== SCALAR_PARTS) return true;
  const second = modifiers.some((name) => ["add", "min", "max"].includes(name));
  return second ? !named.includes("d") : (count === 4) === named.includes("d");
}

function typeOf(name: string, chosen: Chosen): TypeName {
  if (name === "W") return wideType(typeOf("T", chosen));
  const bound = chosen.get(name) ?? name;
  return isTypeName(bound) ? bound : "b32";
}

/** The operands that one position of a form accepts; undefined for none. */
function operandChoices(
  piece: OperandPiece,
  chosen: Chosen,
  parts: Parts,
): (Operand | undefined)[] {
  if (piece.kind === "literal") return TABLES.map((value) => ({ kind: "integer", value }));
  const type = typeOf(piece.type, chosen);
  const { bits } = TYPES[type];
  const register = (width: number, name: string): Register => {
    const { type, prefix } = must(REGISTERS[width], `registers of ${width} bits`);
    return { kind: "register", type, name: `${prefix}_${name}` };
  };
  // ptxas wants registers of at least 16 bits where it takes wider ones.
  const widths = piece.wider ? [Math.max(bits, 16), 32, 64].filter((w) => w >= bits) : [bits];
  const firsts: Operand[] = piece.count === undefined
    ? [...new Set(widths)].map((width) => register(width, piece.name))
    : [{
      kind: "vector",
      elements: Array.from(
        { length: Number(piece.count) },
        (_, i) => register(bits, `${piece.name}${i}`),
      ),
    }];
  const values = firsts.map((operand) => takePart(operand, parts[piece.name]));
  if (piece.kind === "predicate") {
    values.push(...firsts.map((operand): Operand => ({ kind: "negated", operand })));
  }
  const { second } = piece;
  if (second !== undefined) {
    const pairs = operandChoices(second, chosen, parts).flatMap((other): Operand[] =>
      other === undefined ? [] : firsts.map((first) => ({ kind: "pair", first, second: other }))
    );
    values.splice(0, values.length, ...(second.optional ? [...firsts, ...pairs] : pairs));
  }
  return piece.optional ? [undefined, ...values] : values;
}

function spellModifiers(pieces: readonly ModifierPiece[]): (string | undefined)[][] {
  return choices(pieces.map(({ names, optional }) => optional ? [undefined, ...names] : names));
}

/** Every spelling of a form. */
export function spellingsOf(opcode: string, form: PtxForm): Spelling[] {
  const { modifiers: pieces, operands } = readForm(form);
  return spellModifiers(pieces).flatMap((modifiers) => {
    const chosen = new Map(pieces.flatMap(({ variable }, i): [string, string][] => {
      const modifier = modifiers[i];
      return modifier === undefined ? [] : [[variable, modifier]];
    }));
    const spelled = modifiers.filter((name) => name !== undefined);
    return partsOf(opcode).flatMap((parts) => {
      const lists = operands.map((piece) => operandChoices(piece, chosen, parts));
      return choices(lists).flatMap((given): Spelling[] => {
        const present = given.filter((operand) => operand !== undefined);
        if (!agree(opcode, parts, spelled, present.length)) return [];
        const instruction: Instruction = {
          kind: "instruction",
          opcode,
          modifiers: spelled,
          operands: present,
        };
        const match = matchInstruction(instruction);
        if (typeof match === "string") throw new Error(`${opcode}${form.form}: ${match}`);
        // What an earlier form of the row has as well is that form's.
        return match.form === form ? [{ instruction, match }] : [];
      });
    });
  });
}

/** Instructions on values that depend on where they run, or on what objects in memory are. */
const PLACES: ReadonlySet<string> = new Set([
  "clusterlaunchcontrol.query_cancel",
  "createpolicy",
  "cvta",
  "getctarank",
  "isspacep",
  "istypep",
  "mapa",
  "mbarrier.pending_count",
]);

/** The condition code is state of the thread, but each thread's own. */
const CARRY: ReadonlySet<string> = new Set([
  "add.cc",
  "addc",
  "sub.cc",
  "subc",
  "mad.lo.cc",
  "mad.hi.cc",
  "madc",
]);

/** Whether an instruction uses the condition code. */
export function usesCarry(opcode: string): boolean {
  return CARRY.has(opcode);
}

/** Rows whose instructions act on each lane alone and on nothing but their operands. */
export function laneRowsOfTable(): [opcode: string, row: PtxOpRow][] {
  const rows: [string, PtxOpRow][] = Object.entries(PTX_OPS);
  return rows.filter(([opcode, row]) =>
    usesCarry(opcode) || (row.effect === "pure" && !PLACES.has(opcode))
  );
}
