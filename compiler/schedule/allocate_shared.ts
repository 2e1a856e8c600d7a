/**
 * Assigns exchanges and buffers to addresses of shared memory, and decides which exchanges wait for the block first.
 *
 * All exchanges use the start of shared memory one after the other. Before one overwrites what an earlier one left,
 * there must be a block barrier, since other threads may still read that: `barrier` says that the operation begins
 * with one. An exchange with one barrier between its writes and its reads needed none if it lies beside the one before
 * (`hasOneBarrier` of layout/exchanges.ts), so that reductions in a row need one barrier each, not two.
 *
 * Where no buffer lies over their memory, exchanges for which each warp has a part of its own wait for their warp alone. Where
 * all of a function are within warps and done once, each has a piece of its own, and they wait for nothing.
 *
 * Reductions over several blocks have memory of their own behind all that: other blocks write there when they come to
 * it. Only what is done several times begins with a barrier.
 *
 * The buffers of staged operands come after the exchanges, or over them where none happens while a buffer is in use.
 *
 *     in   exchanges without addresses, buffers with offsets in the staging area
 *     out  `address` and `barrier` of each, and the bytes of the whole on the function
 */
import { branchOf, loopOf } from "../ir/flow.ts";
import { type Func, type Op, type OpOf, type Region, setAttrs } from "../ir/func.ts";
import type { ExchangeOp } from "../ir/ops.ts";
import { operandsOf, regionsOf, resultOf } from "../ir/op.ts";
import { bodyOfProgram, loopOverPrograms, partitionsOf } from "../ir/program_loop.ts";
import { isRotated } from "../ir/rotated_loop.ts";
import { takesBuffer } from "../ir/table.ts";
import { walkOps } from "../ir/walk.ts";
import {
  crossesBlocks,
  exchangeBytes,
  hasBlockBarrier,
  hasOneBarrier,
  isExchange,
} from "../layout/exchanges.ts";
import { layoutOf } from "../layout/tiles.ts";
import { isBox, swizzleAlignment } from "../layout/warp_group.ts";
import { sameLayout } from "../linear/linear.ts";
import type { PlainPass } from "../tile/pass.ts";

/** Distance of buffers: all banks once, so that plans without conflicts stay so. */
const ALIGNMENT = 128;
export const aligned = (bytes: number, alignment = ALIGNMENT): number =>
  Math.ceil(bytes / alignment) * alignment;

export const allocateShared: PlainPass = {
  name: "allocate-shared",
  doc: "addresses of exchanges and buffers in shared memory, and barriers before exchanges",
  run: (func) => {
    const { exchanges, partitionBytes, areaStart, bytes } = planShared(func);
    for (const [op, { part, barrier }] of exchanges) {
      const partition = partitionBytes === undefined ? {} : { partition_bytes: partitionBytes };
      setAttrs(op, { address: part.start, ...partition, barrier });
    }
    for (const op of buffersOf(func)) setAttrs(op, { address: areaStart + op.attrs.offset });
    const isChanged = bytes > 0 || func.sharedBytes !== bytes;
    func.sharedBytes = bytes;
    return isChanged;
  },
};

/** Bytes of shared memory that a function needed. */
export function sharedBytes(func: Func): number {
  return planShared(func).bytes;
}

const exclusiveBuffers = (func: Func): boolean =>
  buffersOf(func).some(({ attrs }) => attrs.exclusive);

/** The exchanges of a function, if all stay within warps and each program does them once at most. */
export function exchangesApart(func: Func): readonly OpOf<"convert_layout">[] {
  const found = exchangesOf(func);
  const once = new Set<Op>();
  const note = (op: Op): void => {
    once.add(op);
    if (op.name === "if") op.regions.forEach(({ ops }) => ops.forEach(note));
  };
  bodyOfProgram(func).ops.forEach(note);
  const apart = found.flatMap((op) =>
    op.name === "convert_layout" && once.has(op) && !hasBlockBarrier(op) ? [op] : []
  );
  return apart.length === found.length ? apart : [];
}

function exchangesOf({ body }: Func): OpOf<ExchangeOp>[] {
  const found: OpOf<ExchangeOp>[] = [];
  walkOps(body, (op) => {
    // Boxes of tensors go where dots read them, without an exchange.
    const isOfBox = op.name === "convert_layout" && isBox(operandsOf(op).value);
    if (isExchange(op) && !isOfBox && exchangeBytes(op) > 0) found.push(op);
  });
  return found;
}

/** Where exchanges lie beside each other, and what they need. */
interface PlacesApart {
  readonly parts: ReadonlyMap<OpOf<"convert_layout">, Part>;
  readonly bytes: number;
}

/**
 * Exchanges beside each other. Where warps wait before each of them anyway, as those of programs to and fro do, exchanges
 * between the same layouts are at one place: a warp finds its own piece of each there.
 */
function placesApart(
  exchanges: readonly OpOf<"convert_layout">[],
  mayShare: boolean,
): PlacesApart {
  const parts = new Map<OpOf<"convert_layout">, Part>();
  let bytes = 0;
  for (const op of exchanges) {
    const alike = mayShare ? [...parts].find(([other]) => isSameExchange(op, other)) : undefined;
    const start = alike?.[1].start ?? aligned(bytes);
    const part = { start, end: start + exchangeBytes(op) };
    parts.set(op, part);
    bytes = Math.max(bytes, part.end);
  }
  return { parts, bytes };
}

function isSameExchange(a: OpOf<"convert_layout">, b: OpOf<"convert_layout">): boolean {
  const [from, to] = [operandsOf(a).value, operandsOf(b).value];
  return a.attrs.matrices === b.attrs.matrices && from.type.element === to.type.element &&
    sameLayout(layoutOf(from), layoutOf(to)) &&
    sameLayout(layoutOf(resultOf(a)), layoutOf(resultOf(b)));
}

/** Bytes of exchanges that lie beside each other, or at one place where each warp has a piece of it. */
export const bytesApart = (
  exchanges: readonly OpOf<"convert_layout">[],
  mayShare = false,
): number => warpParts(exchanges)?.end ?? placesApart(exchanges, mayShare).bytes;

/** A piece of shared memory. */
interface Part {
  readonly start: number;
  readonly end: number;
}

interface Exchange {
  readonly part: Part;
  /** A block barrier comes before it. */
  readonly barrier: boolean;
}

interface SharedPlan {
  readonly exchanges: ReadonlyMap<OpOf<ExchangeOp>, Exchange>;
  /** Of the exchanges of each partition, where a block has several. */
  readonly partitionBytes: number | undefined;
  /** Where the staging area begins. */
  readonly areaStart: number;
  readonly bytes: number;
}

function buffersOf(func: Func): OpOf<"shared_buffer">[] {
  const found: OpOf<"shared_buffer">[] = [];
  walkOps(func.body, (op) => {
    if (op.name === "shared_buffer") found.push(op);
  });
  return found;
}

function planShared(func: Func): SharedPlan {
  const buffers = buffersOf(func);
  const isExclusive = exclusiveBuffers(func);
  const parts = warpParts(exchangesOf(func));
  const walk = new Walk(buffers.length > 0 && !isExclusive, parts);
  walk.region(func.body, "nothing");
  const apart = isExclusive && parts === undefined ? exchangesApart(func) : [];
  const places = placesApart(apart, loopOverPrograms(func)?.attrs.within?.length === 0);
  for (const [op, part] of places.parts) walk.exchanges.set(op, { part, barrier: false });
  walk.bytes = Math.max(walk.bytes, places.bytes);
  const partitions = partitionsOf(func);
  const partitionBytes = aligned(walk.bytes);
  walk.bytes = partitions > 1 ? partitions * partitionBytes : walk.bytes;
  const areaStart = isExclusive
    ? aligned(walk.bytes, Math.max(ALIGNMENT, swizzleAlignment(func)))
    : 0;
  const ends = buffers.map(({ attrs }) =>
    areaStart + attrs.offset + attrs.slots * attrs.slot_bytes
  );
  let bytes = Math.max(walk.bytes, ...ends);
  for (const [op, barrier] of walk.arrivals) {
    const start = aligned(bytes, VECTOR_BYTES);
    bytes = start + exchangeBytes(op);
    walk.exchanges.set(op, { part: { start, end: bytes }, barrier });
  }
  return {
    exchanges: walk.exchanges,
    partitionBytes: partitions > 1 ? partitionBytes : undefined,
    areaStart,
    bytes,
  };
}

/**
 * What threads may still read: the part that was written last, after a block barrier that came before all reads; or a
 * part of which each warp has a piece of its own, which only that warp reads.
 */
type Read = "nothing" | "anything" | Part | WarpParts;

interface WarpParts extends Part {
  readonly isByWarp: true;
}

/** Exchanges beside the last one may use so much, which costs no occupancy. */
const SMALL_BYTES = 4096;
const VECTOR_BYTES = 16;

/** Visits a function in the order of execution. */
class Walk {
  readonly exchanges = new Map<OpOf<ExchangeOp>, Exchange>();
  /** Reductions over several blocks, and whether each is in a loop. */
  readonly arrivals = new Map<OpOf<"reduce">, boolean>();
  /** Of all exchanges so far. */
  bytes = 0;
  #depth = 0;
  /** Whether exchanges may use the memory of buffers. */
  readonly #hasBuffers: boolean;
  /** The memory of all exchanges, if each warp has a piece of its own. */
  readonly #byWarp: WarpParts | undefined;

  constructor(hasBuffers: boolean, byWarp: WarpParts | undefined) {
    this.#hasBuffers = hasBuffers;
    this.#byWarp = hasBuffers ? undefined : byWarp;
  }

  /** Gives what may still be read after a region, by what may be before it. */
  region({ ops }: Region, before: Read): Read {
    return ops.reduce((read, op) => this.#op(op, read), before);
  }

  #op(op: Op, read: Read): Read {
    if (op.name === "while") return this.#loop(op, read);
    if (op.name === "if") {
      const { then, otherwise } = branchOf(op);
      return either(this.region(then, read), this.region(otherwise, read));
    }
    // Threads have read what they wanted of all that came before.
    if (op.name === "barrier") return "nothing";
    if (op.name === "once") return this.region(regionsOf(op).body, read);
    if (op.name === "produce") return this.region(regionsOf(op).body, "nothing");
    if (takesBuffer(op)) return this.#hasBuffers ? "anything" : read;
    const bytes = isExchange(op) ? exchangeBytes(op) : 0;
    if (!isExchange(op) || bytes === 0) return read;
    if (op.name === "reduce" && crossesBlocks(op)) {
      this.arrivals.set(op, this.#depth > 0 && op.attrs.alternates !== true);
      return read;
    }
    // The test of a rotated loop runs in two places. In the first it needed the most barriers.
    const exchange = this.exchanges.get(op) ?? exchangeAfter(op, bytes, read);
    this.exchanges.set(op, exchange);
    this.bytes = Math.max(this.bytes, exchange.part.end);
    if (isByWarp(op)) return { ...exchange.part, isByWarp: true };
    return hasOneBarrier(op) ? exchange.part : "anything";
  }

  #loop(op: OpOf<"while">, before: Read): Read {
    const { test, body } = loopOf(op);
    this.#depth++;
    // An iteration may find what the one before left.
    const left = this.#byWarp ?? "anything";
    const entered = this.region(test, left);
    const ended = this.region(body, entered);
    if (isRotated(test)) this.region(test, ended);
    this.#depth--;
    return this.bytes > 0 || this.#hasBuffers ? left : before;
  }
}

/** The memory of exchanges, if all are within warps and divide it likewise. */
function warpParts(
  [first, ...others]: readonly OpOf<ExchangeOp>[],
): WarpParts | undefined {
  if (first === undefined || !isByWarp(first)) return undefined;
  const end = exchangeBytes(first);
  const isAlike = others.every((op) => isByWarp(op) && exchangeBytes(op) === end);
  return isAlike ? { start: 0, end, isByWarp: true } : undefined;
}

/** Whether each warp has a piece of an exchange's memory of its own. */
const isByWarp = (op: Op): boolean => op.name === "convert_layout" && op.attrs.by_warp === true;

function exchangeAfter(op: Op, bytes: number, read: Read): Exchange {
  const at = (start: number, barrier: boolean): Exchange => ({
    part: { start, end: start + bytes },
    barrier,
  });
  // As many bytes of as many warps: each finds its own piece.
  const isSame = typeof read !== "string" && "isByWarp" in read && isByWarp(op) &&
    read.start === 0 && read.end === bytes;
  if (isSame) return at(0, false);
  const isPart = typeof read !== "string" && !("isByWarp" in read);
  const start = hasOneBarrier(op) && isPart ? beside(read, bytes) : undefined;
  return start === undefined ? at(0, read !== "nothing") : at(start, false);
}

/** What may still be read where two paths meet. */
function either(a: Read, b: Read): Read {
  if (typeof a === "string" || typeof b === "string") return a === b ? a : "anything";
  const isAlike = a.start === b.start && a.end === b.end && "isByWarp" in a === "isByWarp" in b;
  return isAlike ? a : "anything";
}

/** Where so many bytes fit below or above a part. */
function beside({ start, end }: Part, bytes: number): number | undefined {
  if (bytes <= start) return 0;
  const above = Math.ceil(end / VECTOR_BYTES) * VECTOR_BYTES;
  return above + bytes <= SMALL_BYTES ? above : undefined;
}
