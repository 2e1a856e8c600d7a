/** The panel below the editor: sizes, and what tensors are filled with. */
import { DEFAULT_FILL, type Fill, FILL_NAMES } from "../session/inputs.ts";
import type { App } from "./app.ts";
import { choice, fill, h } from "./dom.ts";

/** Draws the panel; a change launches anew. */
export function drawInputs(app: App, parent: HTMLElement): void {
  const { outcome } = app.known;
  const { sizes, fills } = app.state;
  const ran = outcome?.kind === "ran" ? outcome : undefined;
  const names = [...new Set([...Object.keys(ran?.scalars ?? {}), ...Object.keys(sizes)])];
  const read = ran?.tensors.filter(({ role }) => role !== "out").map(({ name }) => name) ?? [];
  const tensors = [...new Set([...read, ...Object.keys(fills)])];
  fill(
    parent,
    h(
      "div",
      { class: "sizes" },
      ...names.map((name) => {
        const input = h("input", {
          type: "number",
          value: sizes[name] ?? ran?.scalars[name] ?? 0,
          change: () => {
            app.choose({ sizes: { ...app.state.sizes, [name]: Number(input.value) } });
          },
        });
        return h("label", { class: "choice" }, h("span", {}, name), input);
      }),
    ),
    h("div", { class: "sizes" }, ...tensors.map((name) => fillChoice(app, name))),
  );
}

function fillChoice(app: App, name: string): HTMLElement {
  const chosen = app.state.fills[name] ?? DEFAULT_FILL;
  const set = (filled: Fill): void => {
    app.choose({ fills: { ...app.state.fills, [name]: filled } });
  };
  const kinds = choice(
    name,
    FILL_NAMES.map((kind) => [kind, kind]),
    chosen.kind,
    (value) => set(fillOf(value)),
  );
  if (chosen.kind === "random") {
    const seed = h("input", {
      type: "number",
      value: chosen.seed,
      "aria-label": `seed of ${name}`,
      change: () => set({ kind: "random", seed: Number(seed.value) }),
    });
    kinds.append(seed);
  }
  if (chosen.kind === "numbers") {
    const numbers = h("input", {
      type: "text",
      value: chosen.values.join(" "),
      "aria-label": `numbers of ${name}`,
      change: () => set({ kind: "numbers", values: numbersOf(numbers.value) }),
    });
    kinds.append(numbers);
  }
  return kinds;
}

function fillOf(kind: string): Fill {
  const name = FILL_NAMES.find((each) => each === kind) ?? "random";
  if (name === "random") return { kind: name, seed: 1 };
  return name === "numbers" ? { kind: name, values: [1, 2, 3] } : { kind: name };
}

const numbersOf = (text: string): number[] =>
  (text.match(/[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/gi) ?? []).map(Number);
