/** A machine of one warp (or a few) whose register file is made up as operands are named. */
import type { Operand } from "../../../compiler/ptx/func.ts";
import { type Match, matchInstruction, splitSpelling } from "../../../compiler/ptx/match.ts";
import { bug, must } from "../../../compiler/support/bug.ts";
import type { Site } from "../../../emulator/fault.ts";
import type {
  BlockState,
  HandlerContext,
  Machine,
  WarpFunction,
  WarpState,
} from "../../../emulator/machine.ts";
import { newMemory, viewsOf } from "../../../emulator/memory.ts";
import { MATRIX } from "../../../emulator/matrix/mod.ts";

const REGISTER_FILE = 0x10000;
const REGISTER_FILE_BYTES = 0x10000;
const SHARED = 0x80000;
const SHARED_BYTES = 0x38000;

const ALL_LANES = -1;

export interface Stub {
  readonly machine: Machine & { warp: WarpState; checks: boolean; profile: boolean };
  readonly shared: number;
  /** Where a register's row is in the register file, made when first named. */
  row(name: string): number;
  /** Compiles an instruction for the stub's register file. */
  compile(spelling: string, operands: readonly Operand[]): WarpFunction;
  /** Compiles it and runs it in all lanes of the stub's warp. */
  run(spelling: string, operands: readonly Operand[], warp?: number): void;
  registerFile(warp?: number): number;
}

const SITE: Site = { kernel: "test", text: "test;" };

export function newStub(warps = 1): Stub {
  const memory = newMemory(1 << 20);
  const states: WarpState[] = [];
  const cluster: BlockState[] = [];
  const block: BlockState = {
    index: [0, 0, 0],
    linear: 0,
    threads: 32 * warps,
    shape: [32 * warps, 1, 1],
    shared: SHARED,
    sharedBytes: SHARED_BYTES,
    warps: states,
    cluster,
    rank: 0,
    phase: 0,
    async: undefined,
  };
  cluster.push(block);
  for (let index = 0; index < warps; index++) {
    states.push({
      block,
      index,
      registerFile: REGISTER_FILE + index * REGISTER_FILE_BYTES,
      phase: 0,
      async: undefined,
    });
  }
  const machine = {
    memory,
    views: viewsOf(memory),
    warp: must(states[0], "warp"),
    block,
    checks: false,
    profile: false,
    yield: (): void => {},
    yielded: false,
  };
  const rows = new Map<string, number>();
  let end = 64;
  const row = (name: string): number => {
    const known = rows.get(name);
    if (known !== undefined) return known;
    rows.set(name, end);
    end += 256;
    return end - 256;
  };
  const rowOf = (operand: Operand): number => {
    if (operand.kind === "register") return row(operand.name);
    if (operand.kind !== "integer") return bug(`no row for ${operand.kind}`);
    const offset = row(`literal ${operand.value}`);
    for (const { registerFile } of states) {
      machine.views.i32.fill(
        operand.value === 0n ? 0 : -1,
        (registerFile + offset) >> 2,
        (registerFile + offset + 16) >> 2,
      );
    }
    return offset;
  };
  const context: HandlerContext = {
    machine,
    site: SITE,
    sm: 90,
    row: rowOf,
    rows: (operand) => operand.kind === "vector" ? operand.elements.map(rowOf) : [rowOf(operand)],
    predicate: (operand) =>
      operand.kind === "negated"
        ? { row: rowOf(operand.operand), invert: -1 }
        : { row: rowOf(operand), invert: 0 },
    shadow: () => undefined,
    literal: (operand) => operand.kind === "integer" ? operand.value : bug("no literal"),
    address: (operand) => {
      if (operand.kind !== "address" || operand.base?.kind !== "register") return bug("no address");
      const bits = operand.base.type === "b64" ? 64 : 32;
      return {
        row: row(operand.base.name),
        bits,
        offset: Number(operand.offset),
        symbol: undefined,
      };
    },
  };
  const compile = (spelling: string, operands: readonly Operand[]): WarpFunction => {
    const match: Match | string = matchInstruction({
      kind: "instruction",
      ...splitSpelling(spelling),
      operands,
    });
    if (typeof match === "string") return bug(`${spelling}: ${match}`);
    return must(MATRIX[match.opcode], `handler of ${match.opcode}`)(match, context);
  };
  return {
    machine,
    shared: SHARED,
    row,
    compile,
    run: (spelling, operands, warp = 0) => {
      machine.warp = must(states[warp], "warp");
      compile(spelling, operands)(machine.warp.registerFile, ALL_LANES);
    },
    registerFile: (warp = 0) => must(states[warp], "warp").registerFile,
  };
}

type RegisterName = Extract<Operand, { kind: "register" }>["type"];

export function register(type: RegisterName, name: string): Extract<Operand, { kind: "register" }> {
  return { kind: "register", type, name };
}

export function vector(type: RegisterName, prefix: string, count: number): Operand {
  return {
    kind: "vector",
    elements: Array.from({ length: count }, (_, i) => register(type, `${prefix}${i}`)),
  };
}

/** A small generator of repeatable numbers below 2^32. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
    return (mixed ^ (mixed >>> 13)) >>> 0;
  };
}
