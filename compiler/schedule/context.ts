/** What a pass of this folder is, and what it may ask. */
import type { Func } from "../ir/func.ts";
import type { AxisFacts } from "../tile/axis.ts";
import type { Target } from "../targets.ts";

export interface ScheduleContext {
  readonly target: Target;
  /** Slots for what loops load; undefined: as many as are worth while. */
  readonly numStages: number | undefined;
  /** Facts of the function as it is when the pass begins. */
  readonly axisInfo: () => AxisFacts;
}

export interface SchedulePass {
  readonly name: string;
  /** What it does, in one line. */
  readonly doc: string;
  /** Edits the function; true if it changed anything. */
  readonly run: (func: Func, context: ScheduleContext) => boolean;
}
