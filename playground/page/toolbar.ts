/** The bar at the top: gallery, target, kernel, variant, configuration, run, share. */
import type { GalleryEntry } from "../gallery/entries.ts";
import { ALL_TARGETS } from "../../compiler/targets.ts";
import { writeAddress } from "../state/address.ts";
import type { App } from "./app.ts";
import { type Child, choice, fill, h } from "./dom.ts";

/** What the bar can do. */
export interface ToolbarActions {
  readonly run: () => void;
  readonly open: (name: string) => void;
  readonly gallery: readonly GalleryEntry[];
}

/** Draws the bar. */
export function drawToolbar(app: App, parent: HTMLElement, actions: ToolbarActions): void {
  const { state, known: { isRunning } } = app;
  // A list that is open is not drawn anew.
  if (parent.contains(document.activeElement) && document.activeElement?.tagName === "SELECT") {
    const run = parent.querySelector("#run");
    if (run !== null) run.textContent = isRunning ? "Stop ■" : "Run ▶";
    return;
  }
  fill(
    parent,
    galleryChoice(state.entry, actions),
    choice(
      "Target",
      Object.keys(ALL_TARGETS).map((name) => [name, name]),
      state.target,
      (target) => app.choose({ target }),
    ),
    ...kernelChoices(app),
    h("span", { class: "grow" }),
    h(
      "button",
      { id: "run", class: "primary", click: actions.run },
      isRunning ? "Stop ■" : "Run ▶",
    ),
    h("button", { click: () => void share(app) }, "Share"),
    h("button", { click: () => save(app) }, "Save .tc"),
  );
}

function galleryChoice(entry: string, { gallery, open }: ToolbarActions): HTMLElement {
  const groups = [...new Set(gallery.map(({ group }) => group))];
  const select = h(
    "select",
    { change: () => open(select.value) },
    ...groups.map((group) =>
      h(
        "optgroup",
        { label: group },
        ...gallery.filter((each) => each.group === group).map(({ name, title, sentence }) =>
          h("option", { value: name, selected: name === entry, title: sentence }, title)
        ),
      )
    ),
  );
  return h("label", { class: "choice" }, h("span", {}, "Gallery"), select);
}

/** Only what is a choice is shown. */
function kernelChoices(app: App): Child[] {
  const { state, known: { choices } } = app;
  const chosen = choices.find(({ kernel }) => kernel === state.kernel) ?? choices[0];
  if (chosen === undefined) return [];
  const variant =
    chosen.variants.find(({ bindings }) =>
      Object.entries(bindings).every(([name, value]) => state.variant[name] === value)
    ) ?? chosen.variants[0];
  return [
    choices.length < 2 ? undefined : choice(
      "Kernel",
      choices.map(({ kernel }) => [kernel, kernel]),
      chosen.kernel,
      (kernel) => app.choose({ kernel }),
    ),
    chosen.variants.length < 2 ? undefined : choice(
      "Variant",
      chosen.variants.map(({ name }) => [name, name]),
      variant?.name ?? "",
      (name) => {
        const { bindings } = chosen.variants.find((each) => each.name === name) ?? {};
        const { config: _config, ...rest } = app.state;
        app.state = rest;
        app.choose({ variant: bindings ?? {} });
      },
    ),
    chosen.configs.length < 2 ? undefined : choice(
      "Configuration",
      [["", "first"], ...chosen.configs.map((label) => [label, label] as const)],
      state.config ?? "",
      (label) => {
        const { config: _config, ...rest } = app.state;
        app.state = rest;
        app.choose(label === "" ? {} : { config: label });
      },
    ),
  ];
}

async function share(app: App): Promise<void> {
  const fragment = await writeAddress(app.state);
  history.replaceState(null, "", fragment);
  try {
    await navigator.clipboard.writeText(location.href);
    app.learn({ status: "The link is copied. Everything is in it; nothing was sent." }, "status");
  } catch {
    app.learn({ status: "The link is in the address bar." }, "status");
  }
}

function save(app: App): void {
  const url = URL.createObjectURL(new Blob([app.text], { type: "text/plain" }));
  h("a", { href: url, download: `${app.state.entry || "kernel"}.tc` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
