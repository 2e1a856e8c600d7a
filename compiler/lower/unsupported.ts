/** What the language has and the back end cannot compile for a target, in the words of the source (E7008). */
import { stringAttr } from "../ir/attrs.ts";
import type { Op } from "../ir/func.ts";
import type { TileOp } from "../ir/ops.ts";
import type { Span } from "../support/source.ts";

/** One thing that cannot be compiled. */
export interface Gap {
  /** Subject of "… cannot be compiled yet", or the whole sentence of a limit. Names no target. */
  readonly what: string;
  readonly span: Span;
  /** `limit`: no version could compile it, the program has to change. */
  readonly kind: "missing" | "limit";
  readonly hint: string;
}

/** Stops the lowering of a function; becomes one E7008 per gap. */
export class Unsupported extends Error {
  override readonly name = "Unsupported";
  constructor(readonly gaps: readonly Gap[]) {
    super(gaps.map(({ what }) => what).join(", "));
  }
}

const MISSING = "The language has it; this version of tri has no code generation for it.";

/** A gap that a later version closes. */
export function missing(what: string, span: Span): Gap {
  return { what, span, kind: "missing", hint: MISSING };
}

/** How programs spell the operations that have no rule. */
const SPELLINGS: Partial<Record<TileOp, string>> = {
  dot: "the product `@`",
  reduce: "a reduction",
};

/** The gap that an operation without a rule leaves; none for those that only end the regions of another. */
export function gapOf(op: Op): readonly Gap[] {
  if (op.name === "condition" || op.name === "yield") return [];
  const what = op.name === "math"
    ? `\`${stringAttr(op, "function")}\``
    : SPELLINGS[op.name] ?? `\`${op.name}\``;
  return [missing(what, op.span)];
}
