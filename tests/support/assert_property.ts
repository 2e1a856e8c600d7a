/**
 * `assert` of fast-check with an eighth of the cases that a test names: its properties are most of the time of a run, and each run
 * has other inputs. `TRI_SAMPLES=all` tries all cases; so does a run that names a count itself (`TRI_FUZZ=20000`).
 */
import {
  assert as assertAll,
  type IAsyncProperty,
  type IProperty,
  type Parameters,
} from "fast-check";
import { TAKES_ALL } from "./sampled.ts";

/** Variables that say how many cases a run tries. */
const COUNTS = ["PROGRAMS", "FUZZ", "GROWTH", "LONG", "RUNS", "CALLS", "PROPERTY_RUNS"];

const PART = TAKES_ALL || COUNTS.some((name) => Deno.env.has(`TRI_${name}`)) ? 1 : 1 / 8;

/** Runs a property on random inputs; throws when it fails, with the smallest input that was found. */
export function assert<Inputs>(
  property: IAsyncProperty<Inputs>,
  parameters?: Parameters<Inputs>,
): Promise<void>;
export function assert<Inputs>(
  property: IProperty<Inputs>,
  parameters?: Parameters<Inputs>,
): void;
export function assert<Inputs>(
  property: IAsyncProperty<Inputs> | IProperty<Inputs>,
  parameters: Parameters<Inputs> = {},
): Promise<void> | void {
  const { numRuns = 100 } = parameters;
  return assertAll(property, { ...parameters, numRuns: Math.ceil(numRuns * PART) });
}
