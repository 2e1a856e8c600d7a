/** The page: reads the address, fetches the kernel, and connects editor, inputs and views with the worker. */
import { GALLERY, type GalleryEntry, INCLUDES } from "../gallery/entries.ts";
import { GUIDE } from "../gallery/guide.ts";
import { PUZZLES } from "../puzzles/puzzles.ts";
import { readAddress, writeAddress } from "../state/address.ts";
import { INITIAL, type PageState, type ViewName, VIEWS } from "../state/state.ts";
import { App } from "./app.ts";
import { byId, fill, h } from "./dom.ts";
import { createEditor, type Editor } from "./editor.ts";
import { drawInputs } from "./inputs.ts";
import { Stopped } from "./client.ts";
import { drawProblems } from "./problems.ts";
import { askedIn, EmbedBar } from "./embed.ts";
import { PuzzlePanel } from "./puzzle.ts";
import { drawTabs, markTab } from "./tabs.ts";
import { drawToolbar } from "./toolbar.ts";
import type { View } from "./view.ts";
import { contractView } from "./view_contract.ts";
import { faultsView } from "./view_faults.ts";
import { layoutsView } from "./view_layouts.ts";
import { memoryView } from "./view_memory.ts";
import { reportView } from "./view_report.ts";
import { resultView } from "./view_result.ts";
import { stagesView } from "./view_stages.ts";
import { timelineView } from "./view_timeline.ts";
import { valuesView } from "./view_values.ts";

const MAKE: Readonly<Record<ViewName, (app: App, parent: HTMLElement) => View>> = {
  stages: stagesView,
  result: resultView,
  layouts: layoutsView,
  memory: memoryView,
  timeline: timelineView,
  values: valuesView,
  report: reportView,
  contract: contractView,
  faults: faultsView,
};

/** Milliseconds after a key until the text is checked, and until all its instances are. */
const CHECK_AFTER = 120;
const CHECK_ALL_AFTER = 1500;
/** Milliseconds after a change until the address has it. */
const ADDRESS_AFTER = 400;

/** Includes and the text of an entry. */
async function fetchText(file: string): Promise<string> {
  const response = await fetch(file);
  if (!response.ok) throw new Error(`${file} does not load: ${response.status}`);
  return await response.text();
}

/** The gallery, the puzzles and the kernels of the guide. */
const ENTRIES: readonly GalleryEntry[] = [...GALLERY, ...PUZZLES, ...GUIDE];

const entryOf = (name: string): GalleryEntry | undefined =>
  ENTRIES.find((entry) => entry.name === name);

class Page {
  readonly #app: App;
  readonly #puzzle: PuzzlePanel;
  readonly #embed: EmbedBar | undefined;
  readonly #views = new Map<ViewName, { readonly view: View; readonly panel: HTMLElement }>();
  #editor: Editor | undefined;
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(state: PageState, isEmbed: boolean) {
    this.#app = new App(state);
    this.#puzzle = new PuzzlePanel(this.#app, byId("puzzle"), fetchText);
    this.#embed = isEmbed ? new EmbedBar(byId("embed"), () => void this.run()) : undefined;
  }

  async start(status: string): Promise<void> {
    const app = this.#app;
    this.#drawTabs();
    app.listen((change) => this.#on(change));
    app.includes = Object.fromEntries(
      await Promise.all(
        Object.entries(INCLUDES).map(async ([name, file]) =>
          [name, await fetchText(file)] as const
        ),
      ),
    );
    await this.#loadText();
    const words = await app.client.ask("words");
    this.#editor = createEditor(byId("editor"), app, words, {
      text: (text) => this.#edited(text),
      line: (line) => app.select(line),
    });
    app.learn({ status }, "status");
    document.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        void this.run();
      }
    }, { capture: true });
    await this.#check("chosen");
    await this.run();
  }

  /** Launches the kernel and draws. */
  async run(): Promise<void> {
    const app = this.#app;
    if (app.known.isRunning) return app.client.stop();
    app.learn({ isRunning: true }, "status");
    try {
      const outcome = await app.client.ask("run", app.program, app.call);
      app.learn({ outcome, isRunning: false }, "ran");
    } catch (error) {
      const status = error instanceof Stopped
        ? "Stopped."
        : `A defect of the page: ${error instanceof Error ? error.message : error}`;
      app.learn({ isRunning: false, status }, "status");
    }
  }

  /** Opens an entry of the gallery. */
  async open(entry: GalleryEntry): Promise<void> {
    const app = this.#app;
    app.state = { ...INITIAL, entry: entry.name, ...entry.chosen };
    await this.#loadText();
    this.#editor?.setText(app.text);
    const { outcome: _outcome, ...known } = app.known;
    app.known = { ...known, status: entry.sentence };
    this.#showView();
    await this.#check("chosen");
    await this.run();
  }

  async #loadText(): Promise<void> {
    const app = this.#app;
    const entry = entryOf(app.state.entry);
    app.text = app.state.text ?? (entry === undefined ? "" : await fetchText(entry.file));
  }

  #edited(text: string): void {
    this.#app.text = text;
    this.#app.state = { ...this.#app.state, text };
    this.#later("check", CHECK_AFTER, () => void this.#check("chosen"));
    this.#later("check all", CHECK_ALL_AFTER, () => void this.#check("all"));
  }

  async #check(which: "all" | "chosen"): Promise<void> {
    const app = this.#app;
    try {
      const [problems, choices] = await Promise.all([
        app.client.ask("problems", app.program, which),
        app.client.ask("choices", app.program),
      ]);
      app.learn({ problems, choices }, "checked");
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    }
  }

  #on(change: Parameters<Parameters<App["listen"]>[0]>[0]): void {
    const app = this.#app;
    const { view } = app.state;
    if (change === "line") {
      this.#editor?.mark(app.state.line ?? 0, true);
      this.#views.get(view)?.view.line();
    }
    if (change === "checked") {
      this.#editor?.showProblems(app.known.problems);
      const isGood = app.known.problems.every(({ severity }) => severity !== "error");
      if (isGood) this.#views.get(view)?.view.refresh();
    }
    if (change === "ran") {
      drawInputs(app, byId("inputs"));
      this.#views.get(view)?.view.refresh();
    }
    if (change === "choice") {
      this.#later("choice", 0, () => void this.#check("chosen").then(() => this.run()));
    }
    if (change !== "line") this.#drawFrame();
    this.#later("address", ADDRESS_AFTER, () => void this.#writeAddress());
  }

  #drawFrame(): void {
    const app = this.#app;
    drawProblems(app, byId("problems"));
    this.#puzzle.draw();
    this.#embed?.draw(app);
    if (this.#embed !== undefined) return;
    drawToolbar(app, byId("toolbar"), {
      run: () => void this.run(),
      open: (name) => {
        const entry = entryOf(name);
        if (entry !== undefined) void this.open(entry);
      },
      gallery: ENTRIES,
    });
    byId("status").textContent = app.known.status;
    markTab(byId("tabs"), app.state.view);
    const count = app.known.outcome?.kind === "ran" ? app.known.outcome.findings.length : 0;
    document.querySelector("[data-view=faults]")?.classList.toggle("alarm", count > 0);
  }

  #drawTabs(): void {
    drawTabs(byId("tabs"), VIEWS, (view) => {
      this.#app.choose({ view }, "view");
      this.#showView();
    });
    this.#showView();
  }

  /** Makes a view when it is first shown. */
  #showView(): void {
    const { view } = this.#app.state;
    let made = this.#views.get(view);
    if (made === undefined) {
      const panel = h("div", { class: "panel" });
      made = { panel, view: MAKE[view](this.#app, panel) };
      this.#views.set(view, made);
    }
    fill(byId("view"), made.panel);
    made.view.refresh();
    this.#drawFrame();
  }

  #later(name: string, milliseconds: number, action: () => void): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.set(name, setTimeout(action, milliseconds));
  }

  async #writeAddress(): Promise<void> {
    await this.#embed?.follow(this.#app.state);
    history.replaceState(null, "", await writeAddress(this.#app.state));
  }
}

/** On phones one of three columns is seen at a time. */
function connectColumns(): void {
  const buttons = document.querySelectorAll<HTMLElement>("#columns button");
  for (const button of buttons) {
    button.addEventListener("click", () => {
      document.body.dataset["column"] = button.dataset["column"] ?? "code";
      for (const each of buttons) each.setAttribute("aria-pressed", String(each === button));
    });
  }
}

async function main(): Promise<void> {
  connectColumns();
  const { searchParams } = new URL(location.href);
  const { isEmbed, view } = askedIn(searchParams);
  document.body.classList.toggle("embed", isEmbed);
  const read = await readAddress(location.hash);
  const named = entryOf(searchParams.get("entry") ?? INITIAL.entry);
  const opened: PageState = named === undefined
    ? INITIAL
    : { ...INITIAL, entry: named.name, ...named.chosen };
  const found = read.kind === "state" ? read.state : opened;
  const state = view === undefined ? found : { ...found, view };
  const status = read.kind === "unreadable" ? read.reason : named?.sentence ?? "";
  await new Page(state, isEmbed).start(status);
  document.body.dataset["ready"] = "yes";
  if ("serviceWorker" in navigator && !isEmbed) {
    navigator.serviceWorker.register("offline.js").catch(() => {});
  }
}

void main();
