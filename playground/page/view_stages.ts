/** Stages side by side; lines that come from one line of the source are marked together. */
import { type Stage, type StageName, STAGES } from "../session/stages.ts";
import type { App } from "./app.ts";
import { fill, h } from "./dom.ts";
import type { View } from "./view.ts";

const TITLES: Readonly<Record<StageName, string>> = {
  ast: "Syntax tree",
  types: "Typed tree",
  ir: "Tile IR",
  layout: "With layouts",
  plan: "Plan",
  ptx: "PTX",
};

/** How many fit beside each other; the first ones chosen give way. */
const BESIDE = 2;

/** The view. */
export function stagesView(app: App, parent: HTMLElement): View {
  let chosen: readonly StageName[] = ["ir", "ptx"];
  let stages: readonly Stage[] = [];
  const bar = h("div", { class: "bar", role: "group", "aria-label": "Stages" });
  const panes = h("div", { class: "panes" });
  parent.append(bar, panes);

  const toggle = (name: StageName): void => {
    const others = chosen.filter((each) => each !== name);
    chosen = others.length < chosen.length && others.length > 0
      ? others
      : [...others, name].slice(-BESIDE);
    void refresh();
  };
  const drawBar = (): void =>
    fill(
      bar,
      ...STAGES.map((name) =>
        h("button", {
          class: "tab",
          "aria-pressed": String(chosen.includes(name)),
          click: () => toggle(name),
        }, TITLES[name])
      ),
    );
  const mark = (isShown: boolean): void => {
    const { line = 0 } = app.state;
    for (const pane of panes.querySelectorAll("pre")) {
      let first: Element | undefined;
      for (const row of pane.children) {
        const isLinked = line !== 0 && row.getAttribute("data-line") === String(line);
        row.classList.toggle("linked", isLinked);
        if (isLinked) first ??= row;
      }
      if (isShown && first instanceof HTMLElement) {
        pane.scrollTo({ top: first.offsetTop - pane.offsetTop - 60 });
      }
    }
  };
  const draw = (): void => {
    drawBar();
    fill(panes, ...stages.map((stage) => paneOf(stage, (line) => app.select(line))));
    mark(true);
  };
  const refresh = async (): Promise<void> => {
    drawBar();
    const order = STAGES.filter((name) => chosen.includes(name));
    stages = await app.client.ask("stages", app.program, order, app.entry).catch(() => stages);
    draw();
  };
  return {
    refresh: () => void refresh(),
    line: () => mark(!panes.matches(":hover")),
  };
}

function paneOf({ name, text, links }: Stage, select: (line: number) => void): HTMLElement {
  const lines = text.replace(/\n$/, "").split("\n");
  const rows = lines.map((line, index) => {
    const link = links[index] ?? 0;
    return h("div", link === 0 ? {} : { "data-line": link }, line === "" ? " " : line);
  });
  const pre = h("pre", { tabindex: 0, "aria-label": TITLES[name] }, ...rows);
  pre.addEventListener("click", ({ target }) => {
    const line = target instanceof HTMLElement ? target.dataset["line"] : undefined;
    if (line !== undefined) select(Number(line));
  });
  return h("section", { class: "pane" }, h("h3", {}, TITLES[name]), pre);
}
