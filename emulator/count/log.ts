/** The counters of a launch, by instruction, in one thread of the host. */
import type { Site } from "../fault.ts";
import {
  type AccessCounters,
  addCounters,
  type CountScratch,
  newCounters,
  newCountScratch,
} from "./counters.ts";

/** Counters of an instruction. */
export interface SiteCounters {
  readonly site: Site;
  readonly counters: AccessCounters;
}

/** What an instruction counts with; `launch` is the last one that it counted in. */
export interface CountingSite {
  readonly site: Site;
  launch: number;
  counters: AccessCounters;
}

export class CounterLog {
  readonly scratch: CountScratch = newCountScratch();
  #launch = 0;
  #counted: CountingSite[] = [];

  /** Begins a launch with nothing counted. */
  start(): void {
    this.#launch++;
    this.#counted = [];
  }

  /** The counters of an instruction in this launch. */
  of(counting: CountingSite): AccessCounters {
    if (counting.launch !== this.#launch) {
      counting.launch = this.#launch;
      counting.counters = newCounters();
      this.#counted.push(counting);
    }
    return counting.counters;
  }

  /** What this launch counted so far. */
  sites(): SiteCounters[] {
    return this.#counted.map(({ site, counters }) => ({ site, counters }));
  }
}

export function countingSite(site: Site): CountingSite {
  return { site, launch: -1, counters: newCounters() };
}

/** The sum over instructions. */
export function sumCounters(sites: readonly SiteCounters[]): AccessCounters {
  return sites.reduce((sum, { counters }) => addCounters(sum, counters), newCounters());
}
