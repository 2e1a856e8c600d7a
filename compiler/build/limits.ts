/**
 * Limits on what is built. Straight code has none: it is as long as its text. Calls and unrolled loops copy code, and
 * copies of copies grow beyond all bounds.
 */
import type { Code } from "../support/diagnostic.ts";
import type { Span } from "../support/source.ts";

/** Operations of a kernel in which something is copied. Assembling that many takes minutes. */
export const MAX_OPERATIONS = 100_000;

/** Branches and loops in each other, in the kernel and in the helpers that are inlined there. */
export const MAX_CONTROL_DEPTH = 400;

/** What copies code: the outermost call or unrolled loop around what is being built. */
export type Copying =
  | { readonly kind: "call"; readonly name: string; readonly span: Span }
  | { readonly kind: "unroll"; readonly span: Span };

/** Stops the building of a function; becomes a diagnostic. */
export class BuildLimit extends Error {
  override readonly name = "BuildLimit";
  constructor(
    readonly code: Code,
    readonly span: Span,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

const HINTS: Readonly<Record<Copying["kind"], string>> = {
  call: "functions are inlined at each call: call it in a loop, or split the kernel",
  unroll: "ask for fewer copies, `unroll(4)`, and of nested loops unroll only the inner one",
};

/** The copies take the kernel beyond the operations that it may have. */
export function tooManyOperations(copying: Copying): BuildLimit {
  const limit = `makes the kernel exceed ${MAX_OPERATIONS} operations`;
  return copying.kind === "call"
    ? new BuildLimit(
      "E4030",
      copying.span,
      `inlined here, \`${copying.name}\` ${limit}`,
      HINTS.call,
    )
    : new BuildLimit("E4031", copying.span, `unrolled, this loop ${limit}`, HINTS.unroll);
}

/** Branches and loops are nested too deeply. */
export function tooDeep(copying: Copying | undefined, span: Span): BuildLimit {
  const where = copying?.kind === "call"
    ? `inlined here, \`${copying.name}\` nests`
    : "the code nests";
  return new BuildLimit(
    "E4032",
    copying?.span ?? span,
    `${where} branches and loops more than ${MAX_CONTROL_DEPTH} levels deep`,
    "let functions return before they call each other inside of branches, or write a loop",
  );
}
