/**
 * What a pass over tile IR is, and its queries. The list of all passes, in order, is `compiler/driver/passes/passes.ts`.
 */
import type { Func } from "../ir/func.ts";
import type { FloatOptions } from "../support/float_options.ts";
import type { Target } from "../targets.ts";
import type { AxisFacts } from "./axis.ts";

/** In order: `tile` passes run once for all targets, the others for each target, on a copy of the function. */
export const PHASES = ["tile", "layout", "schedule"] as const;
export type Phase = (typeof PHASES)[number];

/**
 * Which code of an entry is made: `plain` serves every launch; `tensor` has tensor maps as parameters and serves those
 * that meet the conditions of its views (`compiler/views`); `turns` is the same with blocks that do several programs in
 * turn, for chains of dots in short loops (`compiler/schedule/programs/loop_programs.ts`); `ring` has rows that start anywhere in a
 * ring of slots, which blocks do in turn (`compiler/schedule/programs/ring_rows.ts`); `shifted` accesses such rows by
 * aligned vectors (`compiler/layout/rows/shifted_rows.ts`).
 */
export const FORMS = ["plain", "tensor", "turns", "ring", "shifted"] as const;
export type Form = typeof FORMS[number];

/** Facts about the function, computed at the first query and kept until a pass changes the function. */
export interface Analyses {
  readonly axisInfo: () => AxisFacts;
}

/** Queries of a pass of the phase `tile`. There is no target: all targets share its result. */
export interface TileContext extends Analyses {
  readonly floats: FloatOptions;
}

/** Queries of a pass of the other phases. */
export interface TargetContext extends TileContext {
  readonly target: Target;
  readonly form: Form;
  readonly numWarps: number;
  /** Blocks of a program. */
  readonly numCtas: number;
  /** Slots for the dot operands that loops load; chosen by the pass if absent. */
  readonly numStages: number | undefined;
  /** Registers that a thread may use. */
  readonly maxRegisters: number | undefined;
}

export interface Pass<Context = TileContext> {
  /** The word that dumps, messages and the command line use; the file has the same name. */
  readonly name: string;
  /** What it does, in one line. */
  readonly doc: string;
  /** Edits the function; true if it changed anything. */
  readonly run: (func: Func, context: Context) => boolean;
}

/** A pass that asks for nothing but the function. */
export interface PlainPass extends Pass<unknown> {
  readonly run: (func: Func) => boolean;
}
