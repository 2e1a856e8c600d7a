/** The macros that the compiler defines (language.md, 1.3). */
import type { Target } from "../targets.ts";

/** What macros say of a target. */
export type TargetFacts = Pick<Target, "sm" | "exact">;

/** What they say about the build and the instance. */
export interface PredefinedFacts extends TargetFacts {
  readonly version: { readonly major: number; readonly minor: number; readonly patch: number };
  readonly numWarps: number;
  readonly numStages: number;
  readonly debug: boolean;
}

/** Names that no program may define or undefine, also where they are not defined. */
export const PREDEFINED_NAMES: ReadonlySet<string> = new Set([
  "__TRITON_C__",
  "__TRI__",
  "__TRI_ARCH__",
  "__TRI_ARCH_SPECIFIC__",
  "__TRI_NUM_WARPS__",
  "__TRI_NUM_STAGES__",
  "__TRI_DEBUG__",
  "__FILE__",
  "__LINE__",
  "NULL",
  "defined",
]);

/** The macros of a target, which filters of configurations read too. */
export function architectureMacros({ sm, exact }: TargetFacts): Readonly<Record<string, string>> {
  const number = `${10 * sm}`;
  return { __TRI_ARCH__: number, __TRI_ARCH_SPECIFIC__: exact ? number : "0" };
}

/** Name to text, for {@linkcode preprocess}; `__FILE__` and `__LINE__` are computed where they are used. */
export function predefinedMacros(facts: PredefinedFacts): Record<string, string> {
  const { major, minor, patch } = facts.version;
  return {
    __TRITON_C__: "1",
    __TRI__: `${10000 * major + 100 * minor + patch}`,
    ...architectureMacros(facts),
    __TRI_NUM_WARPS__: `${facts.numWarps}`,
    __TRI_NUM_STAGES__: `${facts.numStages}`,
    ...(facts.debug ? { __TRI_DEBUG__: "1" } : {}),
    NULL: "0",
  };
}
