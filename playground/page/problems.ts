/** The list of problems below the editor; each leads to its line and mends itself where it can. */
import type { Problem } from "../session/check.ts";
import type { App } from "./app.ts";
import { fill, h } from "./dom.ts";
import { renderMarkdown } from "./markdown.ts";

/** Draws the list. */
export function drawProblems(app: App, parent: HTMLElement): void {
  const { problems } = app.known;
  fill(
    parent,
    problems.length === 0
      ? h("p", { class: "quiet" }, "No problems")
      : h("ul", {}, ...problems.map((problem) => row(app, problem))),
  );
}

function row(app: App, problem: Problem): HTMLElement {
  const { code, severity, line, message } = problem;
  const text = h("div", {});
  const explain = async (): Promise<void> => {
    const response = await fetch("explanations.json");
    const known: Readonly<Record<string, string>> = await response.json();
    fill(text, renderMarkdown(known[code] ?? ""));
  };
  return h(
    "li",
    { class: severity },
    h("button", { class: "link", click: () => app.select(line) }, `line ${line}`),
    h("button", { class: "link", title: "Explain", click: () => void explain() }, code),
    h("span", {}, message),
    text,
  );
}
