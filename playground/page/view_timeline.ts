/** The timeline: warps by steps of one program, with barriers and copies. */
import type { Trace } from "../../cli/report/trace.ts";
import { rangeOfColumn, timelinePicture } from "../views/timeline_picture.ts";
import { fill, h, table } from "./dom.ts";
import { figureOf } from "./figure.ts";
import { notRunText, walkingText } from "./outcome.ts";
import { programChoice } from "./program_choice.ts";
import type { Host, View } from "./view.ts";

/** Events beyond these are counted, not listed. */
const MOST_EVENTS = 200;

/** The view. */
export function timelineView(app: Host, parent: HTMLElement): View {
  const refresh = async (): Promise<void> => {
    if (app.known.outcome?.kind !== "ran") return fill(parent, notRunText(app.known));
    if (parent.querySelector("figure") === null) fill(parent, walkingText());
    const trace = await app.trace().catch(() => undefined);
    if (trace?.kind !== "trace") return;
    draw(trace);
  };
  const draw = (trace: Trace): void => {
    const picture = timelinePicture(trace);
    const pointed = (column: number, warp: number): void => {
      const { from, to } = rangeOfColumn(trace, column);
      for (let i = to - 1; i >= from; i--) {
        if (trace.stepWarps[i] !== warp) continue;
        const line = trace.instructions[trace.stepPcs[i] ?? 0]?.line ?? 0;
        if (line > 0) app.select(line);
        return;
      }
    };
    fill(
      parent,
      h("div", { class: "bar" }, programChoice(app, trace.grid, refresh)),
      figureOf(picture, { width: 700, height: 400, onCell: pointed }),
      h(
        "p",
        { class: "quiet" },
        "Red: a barrier. Orange: an asynchronous copy. Other colours: lines of the source. A step is an " +
          "instruction of a warp; steps are no times, and the order of warps is one of many.",
      ),
      trace.isCut ? h("p", {}, "The program is longer; the first part is shown.") : undefined,
      eventTable(app, trace),
    );
  };
  return { refresh: () => void refresh(), line: () => {} };
}

/** Equal events of one step, such as the copies of a warp's lanes. */
function grouped(
  events: Trace["events"],
): { readonly event: Trace["events"][number]; count: number }[] {
  const groups: { readonly event: Trace["events"][number]; count: number }[] = [];
  for (const event of events) {
    const last = groups.at(-1);
    if (last?.event.at === event.at && last.event.text === event.text) last.count++;
    else groups.push({ event, count: 1 });
  }
  return groups;
}

function eventTable(app: Host, { events, instructions }: Trace): HTMLElement {
  const groups = grouped(events);
  const rest = groups.length - MOST_EVENTS;
  return table(
    `Barriers and copies${rest > 0 ? `, the first ${MOST_EVENTS} of ${groups.length}` : ""}`,
    ["step", "warp", "what", "line"],
    groups.slice(0, MOST_EVENTS).map(({ event: { at, warp, text, pc }, count }) => {
      const line = instructions[pc]?.line ?? 0;
      return [
        String(at),
        String(warp),
        count === 1 ? text : `${text} (${count} times)`,
        line === 0
          ? ""
          : h("button", { class: "link", click: () => app.select(line) }, String(line)),
      ];
    }),
  );
}
