/** Remembers which instruction accessed memory at a tick, so that a race is reported with both of its instructions. */
import type { Site } from "../fault.ts";

/** Ticks that are remembered. */
const SIZE = 1 << 18;

/** An instruction that accesses memory. */
export interface LoggedSite {
  readonly site: Site;
  /** Whether it loads or stores what an update of one location loads and stores: `x = x + 1`. */
  readonly isUpdate: () => boolean;
}

export interface SiteLog {
  readonly sites: LoggedSite[];
  /** By tick modulo its size: the number of the site. */
  readonly ring: Uint32Array;
}

export function newSiteLog(): SiteLog {
  return { sites: [], ring: new Uint32Array(SIZE) };
}

/** A number for an instruction. */
export function siteNumber(log: SiteLog, site: Site, isUpdate = (): boolean => false): number {
  return log.sites.push({ site, isUpdate }) - 1;
}

/** Notes that an instruction accesses memory at a tick. */
export function logSite(log: SiteLog, tick: number, number: number): void {
  log.ring[tick & (SIZE - 1)] = number;
}

/** The instruction of a tick, if that was not long ago. */
export function siteOf(log: SiteLog, tick: number, now: number): LoggedSite | undefined {
  return now - tick < SIZE ? log.sites[log.ring[tick & (SIZE - 1)] ?? -1] : undefined;
}
