/** What every parsing function receives: the tokens, the names in scope, and where errors go. */
import type { Reporter } from "../support/diagnostic.ts";
import type { Token } from "../preprocess/token.ts";
import { TokenCursor } from "./token_cursor.ts";
import { TypedefScopes } from "./typedef_scopes.ts";

export interface ParseContext {
  readonly cursor: TokenCursor;
  readonly scopes: TypedefScopes;
  readonly reporter: Reporter;
  /** Inside this many `switch` statements, which were reported as a whole: labels in them are passed over. */
  openSwitches: number;
}

/** @param whole what the tokens are, for "the end of the …" */
export function newParseContext(
  tokens: readonly Token[],
  reporter: Reporter,
  whole: string,
): ParseContext {
  return {
    cursor: new TokenCursor(tokens, reporter, whole),
    scopes: new TypedefScopes(),
    reporter,
    openSwitches: 0,
  };
}
