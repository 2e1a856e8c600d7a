/** Our own faults, kept apart from the user's: a {@linkcode CompilerBug} always means a defect in tri. */

export class CompilerBug extends Error {
  override readonly name = "CompilerBug";
}

/** Stops with a defect of ours. */
export function bug(message: string): never {
  throw new CompilerBug(message);
}

/** Ends a `switch` over a discriminated union. */
export function assertNever(value: never): never {
  throw new CompilerBug(`Unexpected value: ${JSON.stringify(value)}`);
}

/** The value, which our own invariants say is there. */
export function must<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) bug(`Missing ${what}`);
  return value;
}
