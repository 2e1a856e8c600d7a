/** The panel of an editor: the page's views of a launch, which the editor's debug session answers for. */
import type { PanelAnswers } from "../../cli/report/panel_answers.ts";
import { unpack } from "../../cli/report/packed.ts";
import { byId, fill, h } from "../page/dom.ts";
import { drawTabs, markTab } from "../page/tabs.ts";
import type { View } from "../page/view.ts";
import { faultsView } from "../page/view_faults.ts";
import { layoutsView } from "../page/view_layouts.ts";
import { memoryView } from "../page/view_memory.ts";
import { reportView } from "../page/view_report.ts";
import { timelineView } from "../page/view_timeline.ts";
import { valuesView } from "../page/view_values.ts";
import { VIEWS } from "../state/state.ts";
import { type Ask, PanelHost } from "./host.ts";

/** What VS Code gives a panel. */
interface Editor {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): Editor;

/** What the extension says. */
type Message =
  | { readonly kind: "answer"; readonly id: number; readonly body: { readonly value?: unknown } }
  | { readonly kind: "failure"; readonly id: number; readonly message: string }
  /** Another launch is debugged; the launch has stopped somewhere; there is none any more. */
  | { readonly kind: "began" | "stopped" | "ended" };

const MAKE = {
  values: valuesView,
  layouts: layoutsView,
  memory: memoryView,
  timeline: timelineView,
  report: reportView,
  faults: faultsView,
} as const;

type PanelView = keyof typeof MAKE;

const { values, layouts, memory, timeline, report, faults } = VIEWS;
const TITLES: Readonly<Record<PanelView, string>> = {
  ...{ values, layouts, memory, timeline, report, faults },
};

const isView = (name: unknown): name is PanelView =>
  typeof name === "string" && Object.hasOwn(MAKE, name);

const editor = acquireVsCodeApi();

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

const waiting = new Map<number, Waiting>();
let next = 0;

const ask: Ask = (name, args = {}) => {
  const id = next++;
  return new Promise((resolve, reject) => {
    // The table of answers gives the type.
    const take = (value: unknown): void => resolve(value as PanelAnswers[typeof name]);
    waiting.set(id, { resolve: take, reject });
    editor.postMessage({ kind: "ask", id, command: name, arguments: args });
  });
};

const host: PanelHost = new PanelHost({
  ask,
  reveal: (path, line) => {
    // Lines are marked; only a person's own choice moves the editor.
    const isChosen = navigator.userActivation.isActive;
    editor.postMessage({ kind: "reveal", path, line, isChosen });
  },
  changed: (change) => {
    const { view, tile } = host.state;
    editor.setState({ view, tile });
    if (change === "ran") refresh();
  },
});

const made = new Map<PanelView, { readonly view: View; readonly panel: HTMLElement }>();

/** Makes the view when it is first shown, and draws it anew. */
function refresh(): void {
  const { state: { view }, known: { outcome } } = host;
  if (!isView(view)) return;
  markTab(byId("tabs"), view);
  const count = outcome?.kind === "ran" ? outcome.findings.length : 0;
  document.querySelector("[data-view=faults]")?.classList.toggle("alarm", count > 0);
  if (outcome === undefined) return;
  let shown = made.get(view);
  if (shown === undefined) {
    const panel = h("div", { class: "panel" });
    shown = { panel, view: MAKE[view](host, panel) };
    made.set(view, shown);
  }
  fill(byId("view"), shown.panel);
  shown.view.refresh();
}

const say = (status: string): void => fill(byId("status"), status);

async function follow(): Promise<void> {
  try {
    await host.follow();
    say("");
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
  }
}

globalThis.addEventListener("message", ({ data }: MessageEvent<Message>) => {
  switch (data.kind) {
    case "answer":
      waiting.get(data.id)?.resolve(unpack(data.body.value));
      return waiting.delete(data.id);
    case "failure":
      waiting.get(data.id)?.reject(new Error(data.message));
      return waiting.delete(data.id);
    case "began":
      return host.forget();
    case "stopped":
      return void follow();
    case "ended":
      return say("The session has ended: these are its last pictures.");
  }
});

const { view, tile }: Readonly<Record<string, unknown>> = Object(editor.getState());
host.state = {
  ...host.state,
  ...isView(view) ? { view } : {},
  ...typeof tile === "string" ? { tile } : {},
};
drawTabs(byId("tabs"), TITLES, (chosen) => {
  host.choose({ view: chosen }, "view");
  refresh();
});
refresh();
void follow();
