/**
 * What accesses cost. A request is one instruction of one warp. Global memory moves in sectors of 32 bytes, four to a
 * line; shared memory has 32 banks of four bytes, and a wavefront serves one word of each
 * (CUDA C++ Best Practices Guide, 10.2.1 and 10.2.3).
 */

/** Sums over requests. */
export interface AccessCounters {
  /** Requests to global memory, the bytes that their lanes asked for, and the sectors and lines they touched. */
  requests: number;
  bytes: number;
  sectors: number;
  /** Sectors if each request's bytes lay side by side. */
  idealSectors: number;
  lines: number;
  /** Requests to shared memory, the wavefronts they took, and how many of these were due to bank conflicts. */
  sharedRequests: number;
  wavefronts: number;
  bankConflicts: number;
  /** Requests of either kind that are atomic operations. */
  atomics: number;
}

export function newCounters(): AccessCounters {
  return {
    requests: 0,
    bytes: 0,
    sectors: 0,
    idealSectors: 0,
    lines: 0,
    sharedRequests: 0,
    wavefronts: 0,
    bankConflicts: 0,
    atomics: 0,
  };
}

/** Adds what others counted to the first counters. */
export function addCounters(to: AccessCounters, from: AccessCounters): AccessCounters {
  to.requests += from.requests;
  to.bytes += from.bytes;
  to.sectors += from.sectors;
  to.idealSectors += from.idealSectors;
  to.lines += from.lines;
  to.sharedRequests += from.sharedRequests;
  to.wavefronts += from.wavefronts;
  to.bankConflicts += from.bankConflicts;
  to.atomics += from.atomics;
  return to;
}

const LANES = 32;
const SECTOR_SHIFT = 5;
const LINE_SHIFT = 7;
const BANKS = 32;

/** Numbers of which each counts once. */
class Distinct {
  readonly #seen = new Int32Array(4 * LANES);
  count = 0;

  clear(): void {
    this.count = 0;
  }

  add(value: number): void {
    const seen = this.#seen;
    // What comes last in a warp is most likely equal to what came before.
    for (let i = this.count - 1; i >= 0; i--) if (seen[i] === value) return;
    seen[this.count++] = value;
  }
}

/** Scratch for counting. */
export interface CountScratch {
  readonly sectors: Distinct;
  readonly lines: Distinct;
  readonly locations: Distinct;
  /** Words that a wavefront cannot serve together with others of their bank, by bank. */
  readonly banks: readonly Distinct[];
}

export function newCountScratch(): CountScratch {
  return {
    sectors: new Distinct(),
    lines: new Distinct(),
    locations: new Distinct(),
    banks: Array.from({ length: BANKS }, () => new Distinct()),
  };
}

/** Counts a request to global memory: `bytes` at the location of each lane of the mask. */
export function countGlobal(
  counters: AccessCounters,
  scratch: CountScratch,
  locations: Uint32Array,
  mask: number,
  bytes: number,
): void {
  const { sectors, lines } = scratch;
  sectors.clear();
  lines.clear();
  let asked = 0;
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const location = locations[lane] ?? 0;
    const last = (location + bytes - 1) >>> SECTOR_SHIFT;
    for (let sector = location >>> SECTOR_SHIFT; sector <= last; sector++) {
      sectors.add(sector);
      lines.add(sector >>> (LINE_SHIFT - SECTOR_SHIFT));
    }
    asked += bytes;
  }
  counters.requests++;
  counters.bytes += asked;
  counters.sectors += sectors.count;
  const distinct = bytes * countDistinct(scratch, locations, mask);
  counters.idealSectors += Math.ceil(distinct / (1 << SECTOR_SHIFT));
  counters.lines += lines.count;
}

/** Locations of which each counts once: lanes that ask for the same bytes get them from one sector. */
function countDistinct(scratch: CountScratch, locations: Uint32Array, mask: number): number {
  let count = 0;
  let last = -1;
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const location = locations[lane] ?? 0;
    if (location < last) return countUnordered(scratch, locations, mask);
    if (location > last) count++;
    last = location;
  }
  return count;
}

function countUnordered(
  { locations: distinct }: CountScratch,
  locations: Uint32Array,
  mask: number,
): number {
  distinct.clear();
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 1) distinct.add(locations[lane] ?? 0);
  }
  return distinct.count;
}

/** Counts a request to global memory for bytes side by side. */
export function countRun(counters: AccessCounters, location: number, bytes: number): void {
  const touched = (shift: number): number =>
    ((location + bytes - 1) >>> shift) - (location >>> shift) + 1;
  counters.requests++;
  counters.bytes += bytes;
  counters.sectors += touched(SECTOR_SHIFT);
  counters.idealSectors += Math.ceil(bytes / (1 << SECTOR_SHIFT));
  counters.lines += touched(LINE_SHIFT);
}

/**
 * Counts a request to shared memory. Of 8-byte accesses half a warp is served at a time, of 16-byte accesses a
 * quarter; lanes that want the same word are served together.
 */
export function countShared(
  counters: AccessCounters,
  { banks }: CountScratch,
  locations: Uint32Array,
  mask: number,
  bytes: number,
): void {
  const group = bytes <= 4 ? LANES : Math.max(1, (4 * LANES) / bytes);
  counters.sharedRequests++;
  for (let first = 0; first < LANES; first += group) {
    for (const bank of banks) bank.clear();
    let most = 0;
    for (let lane = first; lane < first + group; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      const location = locations[lane] ?? 0;
      const last = (location + bytes - 1) >>> 2;
      for (let word = location >>> 2; word <= last; word++) {
        const bank = banks[word % BANKS];
        if (bank === undefined) continue;
        bank.add(word);
        if (bank.count > most) most = bank.count;
      }
    }
    if (most === 0) continue;
    counters.wavefronts += most;
    counters.bankConflicts += most - 1;
  }
}
