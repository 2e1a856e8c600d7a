/** What a program can say of the emulator that it opens. */
import { ArgumentError } from "../../errors.ts";
import { processorThreads } from "../../threads/processors.ts";
import { describeValue } from "../../values.ts";
import { type Architecture, ARCHITECTURES, DEFAULT_ARCHITECTURE } from "./architectures.ts";

/** Options of the emulator. */
export interface EmulatorSettings {
  /** The architecture that it is, such as "sm_75"; "sm_90" when absent. */
  readonly arch?: string | undefined;
  /**
   * Whether accesses are checked: bounds, alignment, use after free, races and uninitialised memory. On when absent;
   * kernels run several times faster without.
   */
  readonly checks?: boolean | undefined;
  /** Instructions of warps after which a block is stopped as one that never ends; 10^8 when absent. */
  readonly budget?: number | undefined;
  /** How many threads of the processor run the blocks of large launches; as many as it has when absent. */
  readonly workers?: number | undefined;
  /** Takes what kernels print; the console when absent. Blocks that run in other threads print there. */
  readonly print?: ((text: string) => void) | undefined;
}

/** The settings with their defaults. */
export interface ResolvedSettings {
  readonly arch: string;
  readonly architecture: Architecture;
  readonly checks: boolean;
  readonly budget: number;
  readonly workers: number;
}

const DEFAULT_BUDGET = 1e8;

/** Fills in defaults; throws `ArgumentError` for what the emulator does not know. */
export function resolveSettings(settings: EmulatorSettings): ResolvedSettings {
  const { arch = DEFAULT_ARCHITECTURE, checks = true } = settings;
  const { budget = DEFAULT_BUDGET, workers = processorThreads() } = settings;
  const architecture = typeof arch === "string" && Object.hasOwn(ARCHITECTURES, arch)
    ? ARCHITECTURES[arch]
    : undefined;
  if (architecture === undefined) {
    throw new ArgumentError({
      argument: "arch",
      expected: `one of ${Object.keys(ARCHITECTURES).join(", ")}`,
      actual: describeValue(arch),
    });
  }
  if (typeof checks !== "boolean") {
    throw new ArgumentError({
      argument: "checks",
      expected: "true or false",
      actual: describeValue(checks),
    });
  }
  checkCount("budget", budget);
  checkCount("workers", workers);
  return { arch, architecture, checks, budget, workers };
}

function checkCount(argument: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 1) return;
  throw new ArgumentError({
    argument,
    expected: "an integer from 1",
    actual: describeValue(value),
  });
}
