/** Estimates as a table that says what they are. */
import { printTable } from "../report/table.ts";
import type { Run } from "./arguments.ts";
import type { Estimator } from "./estimate.ts";
import { printKey } from "../../ffi/kernel/tuning/tune_file.ts";

/** The line above every ranking. */
export const ESTIMATE_NOTE =
  "An estimate by a model of occupancy, bytes and instructions: nothing was timed, nothing is written.\n";

/** The ranking of one run. */
export function printEstimate(run: Run, estimator: Estimator): string {
  const { kernel, variant, specialization, key, target } = run.group;
  const { ranking, failures } = estimator.rank(run);
  const least = ranking[0]?.cycles ?? 1;
  const table = printTable({
    columns: [
      "  configuration",
      "registers",
      "spilled bytes",
      "blocks per SM",
      "occupancy",
      "blocks",
      "MB through L2",
      "million instructions",
      "estimate",
    ],
    words: 1,
    rows: ranking.map((one) => [
      `  ${one.config}`,
      String(one.registers ?? "?"),
      String(one.spilledBytes),
      String(one.occupancy.blocks),
      `${Math.round(100 * one.occupancy.share)} %`,
      String(one.blocks),
      (one.movedBytes / 1e6).toFixed(1),
      (one.warpInstructions / 1e6).toFixed(2),
      (one.cycles / least).toFixed(2),
    ]),
  });
  const at = printKey(key, run.arguments.scalars);
  const head = `${kernel} ${variant} ${specialization} ${at} for ${target}\n`;
  const left = failures.map(({ config, reason }) => `  ${config}: dropped: ${reason}\n`);
  return [head, ranking.length === 0 ? "" : table, ...left].join("");
}
