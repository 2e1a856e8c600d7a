/** What the language has and this back end does not compile yet. */
import type { Span } from "../support/source.ts";

/** Something the language has and this back end does not compile yet; becomes E7008. */
export class Unsupported extends Error {
  override readonly name = "Unsupported";
  constructor(readonly what: string, readonly span: Span) {
    super(what);
  }
}
