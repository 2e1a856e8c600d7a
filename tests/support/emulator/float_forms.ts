/** Every spelling of every instruction of PTX_OPS that computes with floats, each with operands to try it on. */
import { type ModifierPiece, type OperandPiece, readForm } from "../../../compiler/ptx/form.ts";
import type { PtxForm } from "../../../compiler/ptx/form.ts";
import type { Instruction, Operand, RegisterType } from "../../../compiler/ptx/func.ts";
import { type Match, matchInstruction } from "../../../compiler/ptx/match.ts";
import { PTX_OPS } from "../../../compiler/ptx/ops.ts";
import { isTypeName, type TypeName, TYPES } from "../../../compiler/ptx/types.ts";
import { must } from "../../../compiler/support/bug.ts";

export interface FloatForm {
  /** With all modifiers: `add.rn.ftz.f32`. */
  readonly name: string;
  readonly instruction: Instruction;
  readonly match: Match;
  /** Types of the sources, in order. */
  readonly sources: readonly TypeName[];
  readonly result: TypeName;
}

const OPCODES: readonly (keyof typeof PTX_OPS)[] = [
  "add",
  "sub",
  "mul",
  "mad",
  "fma",
  "div",
  "rcp",
  "sqrt",
  "rsqrt",
  "sin",
  "cos",
  "lg2",
  "ex2",
  "tanh",
  "neg",
  "abs",
  "min",
  "max",
  "testp",
  "copysign",
  "cvt",
];

/** All combinations of modifiers. */
function combinations(pieces: readonly ModifierPiece[]): (string | undefined)[][] {
  const [first, ...rest] = pieces;
  if (first === undefined) return [[]];
  const choices = first.optional ? [undefined, ...first.names] : first.names;
  return combinations(rest).flatMap((tail) => choices.map((name) => [name, ...tail]));
}

const REGISTERS: Readonly<Record<number, RegisterType>> = {
  1: "pred",
  8: "b8",
  16: "b16",
  32: "b32",
  64: "b64",
};

/** Registers of 8 bits stand only where they must. */
function registerFor(type: TypeName, { name, wider }: OperandPiece, nth = ""): Operand {
  const { bits } = TYPES[type];
  const register = must(REGISTERS[wider ? Math.max(16, bits) : bits], `register of ${type}`);
  return { kind: "register", type: register, name: `${name}${nth}` };
}

function typeOf(piece: OperandPiece, bound: ReadonlyMap<string, string>): TypeName {
  const name = bound.get(piece.type) ?? piece.type;
  return isTypeName(name) ? name : "b32";
}

const isFloat = (name: string | undefined): boolean =>
  name !== undefined && isTypeName(name) && TYPES[name].class === "float";

function formsOf(opcode: string, form: PtxForm): FloatForm[] {
  const { modifiers, operands } = readForm(form);
  return combinations(modifiers).filter((choice) => choice.some(isFloat)).flatMap((choice) => {
    const bound = new Map(modifiers.flatMap(({ variable }, i): [string, string][] => {
      const name = choice[i];
      return name === undefined ? [] : [[variable, name]];
    }));
    const present = operands.filter((piece) => piece.needs === undefined);
    const instruction: Instruction = {
      kind: "instruction",
      opcode,
      modifiers: choice.filter((name) => name !== undefined),
      operands: present.map((piece): Operand => {
        if (piece.count === undefined) return registerFor(typeOf(piece, bound), piece);
        return {
          kind: "vector",
          elements: Array.from(
            { length: Number(piece.count) },
            (_, i) => registerFor(typeOf(piece, bound), piece, `${i}`),
          ),
        };
      }),
    };
    const match = matchInstruction(instruction);
    if (typeof match === "string") return [];
    const types = match.operands.map(({ type, operand }) =>
      Array.from({ length: operand.kind === "vector" ? operand.elements.length : 1 }, () => type)
    );
    const [result = [], ...sources] = types;
    return [{
      name: [opcode, ...instruction.modifiers].join("."),
      instruction,
      match,
      sources: sources.flat(),
      result: must(result[0], "result"),
    }];
  });
}

/** Every spelling, once. */
export function allFloatForms(): FloatForm[] {
  const forms = OPCODES.flatMap((opcode) => {
    const rows: readonly PtxForm[] = PTX_OPS[opcode].forms;
    return rows.flatMap((form) => formsOf(opcode, form));
  });
  return [...new Map(forms.map((form) => [form.name, form])).values()];
}
