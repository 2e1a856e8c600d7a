/** Where the lanes of an access reach: their addresses converted to locations in the emulator's memory. */
import { Fault, type Site } from "../fault.ts";
import { HEADER, LANES } from "../register_file.ts";
import type { AddressRef, BlockState, Machine } from "../machine.ts";
import { SHARED_OFFSET_MASK, SHARED_RANK_SHIFT, WINDOW, type Window } from "../memory.ts";

/** What kind of memory a lane reaches. */
export const KIND = { global: 0, shared: 1, local: 2, const: 3, param: 4, mixed: 5 } as const;

/** The lanes' locations; overwritten by each access. */
export interface Reach {
  readonly machine: Machine;
  /** By lane; of lanes that are not in the mask anything. */
  readonly locations: Uint32Array;
  /** By lane, where the kind is mixed. */
  readonly kinds: Uint8Array;
  /** The kind of memory of all lanes. */
  kind: number;
  /** The least and the greatest location, and the bits that any location has. */
  low: number;
  high: number;
  bits: number;
  /** Lanes that reach the shared memory of another block, and by lane whose. */
  remote: number;
  readonly owners: BlockState[];
}

export function newReach(machine: Machine): Reach {
  return {
    machine,
    locations: new Uint32Array(LANES),
    kinds: new Uint8Array(LANES),
    kind: KIND.global,
    low: 0,
    high: 0,
    bits: 0,
    remote: 0,
    owners: [],
  };
}

/** The block whose shared memory a lane reaches. */
export function ownerOf({ machine, remote, owners }: Reach, lane: number): BlockState {
  return ((remote >>> lane) & 1) === 0 ? machine.block : owners[lane] ?? machine.block;
}

/** Finds the locations that the lanes of a mask reach. */
export type Resolve = (w: number, mask: number) => void;

const TWO_32 = 2 ** 32;
const TWO_64 = 2 ** 64;

function illegal(address: number, what: string, lane: number, site: Site): never {
  throw new Fault("out of bounds", `address 0x${address.toString(16)} is not ${what}`, lane, site);
}

/**
 * The address of a lane: the sum of base and offset, which wraps at 2^32 or 2^64 as that of hardware does. Exact below
 * 2^53, where all legal addresses are.
 */
export function addressOf(machine: Machine, w: number, ref: AddressRef, lane: number): number {
  const { row, bits, offset } = ref;
  if (row === undefined) return offset < 0 ? TWO_64 + offset : offset;
  const { u32 } = machine.views;
  const at = (w + row) >>> 2;
  if (bits === 32) return ((u32[at + lane] ?? 0) + offset) >>> 0;
  const sum = (u32[at + 2 * lane] ?? 0) + offset;
  const carry = Math.floor(sum / TWO_32);
  const upper = ((u32[at + 2 * lane + 1] ?? 0) + carry) >>> 0;
  return upper * TWO_32 + (sum - carry * TWO_32);
}

/** An address that is the same in all lanes. */
function resolveSymbol(reach: Reach, kind: number, location: number): Resolve {
  return () => {
    reach.locations.fill(location);
    reach.kind = kind;
    reach.remote = 0;
    reach.low = reach.high = reach.bits = location;
  };
}

/** Addresses of spaces whose addresses are locations, below the upper word of their window. */
function resolveLocations(
  reach: Reach,
  ref: AddressRef,
  row: number,
  space: "global" | "const" | "param",
  site: Site,
): Resolve {
  const { machine, locations } = reach;
  const { bits, offset } = ref;
  const window = WINDOW[space];
  // Pointers to global memory always have their window; addresses of the other spaces begin at 0.
  const bare = bits === 32 || space !== "global" ? 0 : window;
  const kind = KIND[space];
  const words = bits >> 5;
  const slow = (w: number, lane: number): number => {
    const address = addressOf(machine, w, ref, lane);
    const upper = Math.floor(address / TWO_32);
    if (upper !== window && upper !== bare) {
      illegal(address, `an address of ${space} memory`, lane, site);
    }
    return address - upper * TWO_32;
  };
  return (w, mask) => {
    const { u32 } = machine.views;
    const base = (w + row) >>> 2;
    let [low, high, all] = [TWO_32, 0, 0];
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      const at = base + words * lane;
      let location = (u32[at] ?? 0) + offset;
      const upper = words === 2 ? u32[at + 1] ?? 0 : 0;
      if ((upper !== window && upper !== bare) || location < 0 || location >= TWO_32) {
        location = slow(w, lane);
      }
      locations[lane] = location;
      all |= location;
      if (location < low) low = location;
      if (location > high) high = location;
    }
    reach.kind = kind;
    reach.remote = 0;
    reach.low = low;
    reach.high = high;
    reach.bits = all;
  };
}

/** The shared memory that an address of a lane is in; notes whose it is. */
function sharedLocation(reach: Reach, address: number, lane: number, site: Site): number {
  const { block } = reach.machine;
  const rank = address >>> SHARED_RANK_SHIFT;
  const owner = rank === 0 ? block : block.cluster[rank - 1];
  if (owner === undefined) {
    return illegal(address, "in the shared memory of the cluster", lane, site);
  }
  if (owner !== block) {
    reach.remote |= 1 << lane;
    reach.owners[lane] = owner;
  }
  return owner.shared + (address & SHARED_OFFSET_MASK);
}

function resolveShared(reach: Reach, ref: AddressRef, row: number, site: Site): Resolve {
  const { machine, locations } = reach;
  const { bits, offset } = ref;
  const words = bits >> 5;
  const slow = (w: number, lane: number): number => {
    const address = addressOf(machine, w, ref, lane);
    if (address >= TWO_32) {
      illegal(address, "an address of shared memory", lane, site);
    }
    return sharedLocation(reach, address, lane, site);
  };
  return (w, mask) => {
    const { u32 } = machine.views;
    const base = (w + row) >>> 2;
    const { shared } = machine.block;
    reach.remote = 0;
    let [low, high, all] = [TWO_32, 0, 0];
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      const at = base + words * lane;
      const address = (u32[at] ?? 0) + offset;
      const upper = words === 2 ? u32[at + 1] ?? 0 : 0;
      const location = address < 0 || address > SHARED_OFFSET_MASK || upper !== 0
        ? slow(w, lane)
        : shared + address;
      locations[lane] = location;
      all |= location;
      if (location < low) low = location;
      if (location > high) high = location;
    }
    reach.kind = KIND.shared;
    reach.low = low;
    reach.high = high;
    reach.bits = all;
  };
}

/** Each lane has local memory of its own, all in one piece. */
function resolveLocal(reach: Reach, ref: AddressRef, site: Site): Resolve {
  const { machine, locations } = reach;
  return (w, mask) => {
    const { u32 } = machine.views;
    const start = u32[(w + HEADER.local) >>> 2] ?? 0;
    const bytes = u32[(w + HEADER.localBytes) >>> 2] ?? 0;
    let [low, high, all] = [TWO_32, 0, 0];
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      const address = addressOf(machine, w, ref, lane);
      // Checked even when other accesses are not: what follows is another lane's memory.
      if (address >= bytes) {
        illegal(address, `in the ${bytes} bytes of local memory`, lane, site);
      }
      const location = start + lane * bytes + address;
      locations[lane] = location;
      all |= location;
      if (location < low) low = location;
      if (location > high) high = location;
    }
    reach.kind = KIND.local;
    reach.remote = 0;
    reach.low = low;
    reach.high = high;
    reach.bits = all;
  };
}

const KIND_OF_WINDOW: ReadonlyMap<number, number> = new Map(
  Object.entries(WINDOW).map(([name, window]) => {
    const kinds: Readonly<Record<string, number>> = KIND;
    return [window, kinds[name] ?? KIND.global];
  }),
);

/** Generic addresses: the upper word says the kind of memory. */
function resolveGeneric(reach: Reach, ref: AddressRef, site: Site): Resolve {
  const { machine, locations, kinds } = reach;
  const locationOf = (w: number, lane: number): number => {
    const address = addressOf(machine, w, ref, lane);
    const upper = Math.floor(address / TWO_32);
    const kind = KIND_OF_WINDOW.get(upper);
    if (kind === undefined) return illegal(address, "a generic address", lane, site);
    kinds[lane] = kind;
    const lower = address - upper * TWO_32;
    if (kind === KIND.shared) return sharedLocation(reach, lower, lane, site);
    if (kind !== KIND.local) return lower;
    const { u32 } = machine.views;
    const bytes = u32[(w + HEADER.localBytes) >>> 2] ?? 0;
    if (lower >= bytes) illegal(address, `in the ${bytes} bytes of local memory`, lane, site);
    return (u32[(w + HEADER.local) >>> 2] ?? 0) + lane * bytes + lower;
  };
  return (w, mask) => {
    reach.remote = 0;
    let [low, high, all] = [TWO_32, 0, 0];
    let [someKind, allKinds] = [0, -1];
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      const location = locationOf(w, lane);
      locations[lane] = location;
      all |= location;
      if (location < low) low = location;
      if (location > high) high = location;
      const kind = kinds[lane] ?? 0;
      someKind |= kind;
      allKinds &= kind;
    }
    reach.kind = someKind === allKinds ? someKind : KIND.mixed;
    reach.low = low;
    reach.high = high;
    reach.bits = all;
  };
}

/** The state space that an instruction's modifiers name; generic if none does. */
export type Space = Window | "generic";

/** How the addresses of an operand become locations. */
export function resolver(reach: Reach, ref: AddressRef, space: Space, site: Site): Resolve {
  const { row, offset } = ref;
  switch (space) {
    case "generic":
      return resolveGeneric(reach, ref, site);
    case "local":
      return resolveLocal(reach, ref, site);
    case "shared":
      return row === undefined
        ? resolveSharedSymbol(reach, offset, site)
        : resolveShared(reach, ref, row, site);
    default:
      return row === undefined
        ? resolveSymbol(reach, KIND[space], offset)
        : resolveLocations(reach, ref, row, space, site);
  }
}

/** An offset in shared memory that is the same in all lanes. */
function resolveSharedSymbol(reach: Reach, offset: number, site: Site): Resolve {
  return (_w, mask) => {
    reach.remote = 0;
    let location = 0;
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) !== 0) location = sharedLocation(reach, offset, lane, site);
    }
    reach.locations.fill(location);
    reach.kind = KIND.shared;
    reach.low = reach.high = reach.bits = location;
  };
}
