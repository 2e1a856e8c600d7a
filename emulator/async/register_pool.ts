/**
 * setmaxnreg: warps give registers back to their block, and take them from what others gave. A block has as many as it was
 * launched with, so a warp that wants more than are left waits; if no warp gives any, for ever, as on hardware.
 * Source: PTX ISA 9.0, 9.7.19.5 "setmaxnreg".
 */
import type { Match } from "../../compiler/ptx/match.ts";
import { TARGETS } from "../../compiler/targets.ts";
import { Fault } from "../fault.ts";
import type { BlockState, HandlerContext, WarpFunction, WarpState } from "../machine.ts";

/** Registers of a multiprocessor that has the instruction. */
const REGISTERS = TARGETS.sm_90a.registersPerSm;
/** The most registers that a thread has. */
const MOST = 255;
/** Registers are handed out in units of this, per thread. */
const UNIT = 8;
/** What the instruction takes. */
const RANGE = { least: 24, most: 256 } as const;

interface Pool {
  /** Per thread, of a whole warp. */
  free: number;
  /** What each warp has per thread. */
  readonly held: Map<WarpState, number>;
  readonly initial: number;
}

const pools = new WeakMap<BlockState, Pool>();

/** Registers per thread at the launch: as the kernel says, or as many as its blocks leave room for. */
function initialCount({ threads }: BlockState, { surroundings }: HandlerContext): number {
  const { most, blocks } = surroundings?.registers() ?? { most: undefined, blocks: 1 };
  if (most !== undefined) return most;
  return Math.min(MOST, Math.floor(REGISTERS / (threads * blocks) / UNIT) * UNIT);
}

function poolOf(context: HandlerContext): Pool {
  const { block } = context.machine;
  let pool = pools.get(block);
  if (pool === undefined) {
    pool = { free: 0, held: new Map(), initial: initialCount(block, context) };
    pools.set(block, pool);
  }
  return pool;
}

/** The instruction has no effect in kernels whose block size is not known to the assembler. */
const isIgnored = ({ surroundings }: HandlerContext): boolean =>
  surroundings?.registers().isBlockSizeKnown !== true;

/** Whether the running warp may have so many registers per thread now. */
export function mayGrow(context: HandlerContext, count: number): boolean {
  if (isIgnored(context)) return true;
  const { free, held, initial } = poolOf(context);
  return count - (held.get(context.machine.warp) ?? initial) <= free;
}

export function setMaxRegisters(match: Match, context: HandlerContext): WarpFunction {
  const { machine, site } = context;
  const fail = (detail: string): never => {
    throw new Fault("illegal instruction", detail, undefined, site);
  };
  const [operand] = match.operands;
  const count = operand === undefined ? 0 : Number(context.literal(operand.operand));
  if (count < RANGE.least || count > RANGE.most || count % UNIT !== 0) {
    fail(
      `setmaxnreg takes multiples of ${UNIT} from ${RANGE.least} to ${RANGE.most}, not ${count}`,
    );
  }
  const grows = match.modifiers.includes("inc");
  return () => {
    if (isIgnored(context)) return;
    const pool = poolOf(context);
    const before = pool.held.get(machine.warp) ?? pool.initial;
    if (grows ? count < before : count > before) {
      fail(
        `setmaxnreg.${grows ? "inc" : "dec"} to ${count} registers of a warp that has ${before}`,
      );
    }
    pool.free -= count - before;
    pool.held.set(machine.warp, count);
  };
}
