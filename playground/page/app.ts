/** The one store of the page: what is chosen, what is known of it, and the listeners to its changes. */
import type { Program } from "../session/program.ts";
import type { Call, NotRun } from "../session/run.ts";
import type { Look, Place } from "../../cli/report/look.ts";
import type { Tile } from "../../cli/report/tiles.ts";
import type { Trace } from "../../cli/report/trace.ts";
import type { PageState } from "../state/state.ts";
import { Client } from "./client.ts";
import type { Change, Host, Known } from "./view.ts";

/** The page's state and its worker. */
export class App implements Host {
  readonly client: Client = new Client("worker.js");
  state: PageState;
  known: Known = { problems: [], choices: [], isRunning: false, status: "" };
  /** The text that is edited, and files that it may include. */
  text = "";
  includes: Readonly<Record<string, string>> = {};
  #traced: { readonly key: string; readonly trace: Promise<Trace | NotRun> } | undefined;
  readonly #listeners: ((change: Change) => void)[] = [];

  constructor(state: PageState) {
    this.state = state;
  }

  /** The listener receives every change from now on. */
  listen(listener: (change: Change) => void): void {
    this.#listeners.push(listener);
  }

  /** Chooses something. */
  choose(chosen: Partial<PageState>, change: Change = "choice"): void {
    this.state = { ...this.state, ...chosen };
    this.#tell(change);
  }

  /** Notes what was found out. */
  learn(known: Partial<Known>, change: Change): void {
    this.known = { ...this.known, ...known };
    this.#tell(change);
  }

  /** Selects a line of the source; 0 for none. */
  select(line: number): void {
    if (this.state.line === line) return;
    this.state = { ...this.state, line };
    this.#tell("line");
  }

  /** The program as the worker takes it. */
  get program(): Program {
    const { target, kernel, variant, config } = this.state;
    return {
      name: "kernel.tc",
      text: this.text,
      includes: this.includes,
      target,
      variant,
      ...(kernel === undefined ? {} : { kernel }),
      ...(config === undefined ? {} : { config }),
    };
  }

  /** The launch as the worker takes it. */
  get call(): Call {
    const { sizes, extent, budget, fills } = this.state;
    return { sizes, extent, budget, fills, entry: "" };
  }

  /** The entry that the last launch took, or the first one. */
  get entry(): string {
    const { outcome } = this.known;
    return outcome?.kind === "ran" ? outcome.entry : "";
  }

  tiles(): Promise<readonly Tile[]> {
    return this.client.ask("tiles", this.program, this.entry);
  }

  look(place: Place): Promise<Look | NotRun> {
    return this.client.ask("look", this.program, this.call, place);
  }

  /** Asked once for each launch. */
  trace(): Promise<Trace | NotRun> {
    const key = JSON.stringify([this.program, this.call, this.state.program]);
    if (this.#traced?.key !== key) {
      const trace = this.client.ask("trace", this.program, this.call, this.state.program);
      this.#traced = { key, trace };
    }
    return this.#traced.trace;
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}
