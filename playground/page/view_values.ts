/** Values: step through a program, and see its variables and registers where it is. */
import type { Look } from "../../cli/report/look.ts";
import type { Trace } from "../../cli/report/trace.ts";
import { numberText, valuePicture } from "../views/value_picture.ts";
import { fill, h, table } from "./dom.ts";
import { figureOf } from "./figure.ts";
import { notRunText, walkingText } from "./outcome.ts";
import { programChoice } from "./program_choice.ts";
import type { Host, View } from "./view.ts";

/** Where a person begins to look who has not said where: most values are there. */
const LATE = 0.75;

/** The view. */
export function valuesView(app: Host, parent: HTMLElement): View {
  let trace: Trace | undefined;
  let look: Look | undefined;
  const refresh = async (): Promise<void> => {
    if (app.known.outcome?.kind !== "ran") return fill(parent, notRunText(app.known));
    if (trace === undefined) fill(parent, walkingText());
    const made = await app.trace().catch(() => undefined);
    if (made?.kind !== "trace") return;
    trace = made;
    const last = Math.max(0, trace.steps.length - 1);
    await go(Math.min(app.state.step ?? Math.floor(LATE * last), last));
  };
  const go = async (step: number): Promise<void> => {
    if (trace === undefined) return;
    app.choose({ step }, "view");
    const { warp, lane } = app.state;
    const place = { step: trace.steps[step] ?? 0, program: trace.program, warp, lane };
    const seen = await app.look(place).catch(() => undefined);
    if (seen?.kind !== "look") return;
    look = seen;
    draw();
    if (seen.line > 0) app.select(seen.line);
  };
  const draw = (): void => {
    if (trace === undefined || look === undefined) return;
    const { values, registers, instruction } = look;
    const set = registers.filter(({ isSet }) => isSet);
    const tiles = values.filter(({ shape }) => shape.length > 0);
    const numbers = values.filter(({ shape }) => shape.length === 0)
      .map((value) => [value.name, value.type, numberText(value)]);
    fill(
      parent,
      controls(trace),
      h("pre", { class: "next" }, instruction === "" ? "the program has ended" : instruction),
      numbers.length === 0 ? undefined : table("", ["number", "type", "value"], numbers),
      tiles.length === 0 ? undefined : h(
        "div",
        { class: "figures" },
        ...tiles.map((value) => figureOf(valuePicture(value), { width: 260, height: 220 })),
      ),
      h(
        "details",
        { open: values.length === 0 },
        h(
          "summary",
          {},
          `Registers of lane ${app.state.lane}, warp ${app.state.warp}: ${set.length} set`,
        ),
        table(
          "",
          ["register", "type", "value"],
          set.map(({ name, type, text }) => [
            `%${name}`,
            type,
            text,
          ]),
        ),
      ),
    );
  };
  const controls = (made: Trace): HTMLElement => {
    const step = app.state.step ?? 0;
    const last = made.steps.length - 1;
    const slider = h("input", {
      type: "range",
      min: 0,
      max: last,
      value: step,
      "aria-label": "step",
      change: () => void go(Number(slider.value)),
    });
    const button = (text: string, name: string, to: number): HTMLElement =>
      h("button", { "aria-label": name, title: name, click: () => void go(to) }, text);
    const number = (name: "warp" | "lane", most: number): HTMLElement => {
      const input = h("input", {
        type: "number",
        min: 0,
        max: most,
        value: app.state[name],
        change: () => {
          app.choose({ [name]: Math.max(0, Math.min(most, Number(input.value))) }, "view");
          void go(step);
        },
      });
      return h("label", { class: "choice" }, h("span", {}, name), input);
    };
    return h(
      "div",
      { class: "bar" },
      programChoice(app, made.grid, () => void refresh()),
      number("warp", made.warps - 1),
      number("lane", 31),
      button("|◀", "first step", 0),
      button("◀◀", "statement before", statementFrom(made, app.state.warp, step, -1)),
      button("◀", "step before", Math.max(0, step - 1)),
      slider,
      button("▶", "next step", Math.min(last, step + 1)),
      button("▶▶", "next statement", statementFrom(made, app.state.warp, step, 1)),
      button("▶|", "last step", last),
      h("span", {}, `${step} of ${last}`),
    );
  };
  return { refresh: () => void refresh(), line: () => {} };
}

/** The nearest step in a direction at which a warp comes to another line. */
function statementFrom(
  { stepWarps, stepPcs, instructions, steps }: Trace,
  warp: number,
  step: number,
  direction: 1 | -1,
): number {
  const lineAt = (at: number): number => instructions[stepPcs[at] ?? 0]?.line ?? 0;
  const here = lineAt(step);
  for (let at = step + direction; at >= 0 && at < steps.length; at += direction) {
    const line = lineAt(at);
    if (stepWarps[at] === warp && line !== 0 && line !== here) return at;
  }
  return direction > 0 ? Math.max(0, steps.length - 1) : 0;
}
