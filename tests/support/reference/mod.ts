/**
 * The reference interpreter: kernels as the front end understands them, run in double precision, one program
 * after the other, by language.md and not by the compiler. Small and slow; the judge of random programs.
 */
import { must } from "../../../compiler/support/bug.ts";
import type { TypedKernel } from "../../../compiler/check/tree/typed.ts";
import type { Cell } from "./cell.ts";
import { type Constants, type Extents, Program, type Visit } from "./program.ts";
import { run } from "./statements.ts";

export {
  type Cell,
  exact,
  integer,
  type Memory,
  Misbehaved,
  NotInterpreted,
  Undecided,
} from "./cell.ts";
export { pointerTo } from "./memory.ts";
export type { Constants, Extents, Visit } from "./program.ts";

/**
 * Runs a launch; buffers hold afterwards what it left in them. Throws `Undecided` where rounding decides the
 * way, `NotInterpreted` for what the reference leaves out, `Misbehaved` for wrong programs.
 */
export function interpret(
  kernel: TypedKernel,
  args: readonly Cell[],
  grid: Extents,
  constants: Constants = new Map(),
  visit?: Visit,
): void {
  for (let z = 0; z < grid[2]; z++) {
    for (let y = 0; y < grid[1]; y++) {
      for (let x = 0; x < grid[0]; x++) {
        const program = new Program([x, y, z], grid, constants, visit);
        kernel.params.forEach(({ variable }, index) =>
          program.variables.set(variable.id, [must(args[index], variable.name)])
        );
        run(program, kernel.body);
      }
    }
  }
}
