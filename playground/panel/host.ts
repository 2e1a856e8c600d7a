/** What the views of a panel show and whom they ask: the launch that an editor debugs, by requests of its adapter. */
import type { Look, Place } from "../../cli/report/look.ts";
import type { PanelAnswers, PanelState } from "../../cli/report/panel_answers.ts";
import type { Tile } from "../../cli/report/tiles.ts";
import type { Trace } from "../../cli/report/trace.ts";
import type { Change, Host, Known } from "../page/view.ts";
import type { NotRun } from "../session/run.ts";
import { INITIAL, type PageState } from "../state/state.ts";

/** Asks the debug adapter; fails where there is none. */
export type Ask = <Name extends keyof PanelAnswers>(
  name: Name,
  args?: Readonly<Record<string, unknown>>,
) => Promise<PanelAnswers[Name]>;

/** What the panel does beside its views. */
export interface PanelActions {
  readonly ask: Ask;
  /** Shows a line of a file in the editor. */
  readonly reveal: (path: string, line: number) => void;
  /** Receives every change. */
  readonly changed: (change: Change) => void;
}

const NO_TRACE: NotRun = { kind: "not run", reason: "the launch has no programs", hint: "" };

/** The panel's store. */
export class PanelHost implements Host {
  state: PageState = { ...INITIAL, entry: "", view: "values" };
  known: Known = { problems: [], choices: [], isRunning: false, status: "" };
  readonly #actions: PanelActions;
  #at: PanelState | undefined;
  /** Answers that hold as long as the launch is the same. */
  #tiles: Promise<readonly Tile[]> | undefined;
  #profile: Promise<PanelAnswers["tri/profile"]> | undefined;
  readonly #traces = new Map<string, Promise<Trace | undefined>>();
  /** The step of a trace at which the launch is, where it is one of the chosen program. */
  #here: number | undefined;

  constructor(actions: PanelActions) {
    this.#actions = actions;
  }

  /** Another launch is debugged. */
  forget(): void {
    this.#tiles = undefined;
    this.#profile = undefined;
    this.#traces.clear();
  }

  /** Asks where the launch is. */
  async follow(): Promise<void> {
    const { ask, changed } = this.#actions;
    const at = await ask("tri/state");
    this.#profile ??= ask("tri/profile");
    const counted = await this.#profile;
    this.#at = at;
    const { entry, scalars, findings, program, warp, lane } = at;
    const { step: _step, ...kept } = this.state;
    this.state = { ...kept, program, warp, lane };
    const outcome = { kind: "ran", entry, scalars, tensors: [], findings, printed: "" } as const;
    this.known = { ...this.known, outcome: { ...outcome, ...counted } };
    changed("ran");
  }

  choose(chosen: Partial<PageState>, change: Change = "choice"): void {
    this.state = { ...this.state, ...chosen };
    this.#actions.changed(change);
  }

  learn(known: Partial<Known>, change: Change): void {
    this.known = { ...this.known, ...known };
    this.#actions.changed(change);
  }

  select(line: number): void {
    if (this.#at !== undefined) this.#actions.reveal(this.#at.path, line);
  }

  tiles(): Promise<readonly Tile[]> {
    this.#tiles ??= this.#actions.ask("tri/tiles");
    return this.#tiles;
  }

  async trace(): Promise<Trace | NotRun> {
    const { program } = this.state;
    const key = program.join();
    const asked = this.#traces.get(key) ?? this.#actions.ask("tri/trace", { program });
    this.#traces.set(key, asked);
    const trace = await asked;
    if (trace === undefined) return NO_TRACE;
    this.#here = key === this.#at?.program.join()
      ? stepAt(trace.steps, this.#at.position)
      : undefined;
    if (this.#here !== undefined && this.state.step === undefined) {
      this.state = { ...this.state, step: this.#here };
    }
    return trace;
  }

  /** Where the launch is already it is not moved: its program may have ended, or wait for its turn. */
  look({ step, ...focus }: Place): Promise<Look> {
    const isHere = this.#here !== undefined && this.state.step === this.#here;
    return this.#actions.ask("tri/look", isHere ? focus : { ...focus, step });
  }
}

/** The first step that is not before a position; the last one if all are. */
function stepAt(steps: Uint32Array, position: number): number {
  const found = steps.findIndex((step) => step >= position);
  return found < 0 ? Math.max(0, steps.length - 1) : found;
}
