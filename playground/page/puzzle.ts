/** The panel of a puzzle: what it asks for, whether it is solved, hints one by one, and a solution. */
import type { Judged } from "../puzzles/judge.ts";
import { type Puzzle, puzzleOf } from "../puzzles/puzzles.ts";
import type { App } from "./app.ts";
import { Stopped } from "./client.ts";
import { fill, h } from "./dom.ts";
import { renderMarkdown } from "./markdown.ts";

/** What the panel shows beside the puzzle itself. */
type Answer =
  | { readonly kind: "none" | "asked" }
  | { readonly kind: "judged"; readonly judged: Judged };

/** Drawn above the editor while the text is that of a puzzle. */
export class PuzzlePanel {
  readonly #app: App;
  readonly #parent: HTMLElement;
  readonly #fetchText: (file: string) => Promise<string>;
  #shown = "";
  readonly #answer: HTMLElement = h("div", { role: "status" });

  constructor(app: App, parent: HTMLElement, fetchText: (file: string) => Promise<string>) {
    this.#app = app;
    this.#parent = parent;
    this.#fetchText = fetchText;
  }

  /** Draws the panel anew where another puzzle is open. */
  draw(): void {
    const { entry } = this.#app.state;
    if (entry === this.#shown) return;
    this.#shown = entry;
    const puzzle = puzzleOf(entry);
    this.#parent.hidden = puzzle === undefined;
    if (puzzle === undefined) return fill(this.#parent);
    this.#say({ kind: "none" });
    fill(
      this.#parent,
      h("h2", {}, puzzle.title),
      h("p", {}, puzzle.sentence),
      h(
        "button",
        { id: "judge", class: "primary", click: () => void this.#judge(puzzle) },
        "Check with hidden inputs",
      ),
      this.#answer,
      ...puzzle.hints.map((hint, index) =>
        h("details", {}, h("summary", {}, `Hint ${index + 1}`), renderMarkdown(hint))
      ),
      this.#solution(puzzle),
    );
  }

  #solution({ solution }: Puzzle): HTMLElement {
    const text = h("pre", {});
    const details = h("details", {}, h("summary", {}, "A solution"), text);
    details.addEventListener("toggle", () => {
      if (!details.open || text.textContent !== "") return;
      void this.#fetchText(solution).then((kernel) => fill(text, kernel));
    });
    return details;
  }

  async #judge({ name }: Puzzle): Promise<void> {
    const { program, call, client } = this.#app;
    this.#say({ kind: "asked" });
    try {
      this.#say({ kind: "judged", judged: await client.ask("judge", program, call, name) });
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      this.#say({ kind: "none" });
    }
  }

  #say(answer: Answer): void {
    if (answer.kind !== "judged") {
      return fill(this.#answer, answer.kind === "asked" ? "Running …" : undefined);
    }
    const { isSolved, verdicts } = answer.judged;
    fill(
      this.#answer,
      h(
        "p",
        { class: isSolved ? "solved" : "unsolved" },
        isSolved ? "Solved: all hidden inputs give the right result." : "Not solved yet.",
      ),
      h(
        "ul",
        {},
        ...verdicts.map(({ title, passed, says }) =>
          h("li", {}, passed ? `✓ ${title}` : `✗ ${title}: ${says}`)
        ),
      ),
    );
  }
}
