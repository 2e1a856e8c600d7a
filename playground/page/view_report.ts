/** Counters of the last launch. */
import { fill, h, table } from "./dom.ts";
import { launchLine, notRunText } from "./outcome.ts";
import type { Host, View } from "./view.ts";

/** The view. */
export function reportView(app: Host, parent: HTMLElement): View {
  const refresh = (): void => {
    const { outcome } = app.known;
    if (outcome?.kind !== "ran" || outcome.profile === undefined) {
      return fill(parent, notRunText(app.known));
    }
    const { profile } = outcome;
    const { global, shared, instructions } = profile;
    const perWarp = profile.warpInstructions === 0
      ? 0
      : profile.threadInstructions / profile.warpInstructions;
    fill(
      parent,
      launchLine(outcome),
      h(
        "div",
        { class: "figures" },
        table("Launch", ["", "count"], [
          ["blocks", String(profile.grid.reduce((a, b) => a * b, 1))],
          ["threads of a block", String(profile.block.reduce((a, b) => a * b, 1))],
          ["instructions of warps", String(profile.warpInstructions)],
          ["lanes that took part, on average", perWarp.toFixed(1)],
          ["barriers", String(profile.barriers)],
          ["divergent branches", String(profile.divergentBranches)],
        ]),
        table("Memory", ["", "count"], [
          ["requests of global memory", String(global.requests)],
          ["bytes asked for", String(global.bytes)],
          ["sectors of 32 bytes", String(global.sectors)],
          ["the fewest that would do", String(global.idealSectors)],
          ["requests of shared memory", String(shared.requests)],
          ["wavefronts", String(shared.wavefronts)],
          ["bank conflicts", String(shared.bankConflicts)],
        ]),
        table(
          "Instructions of warps by class",
          ["class", "count"],
          Object.entries(instructions).sort(([, a], [, b]) => b - a).map(([name, count]) => [
            name,
            String(count),
          ]),
        ),
      ),
      h(
        "p",
        { class: "quiet" },
        "The emulator counts; it does not time. Its order of warps is one of many.",
      ),
    );
  };
  return { refresh, line: () => {} };
}
