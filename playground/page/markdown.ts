/** The Markdown of hovers and explanations as elements: paragraphs, lists, blocks and spans of code, bold words. */
import { type Child, h } from "./dom.ts";

/** Elements for a text. Nothing of it is taken for HTML. */
export function renderMarkdown(text: string): HTMLElement {
  const parts = text.split(/^```[^\n]*\n([^]*?)^```$/m);
  return h(
    "div",
    { class: "markdown" },
    ...parts.flatMap((part, index) =>
      index % 2 === 1 ? [h("pre", {}, part.trimEnd())] : part.split(/\n{2,}/).flatMap(paragraph)
    ),
  );
}

function paragraph(text: string): HTMLElement[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return [];
  if (lines.every((line) => line.startsWith("- "))) {
    return [h("ul", {}, ...lines.map((line) => h("li", {}, ...spans(line.slice(2)))))];
  }
  return [h("p", {}, ...spans(lines.join(" ")))];
}

function spans(text: string): Child[] {
  return text.split(/(`[^`]*`|\*\*[^*]*\*\*)/).map((part) => {
    if (part.startsWith("`")) return h("code", {}, part.slice(1, -1));
    if (part.startsWith("**")) return h("strong", {}, part.slice(2, -2));
    return part;
  });
}
