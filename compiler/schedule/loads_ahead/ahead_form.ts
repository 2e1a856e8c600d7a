/**
 * Whether loads ahead are a gain, and what holds the tiles that have been loaded.
 *
 * A multiprocessor needs so many bytes under way that its part of the bandwidth of memory is used for as long as a load takes
 * (Little's law): an H200 gives each 32 KB per microsecond, and a loaded memory answers in 1.2 microseconds. If its
 * blocks load more in an iteration, some of them load while others reduce. It must be more by as much as iterations are
 * longer than their loads: where threads wait for each other once, by a half, twice, by one.
 *
 * How many blocks a multiprocessor has is up to the launch. Of a program for each row there may be few, as rows with loops are
 * long: of 264 rows each multiprocessor has two, and with 64 KB in an iteration cross-entropy is as fast as a copy, with 32
 * KB it makes 0.81, and 0.99 if it loads ahead. So two are counted, and one of programs that are few anyway
 * (`hasFewPrograms`).
 *
 * Registers hold one tile. Slots in shared memory hold more, but copies and reads from there are instructions: where 16 blocks
 * of a multiprocessor hide what a load takes, softmax by chunks makes 0.91 of a copy with registers, 0.85 with slots, and
 * sums of columns by one block 0.43 and 1.0 (H200, tests/gpu/results/texts.md). So few programs have slots, others registers.
 *
 * Loops that add up tiles wait nowhere, so with many programs others load meanwhile, and only copies of 16 bytes cost little
 * enough. Sums of 264 rows of 131072 halves make 0.94 of a copy instead of 0.36, and derivatives of a bias by 32 programs as
 * much as torch's (H200, tests/gpu/results/texts.md).
 *
 * An iteration that stores tiles keeps memory busy by itself: softmax of rows in turn gains with two blocks of 8 warps (0.82 and
 * 0.91) and loses with three (0.92 and 0.90), as registers leave room for fewer.
 */
import { loopOf } from "../../ir/flow.ts";
import type { Value } from "../../ir/func.ts";
import { resultOf } from "../../ir/op.ts";
import { bytesOf, isPointer } from "../../ir/types.ts";
import { registerCount, tileBytes } from "../../layout/tiles.ts";
import { fitsShared, query, type Target } from "../../targets.ts";
import type { TargetContext } from "../../tile/pass.ts";
import { stagesOf } from "../pipeline/loop_loads.ts";
import { bytesInBlock, ownAccess } from "../own_copies.ts";
import type { AheadLoop } from "./ahead_loads.ts";

/** What holds the tiles of later iterations. */
export type AheadForm =
  | { readonly in: "registers" }
  | { readonly in: "slots"; readonly slots: number; readonly vectorBits: readonly number[] };

/** Bytes that a multiprocessor has under way when memory is busy (H200). */
const IN_FLIGHT = 40_000;
/** Waits of a block for its threads that take as long as a load. */
const WAITS = 2;
/** Blocks of a multiprocessor, of launches with few programs of a row, and of other programs that are few. */
const FEW_BLOCKS = { rows: 2, others: 1 } as const;
/** More tiles than this only take space. */
const MOST_AHEAD = 5;
/** Registers of a thread for addresses, masks and scalars. */
const SPARE_REGISTERS = 24;
/** What a thread can have. */
const MOST_REGISTERS = 255;
/** A thread's registers are allotted in such steps. */
const REGISTER_UNIT = 8;
const WARP_THREADS = 32;
/** Of `cp.async`. */
const COPY_BYTES: readonly number[] = [4, 8, 16];
/** Of loops that wait for nothing else: smaller copies are more instructions than they save time. */
const WHOLE_COPIES: readonly number[] = [16];

/**
 * Undefined where enough is under way as it is, or nothing can hold the tiles; a hint of the loop or the kernel (`num_stages`)
 * decides before that. `shared`: bytes that a block needs without them.
 */
export function chooseForm(
  ahead: AheadLoop,
  context: TargetContext,
  shared: number,
): AheadForm | undefined {
  const { loop, loads, barriers, hasFewPrograms, storesTiles, waits } = ahead;
  const { numCtas, numWarps, target, maxRegisters = MOST_REGISTERS } = context;
  const tiles = loads.map(resultOf);
  const bytes = tiles.reduce((sum, { type }) => sum + tileBytes(type), 0) / numCtas;
  const registers = SPARE_REGISTERS + sumOf(tiles, elementRegisters) +
    sumOf(loopOf(loop).body.params, elementRegisters);
  const blocksWith = (more: number, shared: number): number =>
    blocksOf(target, { numWarps, registers: Math.min(registers + more, maxRegisters), shared });
  const few = hasFewPrograms ? FEW_BLOCKS.others : FEW_BLOCKS.rows;
  const blocks = Math.min(few, blocksWith(0, shared));
  const stages = stagesOf(loop, context);
  const isHidden = storesTiles || blocks * bytes * WAITS >= IN_FLIGHT * (WAITS + barriers);
  if (stages === 1 || (stages === undefined && isHidden)) return undefined;
  const enough = Math.min(MOST_AHEAD, Math.max(1, Math.round(IN_FLIGHT / (blocks * bytes))));
  // Loads of one iteration are under way without slots, where threads wait nowhere else.
  const least = !waits ? Math.max(2, enough) : hasFewPrograms ? enough : 1;
  const wanted = stages === undefined ? least : stages - 1;
  const most = blocksWith(0, shared);
  /** Whether as much as before is under way where a multiprocessor is full, or all that is needed. */
  const isKept = (left: number, ahead: number): boolean =>
    left * ahead * (WAITS + barriers) >= most * WAITS || left * ahead * bytes >= IN_FLIGHT;
  const held = sumOf(tiles, words);
  const fits = registers + held <= maxRegisters && isKept(blocksWith(held, shared), 1);
  if (wanted === 1 && fits && waits) return { in: "registers" };
  const slots = slotsOf(ahead, context, shared, {
    wanted: 1 + wanted,
    isKept: (slots, all) => isKept(blocksWith(0, all), slots - 1),
  });
  return slots ?? (fits ? { in: "registers" } : undefined);
}

const sumOf = (values: readonly Value[], of: (value: Value) => number): number =>
  values.reduce((sum, value) => sum + of(value), 0);

/** Registers of a thread for the elements of a tile, each by itself; addresses are sums of few. */
function elementRegisters(value: Value): number {
  const { element, layout } = value.type;
  if (layout === undefined || isPointer(element) || element === "bool") return 0;
  return registerCount(value) * Math.max(1, bytesOf(element) / 4);
}

/** The same, as they come from memory. */
const words = (value: Value): number =>
  Math.ceil(registerCount(value) * bytesOf(value.type.element) / 4);

/** What a block takes of a multiprocessor. */
interface BlockUse {
  readonly numWarps: number;
  /** Of a thread. */
  readonly registers: number;
  readonly shared: number;
}

/** How many blocks a multiprocessor has room for. */
function blocksOf(target: Target, { numWarps, registers, shared }: BlockUse): number {
  const allotted = REGISTER_UNIT * Math.ceil(registers / REGISTER_UNIT) * WARP_THREADS * numWarps;
  return query(
    target,
    ({ registersPerSm, warpsPerSm, blocksPerSm, sharedBytesPerSm, sharedBytesReserved }) =>
      Math.max(
        1,
        Math.min(
          blocksPerSm,
          Math.floor(warpsPerSm / numWarps),
          Math.floor(registersPerSm / allotted),
          shared === 0
            ? blocksPerSm
            : Math.floor(sharedBytesPerSm / (shared + sharedBytesReserved)),
        ),
      ),
  );
}

/** As many slots as are wanted and leave enough blocks, two at least. */
function slotsOf(
  { loads, waits }: AheadLoop,
  { target, numCtas, axisInfo }: TargetContext,
  shared: number,
  { wanted, isKept }: {
    readonly wanted: number;
    readonly isKept: (slots: number, shared: number) => boolean;
  },
): AheadForm | undefined {
  if (!target.asyncCopies || numCtas > 1) return undefined;
  const accesses = loads.flatMap((load) => ownAccess(load, axisInfo()) ?? []);
  const isCopied = accesses.length === loads.length &&
    accesses.every(({ bytes }) => (waits ? COPY_BYTES : WHOLE_COPIES).includes(bytes));
  if (!isCopied) return undefined;
  const slot = loads.reduce((sum, load) => sum + bytesInBlock(load), 0);
  for (let slots = wanted; slots >= 2; slots--) {
    const all = shared + slots * slot;
    if (fitsShared(target, all) && isKept(slots, all)) {
      return { in: "slots", slots, vectorBits: accesses.map(({ vectorBits }) => vectorBits) };
    }
  }
  return undefined;
}
