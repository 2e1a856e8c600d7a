/** What asynchronous instructions read their operands with, and reach memory through. */
import type { Operand } from "../../compiler/ptx/func.ts";
import type { BoundOperand, Match } from "../../compiler/ptx/match.ts";
import { must } from "../../compiler/support/bug.ts";
import { accessOf } from "../access/state.ts";
import { attend } from "../check/order.ts";
import { checkRemote } from "../check/remote.ts";
import { Fault, type Site } from "../fault.ts";
import { LANES } from "../register_file.ts";
import type { BlockState, Machine } from "../machine.ts";
import { SHARED_OFFSET_MASK, SHARED_RANK_SHIFT, WINDOW } from "../memory.ts";

export { addressOf as addressAt } from "../access/reach.ts";

const TWO_32 = 2 ** 32;

/** The operand of a form's name, if the instruction has it. */
export function findOperand(match: Match, name: string): Operand | undefined {
  return match.operands.find((operand: BoundOperand) => operand.name === name)?.operand;
}

/** The operand of a form's name, which the form always has. */
export function operandOf(match: Match, name: string): Operand {
  return must(findOperand(match, name), `operand ${name} of ${match.opcode}`);
}

/** Calls a function for every lane of a mask, lane 0 first. */
export function eachLane(mask: number, visit: (lane: number) => void): void {
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) !== 0) visit(lane);
  }
}

/** A lane's value in a row of 32 bits. */
export function wordAt(machine: Machine, w: number, row: number, lane: number): number {
  return machine.views.u32[((w + row) >>> 2) + lane] ?? 0;
}

export function hex(address: number): string {
  return `0x${address.toString(16)}`;
}

/** Bytes of shared memory, and the block that they belong to. */
export interface SharedRange {
  readonly block: BlockState;
  readonly location: number;
  /** Offset in the shared memory of its block. */
  readonly offset: number;
}

/** What an instruction demands of an address of shared memory. */
export interface SharedDemand {
  /** What it is, for messages: "destination". */
  readonly what: string;
  /** Whether the address is a generic one. */
  readonly generic: boolean;
  /** Whether it may belong to another block of the cluster. */
  readonly cluster: boolean;
  readonly align: number;
}

/** The bytes of shared memory at an address; faults if they are not there. */
export function sharedRange(
  machine: Machine,
  address: number,
  bytes: number,
  demand: SharedDemand,
  lane: number,
  site: Site,
): SharedRange {
  const { what, generic, cluster, align } = demand;
  const fail = (kind: "out of bounds" | "misaligned", detail: string): never => {
    throw new Fault(kind, `${what} ${hex(address)} ${detail}`, lane, site);
  };
  const window = Math.floor(address / TWO_32);
  if (window !== (generic ? WINDOW.shared : 0)) fail("out of bounds", "is not in shared memory");
  const low = address % TWO_32;
  const rank = low >>> SHARED_RANK_SHIFT;
  const offset = low & SHARED_OFFSET_MASK;
  const block = rank === 0 ? machine.block : machine.block.cluster[rank - 1];
  if (block === undefined) {
    return fail("out of bounds", `is of block ${rank - 1} of a cluster that has none of this rank`);
  }
  if (block !== machine.block) {
    if (!cluster) fail("out of bounds", "is in the shared memory of another block of the cluster");
    noteRemote(machine, block, lane, site);
  }
  if (offset % align !== 0) fail("misaligned", `is not a multiple of ${align}`);
  if (offset + bytes > block.sharedBytes) {
    fail(
      "out of bounds",
      `with ${bytes} bytes goes past the ${block.sharedBytes} bytes of shared memory`,
    );
  }
  return { block, location: block.shared + offset, offset };
}

/** Notes that a lane reaches the shared memory of another block, which must not exit before. */
export function noteRemote(machine: Machine, block: BlockState, lane: number, site: Site): void {
  if (!machine.checks) return;
  const access = accessOf(machine);
  attend(access.order, machine);
  checkRemote(access, block, lane, site);
}

/** What an instruction demands of an address of global memory. */
export interface GlobalDemand {
  readonly what: string;
  readonly align: number;
  /** Windows that it may be in. */
  readonly windows?: readonly number[];
}

/** The location of bytes at an address of global memory; faults if they are not there. */
export function globalLocation(
  machine: Machine,
  address: number,
  bytes: number,
  demand: GlobalDemand,
  lane: number,
  site: Site,
): number {
  const { what, align, windows = [WINDOW.global] } = demand;
  const fail = (kind: "out of bounds" | "misaligned", detail: string): never => {
    throw new Fault(kind, `${what} ${hex(address)} ${detail}`, lane, site);
  };
  // Addresses of symbols are locations.
  const window = Math.floor(address / TWO_32);
  if (window !== 0 && !windows.includes(window)) fail("out of bounds", "is not in global memory");
  const location = address % TWO_32;
  if (location % align !== 0) fail("misaligned", `is not a multiple of ${align}`);
  if (location + bytes > machine.views.u8.length) fail("out of bounds", "is not in any allocation");
  return location;
}
