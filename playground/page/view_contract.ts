/** The contract: what a launch must fulfil, for the sizes that are chosen, and why it is refused. */
import type { EntryContract } from "../session/contract.ts";
import type { App } from "./app.ts";
import { fill, h, table } from "./dom.ts";
import { notRunText } from "./outcome.ts";
import type { View } from "./view.ts";

/** The view. */
export function contractView(app: App, parent: HTMLElement): View {
  let contracts: readonly EntryContract[] = [];
  const draw = (): void => {
    const { outcome } = app.known;
    const taken = app.entry;
    fill(
      parent,
      outcome?.kind === "not run" ? notRunText(app.known) : undefined,
      contracts.length === 0
        ? h("p", { class: "quiet" }, "The text has an error: there is no contract.")
        : undefined,
      ...contracts.map((contract) => contractTable(contract, contract.entry === taken)),
    );
  };
  const refresh = async (): Promise<void> => {
    contracts = await app.client.ask("contracts", app.program, app.call).catch(() => contracts);
    draw();
  };
  return { refresh: () => void refresh(), line: () => {} };
}

function contractTable({ entry, rows, isTaken }: EntryContract, isLast: boolean): HTMLElement {
  const verdict = isLast
    ? "the launch took this entry"
    : isTaken
    ? "its conditions hold"
    : "a condition does not hold";
  const shown = table(
    "",
    ["", "contract", "for these sizes"],
    rows.map(({ about, text, value, holds }) => [
      about,
      h("code", {}, text),
      holds === undefined
        ? value
        : h("span", { class: holds ? "good" : "bad" }, `${holds ? "✓" : "✗"} ${value}`),
    ]),
  );
  const summary = h("summary", {}, h("code", {}, entry), `: ${verdict}`);
  return h("details", { open: isLast, class: "contract" }, summary, shown);
}
