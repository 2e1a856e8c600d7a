/** What the modifiers of a memory instruction say: its state space, and how it is ordered with others. */
import type { Match } from "../../compiler/ptx/match.ts";
import type { Scope } from "../check/order.ts";
import type { AddressRef } from "../machine.ts";
import type { Space } from "./reach.ts";

const SPACES: Readonly<Record<string, Space>> = {
  global: "global",
  shared: "shared",
  "shared::cta": "shared",
  "shared::cluster": "shared",
  local: "local",
  const: "const",
  param: "param",
  "param::entry": "param",
};

/** The state space that an instruction names, or generic. */
export function spaceOf({ bound }: Match): Space {
  for (const value of bound.values()) {
    const space = SPACES[value];
    if (space !== undefined) return space;
  }
  return "generic";
}

/** The space of an access: a symbol has its own. */
export function addressSpace(match: Match, ref: AddressRef): Space {
  return ref.space ?? spaceOf(match);
}

/** How an access is ordered with those of other threads (PTX ISA 9.0, 8.4 "Scope" and 8.5 "Proxies"). */
export interface Ordering {
  /** Not weak: volatile, relaxed or stronger. */
  readonly strong: boolean;
  readonly volatile: boolean;
  readonly acquires: boolean;
  readonly releases: boolean;
  readonly scope: Scope;
}

const STRONG: ReadonlySet<string> = new Set([
  "volatile",
  "relaxed",
  "acquire",
  "release",
  "acq_rel",
  "mmio",
]);

/** What an instruction's modifiers say of its order. */
export function orderingOf({ bound }: Match): Ordering {
  const words = new Set(bound.values());
  const has = (...names: string[]): boolean => names.some((name) => words.has(name));
  return {
    strong: [...words].some((word) => STRONG.has(word)),
    volatile: has("volatile"),
    acquires: has("acquire", "acq_rel"),
    releases: has("release", "acq_rel"),
    scope: has("cta") ? "block" : "beyond",
  };
}
