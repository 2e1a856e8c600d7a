/** What `tri tune` prints at its end: the winner of each run, and what it gains. */
import { describe, type RunResult } from "./schedule.ts";
import { fastestFirst } from "../../ffi/kernel/tuning/tune_file.ts";

/** A paragraph per run: all configurations, the fastest first. */
export function printResults(results: readonly RunResult[]): string {
  return results.map(printResult).join("\n");
}

function printResult({ run, timed, timings, fresh }: RunResult): string {
  const order = fastestFirst(timings);
  const [best] = order;
  const least = best?.microseconds ?? NaN;
  const width = Math.max(...Object.keys(timings).map((config) => config.length));
  const rows = order.map(({ config, microseconds: time }) => {
    const factor = config === best?.config ? "" : `  ${(time / least).toFixed(2)} times as long`;
    return `  ${config.padEnd(width)}  ${Number(time.toPrecision(4))} µs${factor}`;
  });
  const failures = Object.entries(timings).flatMap(([config, timing]) =>
    "failed" in timing ? [`  ${config.padEnd(width)}  dropped: ${timing.failed}`] : []
  );
  const known = run.group.candidates.length - fresh;
  const from = known === 0 ? "" : `; ${known} of ${run.group.candidates.length} were known`;
  return [`${describe(timed)} on ${timed.gpu}${from}`, ...rows, ...failures, ""].join("\n");
}
