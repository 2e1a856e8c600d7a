/** The tabs of the views. */
import { fill, h } from "./dom.ts";

/** Draws a tab for each view, by its name and title; `choose` is called with the name. */
export function drawTabs<Name extends string>(
  parent: HTMLElement,
  titles: Readonly<Record<Name, string>>,
  choose: (view: Name) => void,
): void {
  const views = Object.keys(titles) as Name[];
  const tabs = views.map((view) =>
    h("button", {
      role: "tab",
      "data-view": view,
      "aria-controls": "view",
      click: () => choose(view),
    }, titles[view])
  );
  fill(parent, ...tabs);
}

/** Marks the tab of the view that is shown. */
export function markTab(parent: HTMLElement, shown: string): void {
  for (const tab of parent.querySelectorAll<HTMLElement>("button")) {
    tab.setAttribute("aria-selected", String(tab.dataset["view"] === shown));
  }
}
