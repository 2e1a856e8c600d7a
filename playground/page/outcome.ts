/** What the page says of a launch above its pictures, and where there was none. */
import type { Ran } from "../session/run.ts";
import { h } from "./dom.ts";
import type { Known } from "./view.ts";

/** One line: which entry ran, with what, for how long. */
export function launchLine({ entry, scalars, profile, milliseconds, findings }: Ran): HTMLElement {
  const list = Object.entries(scalars).map(([name, value]) => `${name}=${value}`).join(" ");
  const grid = profile === undefined
    ? ""
    : `, grid ${profile.grid.join(" × ")}, block ${
      profile.block[0]
    } threads, ${profile.warpInstructions} instructions of warps`;
  const faults = findings.length === 0
    ? "nothing found"
    : `${findings.length} mistake${findings.length === 1 ? "" : "s"} found`;
  return h(
    "p",
    { class: "launch" },
    h("code", {}, entry),
    ` ${list}${grid}, ${milliseconds.toFixed(0)} ms on the emulator; `,
    findings.length === 0 ? faults : h("strong", {}, faults),
  );
}

/** Why there is nothing to see. */
export function notRunText({ outcome, isRunning }: Known): HTMLElement {
  if (outcome?.kind === "not run") {
    return h(
      "div",
      { class: "refused" },
      h("p", {}, h("strong", {}, "The launch is refused: "), outcome.reason),
      outcome.hint === "" ? undefined : h("p", {}, outcome.hint),
    );
  }
  return h("p", { class: "quiet" }, isRunning ? "Running …" : "Run (Ctrl+Enter) shows this.");
}

/** While a launch is walked through. */
export function walkingText(): HTMLElement {
  return h("p", { class: "quiet" }, "Walking through the launch …");
}
