/** What the page shows, as plain data: everything that an address keeps. */
import type { Fill } from "../session/inputs.ts";

/** The views, in the order of their tabs, and what each shows. */
export const VIEWS = {
  stages: "Stages",
  result: "Result",
  layouts: "Layouts",
  memory: "Memory",
  timeline: "Timeline",
  values: "Values",
  report: "Report",
  contract: "Contract",
  faults: "Faults",
} as const;

/** A view. */
export type ViewName = keyof typeof VIEWS;

/** Everything that can be chosen. */
export interface PageState {
  /** The name of a gallery entry that the text is of; empty for a text of one's own. */
  readonly entry: string;
  /** Absent: the text of the gallery entry, unchanged. */
  readonly text?: string;
  readonly target: string;
  readonly kernel?: string;
  readonly variant: Readonly<Record<string, string>>;
  readonly config?: string;
  readonly sizes: Readonly<Record<string, number>>;
  readonly extent: number;
  /** Instructions of warps after which a block is taken for one that never ends. */
  readonly budget: number;
  readonly fills: Readonly<Record<string, Fill>>;
  readonly view: ViewName;
  /** What is selected: a line of the source, a tile, a tensor. */
  readonly line?: number;
  readonly tile?: string;
  /** The program of the grid that is looked at, its warp and lane, and how many of its steps are done. */
  readonly program: readonly [x: number, y: number, z: number];
  readonly warp: number;
  readonly lane: number;
  readonly step?: number;
}

/** The state of a page on which nothing is chosen yet. */
export const INITIAL: PageState = {
  entry: "transpose",
  target: "sm_90a",
  variant: {},
  sizes: {},
  extent: 64,
  budget: 2_000_000,
  fills: {},
  view: "stages",
  program: [0, 0, 0],
  warp: 0,
  lane: 0,
};
