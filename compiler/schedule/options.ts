/** What staging asks of what it is done for. */
import type { AxisFacts } from "../tile/axis.ts";
import type { Target } from "../targets.ts";

export interface StageOptions {
  readonly target: Target;
  /** Slots for what loops load; undefined: as many as are worth while. */
  readonly numStages: number | undefined;
  /** More slots than `numStages` have been tried and do not fit. */
  readonly isCramped: boolean;
  readonly axisInfo: AxisFacts;
}
