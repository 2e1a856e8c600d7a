/**
 * Which registers may ever have undefined bits. Those that some thread may read before it has assigned them, and what
 * is computed from them, are watched from the start. What comes from memory, or from other lanes, is watched only once
 * something undefined has been read there.
 */
import type { Register } from "../../compiler/ptx/func.ts";
import type { Match } from "../../compiler/ptx/match.ts";
import { spaceOf } from "../access/spelling.ts";
import type { Line } from "../compile/lines.ts";
import { usesOf } from "../compile/uses.ts";
import { rolesOf } from "./roles.ts";

/** Registers that have a shadow. */
export interface Tracking {
  readonly tracked: ReadonlyMap<string, Register>;
  /** Those among them that are watched from the start. */
  readonly always: ReadonlySet<string>;
}

const READS_SHARED: ReadonlySet<string> = new Set(["ldmatrix", "wmma.load", "shfl", "shfl.sync"]);
const READS_MEMORY: ReadonlySet<string> = new Set(["ld", "ldu", "atom"]);

/** Whether an instruction may read what nothing has written; `isLocal` recognises variables in local memory. */
export function mayReadUndefined(match: Match, isLocal: (name: string) => boolean): boolean {
  if (READS_SHARED.has(match.opcode)) return true;
  if (!READS_MEMORY.has(match.opcode)) return false;
  const space = spaceOf(match);
  if (space === "shared" || space === "local" || space === "generic") return true;
  return accessesLocal(match, isLocal);
}

/** Whether an instruction names a variable in local memory, as parameters of inlined functions are. */
function accessesLocal({ operands }: Match, isLocal: (name: string) => boolean): boolean {
  return operands.some(({ operand }) =>
    operand.kind === "address" && operand.base?.kind === "symbol" && isLocal(operand.base.name)
  );
}

/** Finds the registers that have to be watched. */
export function trackRegisters(
  lines: readonly Line[],
  unassigned: readonly Register[],
  isLocal: (name: string) => boolean,
): Tracking {
  // By register, what instructions compute from it.
  const results = new Map<string, Register[]>();
  const seeds: Register[] = [];
  for (const line of lines) {
    const { match, instruction } = line;
    if (typeof match === "string") continue;
    const { writes } = usesOf(line);
    if (writes.length === 0) continue;
    if (mayReadUndefined(match, isLocal)) seeds.push(...writes);
    for (const { name } of rolesOf(instruction, match).carried) {
      const known = results.get(name);
      if (known === undefined) results.set(name, [...writes]);
      else known.push(...writes);
    }
  }
  const reach = (from: readonly Register[], found: Map<string, Register>): void => {
    const pending = [...from];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (found.has(next.name)) continue;
      found.set(next.name, next);
      pending.push(...results.get(next.name) ?? []);
    }
  };
  const tracked = new Map<string, Register>();
  reach(unassigned, tracked);
  const always = new Set(tracked.keys());
  reach(seeds, tracked);
  return { tracked, always };
}
