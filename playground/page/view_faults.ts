/** What the emulator found: each mistake once, with both sides of a conflict. */
import type { Finding } from "../../cli/report/finding.ts";
import { lineOfSource } from "../views/traffic.ts";
import { type Side, sidesOf } from "../views/fault_sides.ts";
import { fill, h } from "./dom.ts";
import { launchLine, notRunText } from "./outcome.ts";
import type { Host, View } from "./view.ts";

/** The view. */
export function faultsView(app: Host, parent: HTMLElement): View {
  const refresh = (): void => {
    const { outcome } = app.known;
    if (outcome?.kind !== "ran") return fill(parent, notRunText(app.known));
    const { findings } = outcome;
    fill(
      parent,
      launchLine(outcome),
      findings.length === 0
        ? h(
          "p",
          {},
          "Every access was inside its tensor, aligned, of written memory, and ordered with the others.",
        )
        : undefined,
      ...findings.map((finding) => findingCard(app, finding)),
    );
    const line = lineOfSource(findings[0]?.source);
    if (line > 0) app.select(line);
  };
  return { refresh, line: () => {} };
}

function findingCard(app: Host, finding: Finding): HTMLElement {
  const { kind, detail, hint, source, instruction, block, thread, isLast } = finding;
  const sides = sidesOf(finding);
  const place = [
    ...block === undefined ? [] : [`block ${block.join(", ")}`],
    ...thread === undefined ? [] : [`thread ${thread.join(", ")}`],
  ].join(", ");
  return h(
    "article",
    { class: "finding" },
    h("h3", {}, kind, isLast ? " (the launch ended here)" : ""),
    sides === undefined
      ? h(
        "div",
        {},
        h("p", {}, detail),
        h("p", {}, place, " ", lineButton(app, lineOfSource(source))),
        instruction === undefined ? undefined : h("pre", {}, instruction),
      )
      : h(
        "div",
        {},
        h("p", {}, "Both touch ", h("strong", {}, sides.place), ", and nothing orders them:"),
        h("div", { class: "sides" }, sideCard(app, sides.before), sideCard(app, sides.now)),
      ),
    hint === "" ? undefined : h("p", { class: "quiet" }, hint),
  );
}

function sideCard(app: Host, { who, does, instruction, line }: Side): HTMLElement {
  return h(
    "div",
    { class: "side" },
    h("p", {}, h("strong", {}, who), ` ${does} `, lineButton(app, line)),
    instruction === "" ? undefined : h("pre", {}, instruction),
  );
}

function lineButton(app: Host, line: number): HTMLElement | undefined {
  if (line === 0) return undefined;
  return h("button", { class: "link", click: () => app.select(line) }, `line ${line}`);
}
