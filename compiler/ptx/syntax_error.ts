/** What is wrong with PTX text, and where. */

export class PtxSyntaxError extends Error {
  override readonly name = "PtxSyntaxError";

  /** Line and column count from 1. */
  constructor(
    readonly line: number,
    readonly column: number,
    readonly expected: string,
    readonly found: string,
  ) {
    super(`line ${line}, column ${column}: expected ${expected}, found ${found}`);
  }
}
