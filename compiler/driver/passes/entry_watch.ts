/** What the options of a compilation say of watching the passes of one entry. */
import type { CompileOptions } from "../../options.ts";
import type { TargetName } from "../../targets.ts";
import type { PassWatch } from "./run_passes.ts";

/** `target` is absent for what all targets share. */
export function watchEntry(
  { verify = false, clock }: CompileOptions,
  entry: string,
  target?: TargetName,
): PassWatch {
  if (clock === undefined) return { verify };
  const { now, spent } = clock;
  return {
    verify,
    now,
    after: (step, milliseconds) =>
      spent({ entry, ...(target === undefined ? {} : { target }), step, milliseconds }),
  };
}
