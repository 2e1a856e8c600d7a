/** Faults of undefined values: what was used how, and where it came from. */
import { Fault, type Site } from "../fault.ts";
import type { Views } from "../memory.ts";
import { SHADOW, type Shadow } from "./place.ts";
import type { ShadowState } from "./state.ts";

/** An instruction in a message. */
function spell({ text, file, line }: Site): string {
  return line === undefined ? `\`${text}\`` : `\`${text}\` (${file ?? "line"}:${line})`;
}

/** Throws that a lane's undefined value is used; `use` is a clause: "it is used as an address". */
export function failUndefined(
  state: ShadowState,
  { u32 }: Views,
  w: number,
  shadow: Shadow,
  lane: number,
  use: string,
  site: Site,
): never {
  const { word, register } = shadow;
  const origin = state.origins[u32[(w + word + SHADOW.origin) >>> 2] ?? 0];
  const assigned = state.assignments[u32[(w + word + SHADOW.line) >>> 2] ?? 0]?.site;
  if (origin?.kind === "memory") {
    const user = origin.site === site ? "" : `; ${spell(site)}: ${use}`;
    throw new Fault("uninitialised memory", `${origin.loaded(lane)}${user}`, lane, origin.site);
  }
  const name = `%${register.name}`;
  const by = assigned === undefined ? "" : `: ${spell(assigned)} assigned it`;
  const from = origin?.kind === "lane"
    ? ` from a lane that takes no part in ${spell(origin.site)}`
    : origin === undefined || assigned === undefined
    ? ""
    : ` from %${origin.name}, which this thread had not assigned`;
  const why = assigned === undefined ? ": this thread has not assigned it" : `${by}${from}`;
  throw new Fault(
    "uninitialised register",
    `${name} is undefined where ${use}${why}`,
    lane,
    site,
  );
}
