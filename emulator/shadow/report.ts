/** Faults of undefined values: what was used how, and where it came from. */
import { Fault, type Site } from "../fault.ts";
import { report } from "../check/report.ts";
import type { Machine } from "../machine.ts";
import { SHADOW, type Shadow } from "./shadow_row.ts";
import type { ShadowState } from "./state.ts";

/** An instruction in a message. */
function spell({ text, file, line }: Site): string {
  return line === undefined ? `\`${text}\`` : `\`${text}\` (${file ?? "line"}:${line})`;
}

/** Reports that a lane's undefined value is used; `use` is a clause: "it is used as an address". */
export function failUndefined(
  machine: Machine,
  state: ShadowState,
  w: number,
  shadow: Shadow,
  lane: number,
  use: string,
  site: Site,
): void {
  const { u32 } = machine.views;
  const { word, register } = shadow;
  const origin = state.origins[u32[(w + word + SHADOW.origin) >>> 2] ?? 0];
  const assigned = state.assignments[u32[(w + word + SHADOW.line) >>> 2] ?? 0]?.site;
  if (origin?.kind === "memory") {
    const user = origin.site === site ? "" : `; ${spell(site)}: ${use}`;
    const detail = `${origin.loaded(lane)}${user}`;
    report(machine, new Fault("uninitialised memory", detail, lane, origin.site));
    return;
  }
  const name = `%${register.name}`;
  const by = assigned === undefined ? "" : `: ${spell(assigned)} assigned it`;
  const from = origin?.kind === "lane"
    ? ` from a lane that takes no part in ${spell(origin.site)}`
    : origin === undefined || assigned === undefined
    ? ""
    : ` from %${origin.name}, which this thread had not assigned`;
  const why = assigned === undefined ? ": this thread has not assigned it" : `${by}${from}`;
  const detail = `${name} is undefined where ${use}${why}`;
  report(machine, new Fault("uninitialised register", detail, lane, site));
}
