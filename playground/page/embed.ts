/** The bar of a page inside of another page: run, what there is to see, and the way to the whole page. */
import { writeAddress } from "../state/address.ts";
import { type PageState, type ViewName, VIEWS } from "../state/state.ts";
import type { App } from "./app.ts";
import { fill, h } from "./dom.ts";

/** What the address asks for beside the state. */
export interface Asked {
  readonly isEmbed: boolean;
  /** The view to show in place of the entry's. */
  readonly view: ViewName | undefined;
}

/** Reads the part of the address before `#`. */
export function askedIn(search: URLSearchParams): Asked {
  const view = search.get("view") ?? "";
  return {
    isEmbed: search.has("embed"),
    view: Object.hasOwn(VIEWS, view) ? view as ViewName : undefined,
  };
}

/** The bar; it is not there in the whole page. */
export class EmbedBar {
  readonly #parent: HTMLElement;
  readonly #run: () => void;
  readonly #link: HTMLAnchorElement;

  constructor(parent: HTMLElement, run: () => void) {
    this.#parent = parent;
    this.#run = run;
    this.#link = h(
      "a",
      { href: "./", target: "_blank", rel: "noopener" },
      "Open in the playground ↗",
    );
    parent.hidden = false;
  }

  draw({ state: { view }, known: { isRunning, status } }: App): void {
    fill(
      this.#parent,
      h(
        "button",
        { id: "run", class: "primary", click: this.#run },
        isRunning ? "Stop ■" : "Run ▶",
      ),
      h("strong", {}, VIEWS[view]),
      h("span", { class: "sentence", role: "status" }, status),
      this.#link,
    );
  }

  /** The link has everything that was changed here. */
  async follow(state: PageState): Promise<void> {
    this.#link.href = `./${await writeAddress(state)}`;
  }
}
