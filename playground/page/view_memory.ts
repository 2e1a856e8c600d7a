/** Memory: sectors and bank conflicts per line, and the same of a run that was pinned for comparison. */
import type { Ran } from "../session/run.ts";
import type { Trace, TracedAccess } from "../../cli/report/trace.ts";
import { requestFacts, requestPicture } from "../views/request_picture.ts";
import { type LineTraffic, trafficByLine, wasteOf } from "../views/traffic.ts";
import { choice, fill, h, table } from "./dom.ts";
import { figureOf } from "./figure.ts";
import { launchLine, notRunText } from "./outcome.ts";
import { programChoice } from "./program_choice.ts";
import type { Host, View } from "./view.ts";

/** The view. */
export function memoryView(app: Host, parent: HTMLElement): View {
  const refresh = (): void => {
    const { outcome, pinned } = app.known;
    if (outcome?.kind !== "ran" || outcome.profile === undefined) {
      return fill(parent, notRunText(app.known));
    }
    const pin = (): void => {
      const title = app.state.entry === "" ? "your kernel" : app.state.entry;
      app.learn({ pinned: { title, ran: outcome } }, "ran");
    };
    fill(
      parent,
      launchLine(outcome),
      h(
        "div",
        { class: "bar" },
        h("button", { click: pin }, "Pin this run"),
        pinned === undefined
          ? h("span", { class: "quiet" }, "A pinned run is shown beside later ones.")
          : h("span", {}, `Pinned: ${pinned.title}, ${pinned.ran.entry}`),
      ),
      totals(outcome, pinned),
      trafficTable(app, outcome),
      requests,
    );
    void drawRequests();
  };
  let chosen: number | undefined;
  const requests = h("section", { class: "requests" });
  const drawRequests = async (): Promise<void> => {
    const trace = await app.trace().catch(() => undefined);
    if (trace?.kind !== "trace") return;
    const seen = trace.accesses.filter(({ space }) => space === "global" || space === "shared");
    const index = chosen !== undefined && chosen < seen.length ? chosen : worstOf(seen);
    const access = seen[index];
    if (access === undefined) return fill(requests, h("p", { class: "quiet" }, "No requests."));
    const labels = seen.slice(0, MOST_REQUESTS).map((each, index) =>
      [String(index), labelOf(each, trace)] as const
    );
    fill(
      requests,
      h("h3", {}, "One request"),
      h(
        "div",
        { class: "bar" },
        programChoice(app, trace.grid, () => void drawRequests()),
        choice("Request", labels, String(index), (value) => {
          chosen = Number(value);
          void drawRequests();
          const line = trace.instructions[seen[Number(value)]?.pc ?? 0]?.line ?? 0;
          if (line > 0) app.select(line);
        }),
      ),
      h("p", {}, factsLine(access)),
      figureOf(requestPicture(access), { width: 680, height: 480 }),
      h("pre", {}, trace.instructions[access.pc]?.text ?? ""),
    );
  };
  return { refresh, line: () => {} };
}

/** A list of more is of no use. */
const MOST_REQUESTS = 400;

function labelOf({ verb, space, warp, pc, tensor }: TracedAccess, { instructions }: Trace): string {
  const where = space === "shared" ? "shared memory" : tensor || "global memory";
  return `line ${instructions[pc]?.line ?? 0}: ${verb}, ${where}, warp ${warp}`;
}

/** The request that wastes most; the first one if none does. */
function worstOf(accesses: readonly TracedAccess[]): number {
  const wastes = accesses.slice(0, MOST_REQUESTS).map((access) => {
    const { sectors, idealSectors, conflicts } = requestFacts(access);
    return sectors - idealSectors + conflicts;
  });
  return Math.max(0, wastes.indexOf(Math.max(...wastes)));
}

function factsLine(access: TracedAccess): string {
  const { lanes, bytes, sectors, idealSectors, passes, conflicts } = requestFacts(access);
  const cost = access.space === "shared"
    ? `${passes} passes, ${conflicts === 0 ? "no" : conflicts} bank conflicts`
    : `${sectors} sectors, where ${idealSectors} would do`;
  return `${lanes} lanes ask for ${bytes} bytes: ${cost}`;
}

function totals(
  { profile }: Ran,
  pinned: { readonly title: string; readonly ran: Ran } | undefined,
): HTMLElement {
  const other = pinned?.ran.profile;
  const rows: readonly (readonly [string, number, number | undefined])[] = [
    ["sectors of global memory", profile?.global.sectors ?? 0, other?.global.sectors],
    ["the fewest that would do", profile?.global.idealSectors ?? 0, other?.global.idealSectors],
    ["requests of global memory", profile?.global.requests ?? 0, other?.global.requests],
    ["requests of shared memory", profile?.shared.requests ?? 0, other?.shared.requests],
    ["bank conflicts", profile?.shared.bankConflicts ?? 0, other?.shared.bankConflicts],
    ["barriers", profile?.barriers ?? 0, other?.barriers],
  ];
  const most = Math.max(1, ...rows.flatMap(([, own, pin]) => [own, pin ?? 0]));
  return table(
    "This run, and the pinned one",
    ["", "this run", "", ...other === undefined ? [] : ["pinned", ""]],
    rows.map(([name, own, pin]) => [
      name,
      String(own),
      bar(own / most, ""),
      ...pin === undefined ? [] : [String(pin), bar(pin / most, "pinned")],
    ]),
  );
}

/** A bar of a share of the widest one. */
function bar(share: number, kind: string): HTMLElement {
  const element = h("span", { class: `share ${kind}` });
  element.style.width = `${Math.round(100 * share)}px`;
  return element;
}

function trafficTable(app: Host, { profile }: Ran): HTMLElement {
  const lines = trafficByLine(profile?.accesses ?? []);
  const link = ({ line }: LineTraffic): HTMLElement =>
    h("button", { class: "link", click: () => app.select(line) }, line === 0 ? "–" : `${line}`);
  return table(
    "Per line of the source",
    ["line", "requests", "sectors", "ideal", "", "shared", "wavefronts", "conflicts"],
    lines.map((each) => [
      link(each),
      String(each.requests),
      String(each.sectors),
      String(each.idealSectors),
      wasteOf(each),
      String(each.sharedRequests),
      String(each.wavefronts),
      String(each.bankConflicts),
    ]),
  );
}
