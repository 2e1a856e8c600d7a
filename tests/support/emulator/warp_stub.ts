/** A machine of one warp for testing single instructions: registers get rows as they are named. */
import type { Instruction, Operand, Register } from "../../../compiler/ptx/func.ts";
import { type Match, matchInstruction } from "../../../compiler/ptx/match.ts";
import { parsePtx } from "../../../compiler/ptx/parse.ts";
import { type TypeName, TYPES } from "../../../compiler/ptx/types.ts";
import { bug, must } from "../../../compiler/support/bug.ts";
import { LANES, rowBytes } from "../../../emulator/register_file.ts";
import type { BlockState, HandlerContext, Machine, WarpState } from "../../../emulator/machine.ts";
import { newMemory, viewsOf } from "../../../emulator/memory.ts";

/** A warp with its register file. */
export interface WarpStub {
  readonly registerFile: number;
  readonly machine: Machine;
  readonly context: HandlerContext;
  /** A lane's value of a register that an instruction has named, or will. */
  read(register: Register, lane: number): bigint;
  write(register: Register, lane: number, value: bigint): void;
}

const DECLARED: Readonly<Record<string, Register["type"]>> = {
  p: "pred",
  h: "b16",
  r: "b32",
  q: "b64",
  o: "b128",
};

/** A register named as the texts of these tests do: `%r_a` has 32 bits, `%q_a` 64, `%p_a` is a predicate. */
export function registerOf(name: string): Register {
  const type = must(DECLARED[name.charAt(0)], `the type of ${name}`);
  return { kind: "register", type, name };
}

/** An instruction from its text; its registers are declared by their names. */
function instructionOf(text: string): Instruction {
  const names = new Set([...text.matchAll(/%([phrqo]_\w+)/g)].map(([, name]) => name ?? ""));
  const registers = [...names].map((name) => `.reg .${registerOf(name).type} %${name};`);
  const module = parsePtx(
    `.version 9.0\n.target sm_90a\n.address_size 64\n.entry k()\n{\n${
      registers.join("\n")
    }\n${text}\n}`,
  );
  const item = module.kernels[0]?.body.find(({ kind }) => kind === "instruction");
  return item?.kind === "instruction" ? item : bug(`no instruction in ${text}`);
}

/** The match of an instruction's text. */
export function matchOf(text: string): Match {
  const match = matchInstruction(instructionOf(text));
  return typeof match === "string" ? bug(`${text}: ${match}`) : match;
}

const FRAME = 0x1000;

/** A block of one warp. */
export function newBlockStub(): BlockState {
  return {
    index: [0, 0, 0],
    linear: 0,
    threads: LANES,
    shape: [LANES, 1, 1],
    shared: 0,
    sharedBytes: 0,
    warps: [],
    cluster: [],
    rank: 0,
    phase: 0,
    async: undefined,
  };
}

/** A new warp with zeros in its register file. */
export function newWarpStub(): WarpStub {
  const memory = newMemory(1 << 17);
  const block = newBlockStub();
  const warp: WarpState = { block, index: 0, registerFile: FRAME, phase: 0, async: undefined };
  const machine: Machine = {
    memory,
    views: viewsOf(memory),
    warp,
    block,
    checks: false,
    profile: false,
    yield: () => {},
  };
  const rows = new Map<string, number>();
  let end = 64;
  const rowOf = (key: string, bits: number): number => {
    const known = rows.get(key);
    if (known !== undefined) return known;
    const row = end;
    rows.set(key, row);
    end += rowBytes(bits);
    return row;
  };
  const { views } = machine;
  const write = (row: number, bits: number, lane: number, value: bigint): void => {
    const at = FRAME + row;
    if (bits === 1) {
      const word = (views.u32[at >> 2] ?? 0) & ~(1 << lane);
      views.u32[at >> 2] = word | (Number(value) << lane);
    } else if (bits <= 32) views.u32[(at >> 2) + lane] = Number(value);
    else {
      for (let part = 0; part < bits / 64; part++) {
        views.u64[(at >> 3) + (bits / 64) * lane + part] = value >> BigInt(64 * part);
      }
    }
  };
  const row = (operand: Operand, type: TypeName): number => {
    if (operand.kind === "register") return rowOf(operand.name, TYPES[operand.type].bits);
    if (operand.kind === "special") return rowOf(`special ${operand.name}`, TYPES[type].bits);
    const { bits } = TYPES[type];
    if (operand.kind === "sink") return rowOf(`sink ${bits}`, bits);
    if (operand.kind !== "integer") return bug(`no row for ${operand.kind}`);
    const literal = rowOf(`literal ${operand.value} ${bits}`, bits);
    for (let lane = 0; lane < LANES; lane++) {
      write(literal, bits, lane, BigInt.asUintN(bits, operand.value));
    }
    return literal;
  };
  const context: HandlerContext = {
    machine,
    site: { kernel: "test", text: "test;" },
    sm: 90,
    row,
    rows: (operand, type) =>
      operand.kind === "vector"
        ? operand.elements.map((element) => row(element, type))
        : [row(operand, type)],
    predicate: (operand) =>
      operand.kind === "negated"
        ? { row: row(operand.operand, "pred"), invert: -1 }
        : { row: row(operand, "pred"), invert: 0 },
    shadow: () => undefined,
    literal: (operand) => operand.kind === "integer" ? operand.value : bug("no literal"),
    address: () => bug("no addresses here"),
  };
  return {
    registerFile: FRAME,
    machine,
    context,
    write: (register, lane, value) =>
      write(row(register, register.type), TYPES[register.type].bits, lane, value),
    read: (register, lane) => {
      const { bits } = TYPES[register.type];
      const at = FRAME + row(register, register.type);
      if (bits === 1) return BigInt(((views.u32[at >> 2] ?? 0) >>> lane) & 1);
      if (bits <= 32) return BigInt(views.u32[(at >> 2) + lane] ?? 0);
      let value = 0n;
      for (let part = 0; part < bits / 64; part++) {
        const word = views.u64[(at >> 3) + (bits / 64) * lane + part] ?? 0n;
        value |= word << BigInt(64 * part);
      }
      return value;
    },
  };
}
