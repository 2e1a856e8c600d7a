/** A launch that someone walks through before it comes to its end. */
import { levelsFor } from "../check/levels.ts";
import type { EmulatedKernel, Emulator, LaunchRequest } from "../launch.ts";
import type { LaunchReport } from "../report.ts";
import type { DebugLaunch } from "./debug_launch.ts";
import { debugLaunch } from "./launch.ts";
import { snapshot } from "./snapshot.ts";

/** Lets `debug` walk, and runs what is left. */
export function walkThrough(
  { machine, heap }: Pick<Emulator, "machine" | "heap">,
  kernel: EmulatedKernel,
  request: LaunchRequest,
  debug: (launch: DebugLaunch) => void,
): LaunchReport {
  const launch = debugLaunch({
    machine,
    kernel: kernel.info.name,
    begin: (observer) => kernel.observe(request, observer),
    restore: snapshot(machine, heap),
    levels: levelsFor(request.checks),
  });
  try {
    debug(launch);
    const report = launch.finish();
    if (request.warn !== undefined) report.warnings.forEach(request.warn);
    return report;
  } finally {
    launch.close();
  }
}
