/** The steps of a program as a picture: a row for each warp, time to the right, a colour for each line of the source. */
import type { Trace } from "../../cli/report/trace.ts";
import { type Colour, colourOfName } from "./colours.ts";
import type { Picture } from "./picture.ts";

const WAITS: Colour = [232, 234, 237];
const BARRIER: Colour = [200, 40, 40];
const COPY: Colour = [235, 140, 30];

/** So many columns at most; each is as many turns of all warps as that takes. */
const MOST_COLUMNS = 170;
/** Warps are few and steps are many. */
const TALL = 5;

/** A column of the timeline. */
export interface TimelineRange {
  /** Steps of the program, from the first to before the last. */
  readonly from: number;
  readonly to: number;
}

/** The steps of a column. */
export function rangeOfColumn(
  { steps, warps }: Pick<Trace, "steps" | "warps">,
  column: number,
): TimelineRange {
  const each = stepsOfColumn(steps.length, warps);
  return { from: column * each, to: Math.min(steps.length, (column + 1) * each) };
}

function stepsOfColumn(count: number, warps: number): number {
  return warps * Math.max(1, Math.ceil(count / (warps * MOST_COLUMNS)));
}

/** The picture. */
export function timelinePicture(trace: Trace): Picture {
  const { steps, stepWarps, stepPcs, instructions, events, warps } = trace;
  const each = stepsOfColumn(steps.length, warps);
  const lines = [...new Set(Array.from(stepPcs, (pc) => instructions[pc]?.line ?? 0))]
    .sort((a, b) => a - b);
  const colours = new Map(lines.map((line, index) => [line, colourOfName(index, lines.length)]));
  const byCell = new Map<number, string[]>();
  const key = (column: number, warp: number): number => column * warps + warp;
  for (const { at, warp, text } of events) {
    const cell = key(Math.floor(at / each), warp);
    byCell.set(cell, [...byCell.get(cell) ?? [], text]);
  }
  const isBarrier = (texts: readonly string[]): boolean =>
    texts.some((text) => text.includes("barrier"));
  return {
    title: `Program ${trace.program.join(", ")}: warps by steps`,
    columns: Math.ceil(steps.length / each),
    rows: warps,
    tall: TALL,
    cell: (column, warp) => {
      const { from, to } = rangeOfColumn(trace, column);
      const own: number[] = [];
      for (let i = from; i < to; i++) if (stepWarps[i] === warp) own.push(stepPcs[i] ?? 0);
      const last = own.at(-1);
      const line = last === undefined ? 0 : instructions[last]?.line ?? 0;
      const said = byCell.get(key(column, warp)) ?? [];
      const colour = said.length > 0
        ? isBarrier(said) ? BARRIER : COPY
        : last === undefined
        ? WAITS
        : colours.get(line) ?? WAITS;
      const what = last === undefined
        ? "waits for its turn"
        : `${line === 0 ? "" : `line ${line}: `}${instructions[last]?.text ?? ""}`;
      return {
        colour,
        text: line === 0 ? "" : String(line),
        says: `steps ${from} to ${to - 1}, warp ${warp}: ${[what, ...said].join("; ")}`,
      };
    },
    columnName: (column) => String(rangeOfColumn(trace, column).from),
    rowName: (warp) => `warp ${warp}`,
  };
}
