/** Which code of an instance a launch takes: the first of its forms whose demands the launch meets, else its entry. */
import type { PreparedLaunch } from "../../driver.ts";
import { ArgumentError, LaunchError } from "../../errors.ts";
import { describeValue } from "../../arguments/values.ts";
import type { CallArguments } from "../call/call_arguments.ts";
import { SIZES } from "../arithmetic.ts";
import type { Condition, FormFacts, Persistence } from "../facts/facts.ts";
import type { Stream } from "../../stream.ts";
import type { Queues } from "./queues.ts";
import type { MapSlot } from "./tensor_maps.ts";
import { takesSeveral, takesTurns, turnsOf } from "./turns.ts";
import type { FormChoice, Grid } from "../types.ts";

/** Code on a device with an argument block of its own. */
export interface Launcher {
  readonly prepared: PreparedLaunch;
  /** The argument block. */
  readonly view: DataView;
  /** Of code whose blocks do several programs in turn. */
  readonly turns?: {
    readonly persistent: Persistence;
    /** Where the numbers that it takes lie in the argument block. */
    readonly numbersAt: readonly number[];
    /** Programs that the device does at a time: one for each multiprocessor, or as many clusters as fit. */
    readonly atOnce: number;
    /** Those of the module. */
    readonly queues: Queues;
  };
}

/** Blocks to launch for a grid; code whose blocks do several programs gets its numbers. */
export function blocksOf(
  { view, turns }: Pick<Launcher, "view" | "turns">,
  grid: Grid,
  stream: Pick<Stream, "recording">,
): Grid {
  if (turns === undefined) return grid;
  const { persistent, atOnce, queues } = turns;
  const queue = persistent === "several" ? queues.of(stream) : undefined;
  const { blocks, numbers } = turnsOf(persistent, grid, atOnce, queue);
  turns.numbersAt.forEach((at, i) => view.setUint32(at, numbers[i] ?? 0, true));
  return blocks;
}

const NO_OFFSETS = "the driver does not say where its tensor maps go (before CUDA 12.4)";

const NO_TURNS = "each block would do one program";
const FEW_TURNS = "blocks would do fewer than two programs each";

/** A form with an argument block of its own. */
export interface FormLauncher<Name extends string> extends Launcher {
  readonly maps: readonly MapSlot<Name>[];
}

/** A form of an instance, loaded when a launch first meets its conditions. */
export interface Form<Name extends string> {
  readonly facts: FormFacts<Name>;
  readonly multiprocessors: number;
  /** Undefined where the driver does not report where the maps lie in the argument block. */
  launcher(): FormLauncher<Name> | undefined;
}

/** The option of a call. */
export function readFormChoice(kernel: string, value: unknown): FormChoice | undefined {
  if (value === undefined || value === "plain" || value === "fast") return value;
  throw new ArgumentError({
    argument: `form of ${kernel}`,
    expected: '"plain" or "fast"',
    actual: describeValue(value),
  });
}

/** The first form for the launch, with its maps in its argument block; undefined where none is for it. */
export function takeForm<Name extends string>(
  call: CallArguments<Name>,
  forms: readonly Form<Name>[],
): FormLauncher<Name> | undefined {
  for (const form of forms) {
    if (problemOf(call, form) !== undefined) continue;
    const launcher = form.launcher();
    if (launcher === undefined) continue;
    for (const map of launcher.maps) map.write();
    return launcher;
  }
  return undefined;
}

/** What keeps a form from the launch in hand: a condition that does not hold, or something else, as a clause. */
function problemOf<Name extends string>(
  { values }: CallArguments<Name>,
  { facts, multiprocessors, launcher }: Form<Name>,
): Condition<Name> | string | undefined {
  try {
    for (const condition of facts.when) if (!condition.holds(values)) return condition;
    const grid = [values.gridX, values.gridY, values.gridZ] as const;
    if (facts.persistent === "xyz" && !takesTurns(grid, multiprocessors)) return NO_TURNS;
    const loaded = launcher();
    if (loaded === undefined) return NO_OFFSETS;
    const { atOnce = multiprocessors } = loaded.turns ?? {};
    if (facts.persistent === "several" && !takesSeveral(grid, atOnce)) return FEW_TURNS;
    for (const map of loaded.maps) {
      const problem = map.find(values);
      if (problem !== undefined) return problem;
    }
    return undefined;
  } catch (error) {
    // A number that is not exact in a double: the entry may not need it.
    if (error instanceof ArgumentError && error.argument === SIZES) return error.message;
    throw error;
  }
}

/** The error where a form was asked for and none is for the launch. */
export function noFormError<Name extends string>(
  call: CallArguments<Name>,
  symbol: string,
  target: string,
  forms: readonly Form<Name>[],
): LaunchError {
  const reasons = forms.map((form) => {
    const problem = problemOf(call, form);
    if (typeof problem !== "object") return `${form.facts.symbol}: ${problem}`;
    const { text } = problem;
    return `${form.facts.symbol}: ${text} does not hold with ${call.explain(text)}`;
  });
  return new LaunchError(
    `Cannot launch a faster form of ${symbol} (${
      reasons.join("; ") || `its code for ${target} has none`
    })`,
    { hint: 'without `form: "fast"`, the entry itself is launched' },
  );
}
