/** What a program needs and its target does not have, in the words of the source. */
import type { Span } from "../support/source.ts";

/** One thing that cannot be compiled. */
export interface Gap {
  /** Shared memory, instructions, or clusters. */
  readonly code: "E7008" | "E7011" | "E7012" | "E7013";
  /** A sentence without its full stop, which names no target. */
  readonly what: string;
  readonly span: Span;
  readonly hint: string;
}

/** Stops the lowering of a function; becomes a diagnostic. */
export class Unsupported extends Error {
  override readonly name = "Unsupported";
  constructor(readonly gap: Gap) {
    super(gap.what);
  }
}
