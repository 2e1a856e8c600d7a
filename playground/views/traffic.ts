/** What a launch did to memory, per source line: rows of a table, with the waste of each. */
import type { AccessProfile } from "../../ffi/profile.ts";

/** Memory traffic of one line of the source. */
export interface LineTraffic {
  readonly line: number;
  readonly requests: number;
  readonly sectors: number;
  readonly idealSectors: number;
  readonly sharedRequests: number;
  readonly wavefronts: number;
  readonly bankConflicts: number;
}

/** Sums per line, in the order of lines; 0 is what has none. */
export function trafficByLine(accesses: readonly AccessProfile[]): readonly LineTraffic[] {
  const sums = new Map<number, LineTraffic>();
  for (const { source, global, shared } of accesses) {
    const line = lineOfSource(source);
    const known = sums.get(line);
    sums.set(line, {
      line,
      requests: (known?.requests ?? 0) + global.requests,
      sectors: (known?.sectors ?? 0) + global.sectors,
      idealSectors: (known?.idealSectors ?? 0) + global.idealSectors,
      sharedRequests: (known?.sharedRequests ?? 0) + shared.requests,
      wavefronts: (known?.wavefronts ?? 0) + shared.wavefronts,
      bankConflicts: (known?.bankConflicts ?? 0) + shared.bankConflicts,
    });
  }
  return [...sums.values()].sort((a, b) => a.line - b.line);
}

/** The line of `kernel.tc:14:3`; 0 where there is none. */
export function lineOfSource(source: string | undefined): number {
  return Number(/:(\d+)(?::\d+)?$/.exec(source ?? "")?.[1] ?? 0);
}

/** The part of the sectors that moved for nothing, as a sentence. */
export function wasteOf({ sectors, idealSectors }: LineTraffic): string {
  if (sectors === 0) return "";
  const wasted = sectors - idealSectors;
  return wasted <= 0 ? "none wasted" : `${Math.round(100 * wasted / sectors)} % wasted`;
}
