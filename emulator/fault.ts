/** Faults: what a kernel did that it must not do. */

/** What went wrong. */
export type FaultKind =
  | "out of bounds"
  | "misaligned"
  | "use after free"
  | "uninitialised memory"
  | "uninitialised register"
  | "race"
  | "missing barrier"
  | "divergent barrier"
  | "member mask"
  | "exited lanes"
  | "barrier misuse"
  | "deadlock"
  | "instruction budget"
  | "pending copy"
  | "register in flight"
  | "missing fence"
  | "read-only memory"
  | "exited block"
  | "early access"
  | "unsupported instruction"
  | "illegal instruction"
  | "failed assertion"
  | "trap";

/** An instruction of a kernel, for messages. */
export interface Site {
  /** The kernel's name. */
  readonly kernel: string;
  /** As PTX text, with its semicolon. */
  readonly text: string;
  /** The source line that it was compiled from, if the PTX has it. */
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
  /** From 1; absent or 0: unknown. */
  readonly column?: number;
}

/** The text of an instruction without the middle of its long vectors. */
export function abridged(text: string): string {
  return text.replace(/\{([^,{}]+),(?:[^,{}]+,){3,}\s*([^,{}]+)\}/g, "{$1, …, $2}");
}

/** Which thread it was. */
export interface FaultOrigin {
  /** Its block's position in the grid. */
  readonly block: readonly [x: number, y: number, z: number];
  /** Absent where the fault is the block's. */
  readonly thread?: readonly [x: number, y: number, z: number];
}

/** A fault as plain data, which threads of the host can send each other. */
export interface FaultFacts {
  /** What went wrong. */
  readonly kind: FaultKind;
  /** What was found, as a clause: "store of 4 bytes at …, 16 bytes past the end of Y". */
  readonly detail: string;
  /** The lane that did it, if one did. */
  readonly lane?: number | undefined;
  /** The instruction; absent for what no single instruction does. */
  readonly site?: Site | undefined;
  /** The thread; filled in by the launch. */
  readonly origin?: FaultOrigin | undefined;
  /** What to do about it, where that is more than what helps with all faults of the kind. */
  readonly hint?: string | undefined;
}

/** A fault's facts; what is absent stays absent. */
export function factsOf({ kind, detail, lane, site, origin, hint }: Fault): FaultFacts {
  return {
    kind,
    detail,
    ...(lane === undefined ? {} : { lane }),
    ...(site === undefined ? {} : { site }),
    ...(origin === undefined ? {} : { origin }),
    ...(hint === undefined ? {} : { hint }),
  };
}

/** Thrown where a kernel makes a mistake; the launch converts it to an `EmulatorError`. */
export class Fault extends Error {
  constructor(
    readonly kind: FaultKind,
    /** What was found, as a clause: "store of 4 bytes at …, 16 bytes past the end of Y". */
    readonly detail: string,
    /** The lane that did it, if one did. */
    readonly lane?: number,
    /** The instruction; absent for what no single instruction does. */
    readonly site?: Site,
    /** Filled in by the launch. */
    readonly origin?: FaultOrigin,
    /** What to do about it, where that is more than what helps with all faults of the kind. */
    readonly hint?: string,
  ) {
    super(`${kind}: ${detail}`);
  }
}
