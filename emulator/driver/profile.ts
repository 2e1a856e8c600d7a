/** What a launch counted, as the run time shows it. */
import type { GlobalTraffic, LaunchProfile, SharedTraffic } from "../../ffi/profile.ts";
import type { AccessCounters } from "../count/counters.ts";
import type { LaunchReport } from "../report.ts";
import { sourceOf, warningOf } from "./failure.ts";

/** The profile of a launch. */
export function profileOf(
  report: LaunchReport,
  launch: Pick<LaunchProfile, "kernel" | "grid" | "block">,
): LaunchProfile {
  const { instructions, warpInstructions, threadInstructions, barriers, divergentBranches } =
    report;
  return {
    ...launch,
    instructions,
    warpInstructions,
    threadInstructions,
    ...traffic(report.access),
    accesses: report.sites.map(({ site, counters }) => ({
      instruction: site.text,
      source: sourceOf(site),
      ...traffic(counters),
    })),
    barriers,
    divergentBranches,
    warnings: report.warnings.map((each) => warningOf(each, launch.kernel)),
  };
}

function traffic(counters: AccessCounters): {
  readonly global: GlobalTraffic;
  readonly shared: SharedTraffic;
} {
  const { requests, bytes, sectors, idealSectors } = counters;
  const { sharedRequests, wavefronts, bankConflicts } = counters;
  return {
    global: { requests, bytes, sectors, idealSectors },
    shared: { requests: sharedRequests, wavefronts, bankConflicts },
  };
}
