/**
 * Checks in PTX: `assert`, and promises of the program. They are between two comments, so that
 * builds without checks can remove them before assembling. The emulator runs them always (language.md 7.4, 8.5).
 */

export const CHECK_BEGIN = "check";
export const CHECK_END = "end of check";

const CHECKS = new RegExp(`^ *// ${CHECK_BEGIN}\\n(?:.*\\n)*? *// ${CHECK_END}\\n`, "gm");

/** The text of a module without its checks. */
export function withoutChecks(ptx: string): string {
  return ptx.replace(CHECKS, "");
}
