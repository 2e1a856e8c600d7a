/** Instructions made from the forms of PTX_OPS: what the table says is right, as a module for ptxas. */
import fc from "../property.ts";
import {
  type ModifierPiece,
  type OperandPiece,
  type PtxForm,
  readForm,
  type Since,
} from "../../../compiler/ptx/form.ts";
import type {
  Instruction,
  Operand,
  PtxModule,
  Register,
  RegisterType,
} from "../../../compiler/ptx/func.ts";
import { matchInstruction } from "../../../compiler/ptx/match.ts";
import { forEachRegister } from "../../../compiler/ptx/operand.ts";
import { GLOBAL_MODIFIERS, OTHER_SPACES, PTX_OPS } from "../../../compiler/ptx/ops.ts";
import { isTypeName, type TypeName, TYPES, wideType } from "../../../compiler/ptx/types.ts";
import { must } from "../../../compiler/support/bug.ts";

export interface Sample {
  readonly instruction: Instruction;
  readonly form: PtxForm;
  readonly since: Since;
}

const BANKS: Readonly<Record<number, { type: RegisterType; prefix: string }>> = {
  1: { type: "pred", prefix: "p" },
  8: { type: "b8", prefix: "c" },
  16: { type: "b16", prefix: "h" },
  32: { type: "b32", prefix: "r" },
  64: { type: "b64", prefix: "q" },
  128: { type: "b128", prefix: "o" },
};
function register(bits: number, index: number): Register {
  const { type, prefix } = must(BANKS[bits], `registers of ${bits} bits`);
  return { kind: "register", type, name: `${prefix}${index}` };
}

/** Registers that instructions mention, each once. */
function registersOf(instructions: readonly Instruction[]): Register[] {
  const found = new Map<string, Register>();
  for (const { operands } of instructions) {
    operands.forEach((operand) => forEachRegister(operand, (r) => found.set(r.name, r)));
  }
  return [...found.values()];
}

/** Choices of modifiers: the first of each, then each other one alone. */
function modifierChoices(pieces: readonly ModifierPiece[]): (string | undefined)[][] {
  const base = pieces.map((piece) => piece.optional ? undefined : piece.names[0]);
  const others = pieces.flatMap((piece, i) =>
    piece.names.filter((name) => name !== base[i]).map((name) => base.with(i, name))
  );
  return [base, ...others];
}

const RANKS: Readonly<Record<string, number>> = { "1d": 1, "2d": 2, "3d": 3, "4d": 4, "5d": 5 };
/** Textures and surfaces with more than two coordinates have four. */
const TEXTURE_RANKS: Readonly<Record<string, number>> = {
  "1d": 1,
  "2d": 2,
  "3d": 4,
  a1d: 2,
  a2d: 4,
  cube: 4,
  acube: 4,
  "2dms": 4,
  a2dms: 4,
};

class SampleOperands {
  #next = 0;
  constructor(
    readonly opcode: string,
    readonly pieces: readonly ModifierPiece[],
    readonly choice: readonly (string | undefined)[],
    readonly modifiers: readonly string[],
  ) {}

  #bound(variable: string): string | undefined {
    const at = this.pieces.findIndex((piece) => piece.variable === variable);
    return at < 0 ? undefined : this.choice[at];
  }

  #type(type: string): TypeName {
    if (type === "W") return wideType(this.#type("T"));
    const name = this.#bound(type) ?? type;
    return isTypeName(name) ? name : "b32";
  }

  #count(count: string): number | undefined {
    if (count === "V") {
      const vector = this.#bound("VEC") ?? this.#bound("v2") ?? this.#bound("VEC8");
      return vector === undefined ? undefined : Number(vector.slice(1));
    }
    if (count === "N") return Number(this.#bound("NUM")?.slice(1));
    const shape = /n(\d+)/.exec(this.modifiers.find((name) => /^m\d+n\d+k\d+$/.test(name)) ?? "");
    return count.startsWith("S/") ? Number(shape?.[1]) / Number(count.slice(2)) : Number(count);
  }

  #single(type: TypeName, wider = false): Register {
    const { bits } = TYPES[type];
    return register(wider ? Math.max(bits, 16) : bits, this.#next++);
  }

  make(piece: OperandPiece): Operand {
    switch (piece.kind) {
      case "address":
        return { kind: "address", base: this.#base(), offset: 0n };
      case "tensor":
      case "texture": {
        const sampler = piece.kind === "texture" ? { sampler: this.#single("b64") } : {};
        const elements = Array.from({ length: this.#rank() }, () => this.#single("b32"));
        const coordinates: Operand = { kind: "vector", elements };
        return { kind: "address", base: this.#single("b64"), offset: 0n, ...sampler, coordinates };
      }
      case "list":
        return { kind: "list", elements: [this.#single("b32")] };
      case "label":
        return { kind: "symbol", name: piece.name === "list" ? "LIST" : "LABEL" };
      case "sink":
        return { kind: "sink" };
      case "literal":
        return { kind: "integer", value: this.#literal(piece.name) };
      default:
    }
    const type = this.#type(piece.type);
    const count = piece.count === undefined ? undefined : this.#count(piece.count);
    const first: Operand = count === undefined ? this.#single(type, piece.wider) : {
      kind: "vector",
      elements: Array.from({ length: count }, () => this.#single(type, piece.wider)),
    };
    const { second } = piece;
    return second === undefined || second.optional
      ? first
      : { kind: "pair", first, second: this.make(second) };
  }

  /** Arguments of calls have no address that a register could hold. */
  #base(): Operand {
    const isArgument = this.modifiers.includes("param::func") ||
      (this.opcode === "st" && this.modifiers.includes("param"));
    return isArgument ? { kind: "symbol", name: "ARGUMENT" } : this.#single("b64");
  }

  /** How many coordinates there are. */
  #rank(): number {
    const ranks = this.modifiers.map((name) =>
      (this.opcode.startsWith("cp.") ? RANKS : TEXTURE_RANKS)[name]
    );
    return must(ranks.find((rank) => rank !== undefined), "number of dimensions");
  }

  /** Literals that ptxas checks the value of. */
  #literal(name: string): bigint {
    const values: Readonly<Record<string, bigint>> = {
      n: this.opcode === "tensormap.replace" ? 1n : 8n,
      size: 128n,
      lut: 0x80n,
      align: 8n,
      zero: 0n,
      f: 0n,
    };
    if (this.modifiers.includes("cg")) return 16n;
    if (this.modifiers.includes("inc") || this.modifiers.includes("dec")) return 64n; // registers
    return values[name] ?? 1n;
  }
}

/** The modifiers of one choice, and how many operands may be left out with it. */
function spell(form: PtxForm, choice: readonly (string | undefined)[]): {
  readonly modifiers: readonly string[];
  readonly present: readonly OperandPiece[];
  readonly optional: number;
} {
  const modifiers = choice.filter((name) => name !== undefined);
  const present = readForm(form).operands.filter(({ needs }) =>
    needs === undefined || modifiers.includes(needs)
  );
  return { modifiers, present, optional: present.filter((piece) => piece.optional).length };
}

/** An instruction with a choice of modifiers and `extra` of the operands that may be left out. */
function instructionOf(
  opcode: string,
  form: PtxForm,
  choice: readonly (string | undefined)[],
  extra: number,
): Instruction {
  const { modifiers, present } = spell(form, choice);
  const make = new SampleOperands(opcode, readForm(form).modifiers, choice, modifiers);
  let left = extra;
  const kept = present.filter((piece) => !piece.optional || left-- > 0);
  const operands = kept.map((piece) => make.make(piece));
  return { kind: "instruction", opcode, modifiers, operands };
}

function samplesOf(opcode: string, form: PtxForm): Sample[] {
  return modifierChoices(readForm(form).modifiers).flatMap((choice, nth) => {
    // The base once with every number of optional operands.
    const extras = nth === 0 ? [...Array(spell(form, choice).optional + 1).keys()] : [0];
    return extras.map((extra) => {
      const instruction = instructionOf(opcode, form, choice, extra);
      const match = matchInstruction(instruction);
      if (typeof match === "string") throw new Error(`${opcode}${form.form}: ${match}`);
      return { instruction, form, since: match.since };
    });
  });
}

const allForms: readonly (readonly [opcode: string, form: PtxForm])[] = Object.entries(PTX_OPS)
  .flatMap(([opcode, row]) => row.forms.map((form: PtxForm) => [opcode, form] as const));

/** An instruction of any form with any modifiers that it takes, hints for global memory elsewhere excepted. */
export const anySample: fc.Arbitrary<Instruction> = fc.constantFrom(...allForms).chain((
  [opcode, form],
) =>
  fc.tuple(
    ...readForm(form).modifiers.map(({ names, optional }) =>
      optional ? fc.constantFrom(undefined, ...names) : fc.constantFrom(...names)
    ),
  ).chain((choice) =>
    fc.nat(spell(form, choice).optional).map((extra) => instructionOf(opcode, form, choice, extra))
  )
).filter(({ modifiers }) =>
  modifiers.includes("global") || !modifiers.some((name) => GLOBAL_MODIFIERS.has(name)) ||
  !modifiers.some((name) => OTHER_SPACES.has(name))
);

/** Samples of every form in the table. */
export function allSamples(): Sample[] {
  return allForms.flatMap(([opcode, form]) => samplesOf(opcode, form));
}

/** A module whose kernel is these instructions, one a line. */
export function sampleModule(
  instructions: readonly Instruction[],
  version: number,
  target: string,
): PtxModule {
  return {
    version,
    target,
    files: [],
    variables: [],
    functions: [],
    kernels: [{
      name: "samples",
      params: [],
      directives: [],
      registers: registersOf(instructions),
      variables: [{ space: "param", name: "ARGUMENT", type: "b8", align: 16, count: 32 }],
      body: [
        { kind: "label", name: "LABEL" },
        { kind: "targets", name: "LIST", labels: ["LABEL"] },
        ...instructions,
        { kind: "instruction", opcode: "ret", modifiers: [], operands: [] },
      ],
    }],
  };
}
