/** The version that `__TRI__` shows; the same as in deno.json. */
export const VERSION = { major: 0, minor: 1, patch: 0 } as const;
