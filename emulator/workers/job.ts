/** What a thread of the host sends another one about a launch. */
import type { AccessLaunch, SentLaunch } from "../check/launch.ts";
import type { SymbolLocation } from "../compile/context.ts";
import type { LaunchFacts } from "../schedule/specials.ts";

/** A launch, for those who help with it. */
export interface SharedLaunch {
  readonly text: string;
  readonly kernel: string;
  /** Variables of the module. */
  readonly locations: ReadonlyMap<string, SymbolLocation>;
  /** Where the arguments are. */
  readonly parameters: number;
  /** Basic blocks of the kernel: each worker counts on its own. */
  readonly blocks: number;
  readonly registerFileBytes: number;
  readonly localBytes: number;
  readonly launch: LaunchFacts;
  readonly access: AccessLaunch;
  readonly profile: boolean;
  readonly budget: number;
}

/** What one worker is asked to do. */
export interface Job extends Omit<SharedLaunch, "access"> {
  readonly access: SentLaunch;
  readonly memory: WebAssembly.Memory;
  /** Words of {@linkcode CONTROL}. */
  readonly control: Int32Array;
  readonly clusters: number;
  /** Memory of the worker: counts, then slots. */
  readonly counts: number;
  readonly slots: readonly number[];
  /** Where to put the result: its length in bytes, then JSON text. */
  readonly result: Int32Array;
}

/** Words that threads share during a launch. */
export const CONTROL = {
  /** The next cluster to run. */
  next: 0,
  /** 1 as soon as no more workers may begin, and those who have begun shall come to an end. */
  closed: 1,
  /** Workers that have begun and not ended. */
  active: 2,
  words: 4,
} as const;

/** A result of a worker. */
export type Result =
  | { readonly kind: "report"; readonly report: import("../report.ts").LaunchReport }
  | {
    readonly kind: "fault";
    readonly fault: import("../fault.ts").FaultFacts;
  }
  | { readonly kind: "error"; readonly message: string };
