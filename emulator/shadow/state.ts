/** What one thread of the host remembers of undefined values: whether there are any, and where they came from. */
import type { Site } from "../fault.ts";

/** Where undefined bits come from. */
export type Origin =
  /** A register that the thread has not assigned. */
  | { readonly kind: "register"; readonly name: string }
  /** Memory; the clause says what a lane loaded: "load of 4 bytes at …, which nothing has written". */
  | { readonly kind: "memory"; readonly site: Site; readonly loaded: (lane: number) => string }
  /** A lane that takes no part in a shuffle. */
  | { readonly kind: "lane"; readonly site: Site };

/** An instruction that assigned a register. */
export interface Assignment {
  readonly site: Site;
  /** Whether it copies values as they are, such as a load. */
  readonly copies: boolean;
}

export interface ShadowState {
  /**
   * 1 as soon as a launch has read something undefined from memory or from another lane. Until then the code of a
   * kernel leaves out shadows that only such reads can set.
   */
  readonly flag: WebAssembly.Global;
  readonly origins: Origin[];
  /** Instructions by the number that shadows have of them; 0 is none. */
  readonly assignments: (Assignment | undefined)[];
  /** Bytes to which undefined bits were stored, by their location. */
  readonly stored: Map<number, StoredByte>;
}

/** A byte with undefined bits that was stored. */
export interface StoredByte {
  readonly bits: number;
  readonly origin: number;
  /** The block or warp whose memory it is: the next one there starts without it. */
  readonly owner: object;
}

/** Stored bytes that are remembered: others are undefined as a whole, from an unknown origin. */
const MOST_STORED = 1 << 22;

export function newShadowState(): ShadowState {
  return {
    flag: new WebAssembly.Global({ value: "i32", mutable: true }, 0),
    origins: [],
    assignments: [undefined],
    stored: new Map(),
  };
}

/** Begins a launch: nothing is undefined yet but registers. */
export function startShadows(state: ShadowState): void {
  state.flag.value = 0;
  state.stored.clear();
}

/** Gives an origin a number. */
export function addOrigin(state: ShadowState, origin: Origin): number {
  return state.origins.push(origin) - 1;
}

/** Gives an instruction a number. */
export function addAssignment(state: ShadowState, site: Site, copies: boolean): number {
  return state.assignments.push({ site, copies }) - 1;
}

/** Remembers the undefined bits that are stored at a location. */
export function noteStored({ stored }: ShadowState, location: number, byte: StoredByte): void {
  if (stored.size >= MOST_STORED) stored.clear();
  stored.set(location, byte);
}

/** What was stored at a location of which some bits are undefined; absent where nothing was stored. */
export function storedAt(
  { stored }: ShadowState,
  location: number,
  owner: object,
): StoredByte | undefined {
  const byte = stored.get(location);
  return byte?.owner === owner ? byte : undefined;
}
