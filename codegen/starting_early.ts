/** Images whose entries wait for the grids before them (`compiler/ptx/wait_for_grids.ts`). */
import { ALL_TARGETS } from "../compiler/targets.ts";

const EARLY: ReadonlySet<string> = new Set(
  Object.values(ALL_TARGETS).filter(({ startsEarly }) => startsEarly).map(({ name }) => name),
);

/** Whether code for a target waits. */
export function startsEarly(target: string): boolean {
  return EARLY.has(target);
}
