/** What views have in common: what they show and whom they ask, and what they can be asked for. */
import type { Look, Place } from "../../cli/report/look.ts";
import type { Tile } from "../../cli/report/tiles.ts";
import type { Trace } from "../../cli/report/trace.ts";
import type { Problem } from "../session/check.ts";
import type { KernelChoice } from "../session/choices.ts";
import type { NotRun, Ran } from "../session/run.ts";
import type { PageState } from "../state/state.ts";

/** What was found out. */
export interface Known {
  readonly problems: readonly Problem[];
  readonly choices: readonly KernelChoice[];
  /** The last launch. */
  readonly outcome?: Ran | NotRun;
  /** One that others are compared with. */
  readonly pinned?: { readonly title: string; readonly ran: Ran };
  readonly isRunning: boolean;
  /** What the page says about itself. */
  readonly status: string;
}

/** A reason to draw again. */
export type Change = "text" | "choice" | "view" | "line" | "checked" | "ran" | "status";

/** Where views are: the page with its worker, or a panel of an editor with its debugger. */
export interface Host {
  readonly state: PageState;
  readonly known: Known;
  /** Chooses something. */
  choose(chosen: Partial<PageState>, change?: Change): void;
  /** Notes what was found out. */
  learn(known: Partial<Known>, change: Change): void;
  /** Selects a line of the source; 0 for none. */
  select(line: number): void;
  /** The tiles of the entry that was launched. */
  tiles(): Promise<readonly Tile[]>;
  /** What the chosen program of the last launch did. */
  trace(): Promise<Trace | NotRun>;
  /** What there is at a step of the last launch. */
  look(place: Place): Promise<Look | NotRun>;
}

/** A view. */
export interface View {
  /** The program, the choices or the launch have changed: ask again and draw. */
  refresh(): void;
  /** The selected line has changed. */
  line(): void;
}
