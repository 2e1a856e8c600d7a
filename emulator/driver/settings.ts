/** What a program can say of the emulator that it opens. */
import { nearest } from "../../compiler/support/spelling.ts";
import { ArgumentError } from "../../ffi/errors.ts";
import type { EmulatorWarning } from "../../ffi/profile.ts";
import { processorThreads } from "../../ffi/threads/processors.ts";
import { describeValue } from "../../ffi/arguments/values.ts";
import {
  CHECK_LEVELS,
  CHECK_NAMES,
  type CheckChoice,
  type CheckLevel,
  type CheckLevels,
  type CheckName,
  levelsFor,
} from "../check/levels.ts";
import type { DebugLaunch } from "../debug/debug_launch.ts";
import { type Architecture, ARCHITECTURES, DEFAULT_ARCHITECTURE } from "./architectures.ts";

/** Options of the emulator. */
export interface EmulatorSettings {
  /** The architecture that it is, such as "sm_75"; "sm_90" when absent. */
  readonly arch?: string | undefined;
  /**
   * What is checked while kernels run. True, the default: everything. False: nothing, which is several times faster.
   * An object says for each check by its name whether what it finds is thrown ("error"), listed as a warning ("warn"),
   * or not looked for ("off"); checks that it does not name have their default.
   */
  readonly checks?: boolean | CheckChoice | undefined;
  /**
   * Instructions of warps after which a block is stopped as one that never ends, and the most blocks of a grid; 10^8
   * when absent.
   */
  readonly budget?: number | undefined;
  /** How many threads of the processor run the blocks of large launches; as many as it has when absent. */
  readonly workers?: number | undefined;
  /** Takes what kernels print; the console when absent. Blocks that run in other threads print there. */
  readonly print?: ((text: string) => void) | undefined;
  /** Takes each warning of a check once; written to the standard error stream when absent. */
  readonly warn?: ((warning: EmulatorWarning) => void) | undefined;
  /**
   * Is called for each launch before it runs, and may walk through it: see docs/debugger.md. When it returns, the launch
   * runs to its end. Such launches run in one thread.
   */
  readonly debug?: ((launch: DebugLaunch) => void) | undefined;
}

/** The settings with their defaults. */
export interface ResolvedSettings {
  readonly arch: string;
  readonly architecture: Architecture;
  readonly levels: CheckLevels;
  readonly budget: number;
  readonly workers: number;
  readonly debug: ((launch: DebugLaunch) => void) | undefined;
}

const DEFAULT_BUDGET = 1e8;

/** Fills in defaults; throws `ArgumentError` for what the emulator does not know. */
export function resolveSettings(settings: EmulatorSettings): ResolvedSettings {
  const { arch = DEFAULT_ARCHITECTURE, checks = true } = settings;
  const { budget = DEFAULT_BUDGET, workers = processorThreads(), debug } = settings;
  const architecture = ARCHITECTURES.get(arch);
  if (architecture === undefined) {
    throw new ArgumentError({
      argument: "arch",
      expected: `one of ${[...ARCHITECTURES.keys()].join(", ")}`,
      actual: describeValue(arch),
    });
  }
  const levels = levelsFor(parseChecks(checks));
  checkCount("budget", budget);
  checkCount("workers", workers);
  if (debug !== undefined && typeof debug !== "function") {
    const expected = "a function of a launch";
    throw new ArgumentError({ argument: "debug", expected, actual: describeValue(debug) });
  }
  return { arch, architecture, levels, budget, workers, debug };
}

function checkCount(argument: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 1) return;
  throw new ArgumentError({
    argument,
    expected: "an integer from 1",
    actual: describeValue(value),
  });
}

/** What `checks` says; throws for names and levels that there are none of. */
function parseChecks(checks: unknown): boolean | CheckChoice {
  if (typeof checks === "boolean") return checks;
  if (typeof checks !== "object" || checks === null || Array.isArray(checks)) {
    throw new ArgumentError({
      argument: "checks",
      expected: 'true, false or levels by name, such as { races: "warn" }',
      actual: describeValue(checks),
    });
  }
  const choice: { [Name in CheckName]?: CheckLevel } = {};
  for (const [key, value] of Object.entries(checks)) {
    const name = CHECK_NAMES.find((known) => known === key);
    if (name === undefined) {
      const near = nearest(key, CHECK_NAMES);
      throw new ArgumentError(
        {
          argument: "checks",
          expected: `names among ${CHECK_NAMES.join(", ")}`,
          actual: JSON.stringify(key),
        },
        near === undefined ? {} : { hint: `did you mean \`${near}\`?` },
      );
    }
    const level = CHECK_LEVELS.find((known) => known === value);
    if (level !== undefined) choice[name] = level;
    else if (value !== undefined) {
      throw new ArgumentError({
        argument: `checks.${name}`,
        expected: '"error", "warn" or "off"',
        actual: describeValue(value),
      });
    }
  }
  return choice;
}
