/** The variables, as a launch has them, of its entry. */
import type { LoopRange, SourceNames } from "../../compiler/support/variables.ts";

/** The names of a launch. */
export interface LaunchNames {
  readonly names: SourceNames;
  /** By `Step.pc`: the number of the instruction in the text. */
  readonly numbers: readonly number[];
  /** By `Step.pc`, as {@linkcode SourceNames.loops} are by number. */
  readonly loops: readonly LoopRange[];
}
