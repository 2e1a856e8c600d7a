/** A launch that someone looks on at: it runs in turns, from one pause to the next. */
import type { Register } from "../../compiler/ptx/func.ts";
import { TYPES } from "../../compiler/ptx/types.ts";
import { accessOf } from "../access/state.ts";
import type { Extent } from "../check/launch.ts";
import type { Line } from "../compile/lines.ts";
import type { Program } from "../compile/program.ts";
import { usesOf } from "../compile/uses.ts";
import { Fault, type Site } from "../fault.ts";
import type { Machine, WarpState } from "../machine.ts";
import type { Views } from "../memory.ts";
import { type LaunchReport, reportOf } from "../report.ts";
import { withOrigin } from "../schedule/fault_origin.ts";
import { clusterCount, gridTurns } from "../schedule/grid.ts";
import type { Slots } from "../schedule/slots.ts";
import type { LaunchFacts } from "../schedule/specials.ts";
import { mayContinue, type Observer } from "./observer.ts";

/** An instruction, by its position in the kernel. */
export interface ObservedInstruction {
  readonly site: Site;
  /** Registers that it writes. */
  readonly writes: readonly Register[];
  /** The lanes for which it does anything depend on it. */
  readonly guard: { readonly register: Register; readonly negated: boolean } | undefined;
}

/** What a turn ended with. */
export type Turn =
  | { readonly kind: "paused" }
  | { readonly kind: "ended"; readonly report: LaunchReport }
  | { readonly kind: "failed"; readonly fault: Fault };

/** A launch under observation. */
export interface ObservedLaunch {
  /** By `Step.pc`. */
  readonly instructions: readonly ObservedInstruction[];
  readonly launch: LaunchFacts;
  /** Variables in shared memory, by offset. */
  readonly shared: readonly Extent[];
  /** Runs to the next pause or to the end; after the end it does nothing. */
  turn(): Turn;
  /** The registers that instructions write, by name. */
  readonly registers: ReadonlyMap<string, Register>;
  /** The bits of one of them in a lane of a warp that has not ended; of a predicate 0 or 1. */
  read(register: Register, warp: WarpState, lane: number): bigint;
  /** Gives the memory of the launch back. */
  close(): void;
}

/** What {@linkcode observedLaunch} runs. */
export interface ObservedWork {
  readonly machine: Machine;
  readonly program: Program;
  readonly facts: LaunchFacts;
  readonly pool: Slots;
  readonly budget: number;
  readonly kernel: string;
  readonly observer: Observer;
  readonly shared: readonly Extent[];
  close(): void;
}

/** A stepping program counts about two for each instruction. */
const FUEL_PER_STEP = 2;

/** Begins an observed launch; nothing runs before its first turn. */
export function observedLaunch(work: ObservedWork): ObservedLaunch {
  const { machine, program, facts, pool, kernel } = work;
  const clusters = clusterCount(facts);
  let next = 0;
  const turns = gridTurns({
    program,
    machine,
    launch: facts,
    budget: FUEL_PER_STEP * work.budget,
    next: () => next < clusters ? next++ : undefined,
    acquire: () => pool.acquire(),
    release: (slot) => pool.release(slot),
  });
  let last: Turn = { kind: "paused" };
  const turn = (): Turn => {
    if (last.kind !== "paused") return last;
    try {
      const { done, value } = turns.next();
      if (done === true) {
        last = { kind: "ended", report: reportOf(program, machine, value, accessOf(machine)) };
      }
    } catch (error) {
      const fault = withOrigin(error, machine, kernel);
      if (!(fault instanceof Fault)) throw fault;
      mayContinue(machine, fault);
      last = { kind: "failed", fault };
    }
    return last;
  };
  const { layout } = program;
  const instructions = program.lines.map(instructionOf);
  const registers = new Map(
    instructions.flatMap(({ writes }) => writes).map((register) => [register.name, register]),
  );
  return {
    instructions,
    launch: facts,
    shared: work.shared,
    turn,
    registers,
    read: (register, { registerFile }, lane) =>
      readLane(machine.views, registerFile + layout.row(register, register.type), register, lane),
    close: () => work.close(),
  };
}

const NO_SITE: Site = { kernel: "", text: "" };

function instructionOf(line: Line | undefined): ObservedInstruction {
  if (line === undefined) return { site: NO_SITE, writes: [], guard: undefined };
  const { guard } = line.instruction;
  return { site: line.site, writes: usesOf(line).writes, guard };
}

/** The value of a lane in a row that begins at a location (`register_file.ts`). */
function readLane({ u32 }: Views, row: number, { type }: Register, lane: number): bigint {
  const { bits } = TYPES[type];
  if (bits === 1) return BigInt((u32[row >>> 2] ?? 0) >>> lane & 1);
  const words = Math.max(1, bits / 32);
  let value = 0n;
  for (let i = words - 1; i >= 0; i--) {
    value = (value << 32n) | BigInt(u32[(row >>> 2) + words * lane + i] ?? 0);
  }
  return BigInt.asUintN(bits, value);
}
