/** A comparison as text: what changed, then how much did not. */
import type { Change, Comparison } from "../../bench/mod.ts";

/** Lines that got faster or slower, the largest change first, a count of the rest, and notes. */
export function printComparison({ changes, notes }: Comparison): string {
  const moved = changes.filter(({ verdict }) => verdict !== "same")
    .toSorted((a, b) =>
      Math.abs(Math.log(b.after / b.before)) - Math.abs(Math.log(a.after / a.before))
    );
  const same = changes.length - moved.length;
  return [
    ...moved.map(printChange),
    `${moved.length} of ${changes.length} changed, ${same} did not, as far as the samples show`,
    ...notes.map((note) => `note: ${note}`),
  ].map((line) => `${line}\n`).join("");
}

function printChange({ benchmark, line, x, before, after, p, verdict }: Change): string {
  const percent = 100 * (after / before - 1);
  const sign = percent > 0 ? "+" : "";
  const times = `${before.toPrecision(4)} ms, then ${after.toPrecision(4)} ms`;
  return `${verdict}: ${benchmark}, ${line}, ${x}: ${times} (${sign}${percent.toFixed(1)}%, p ${
    p.toPrecision(2)
  })`;
}
