/**
 * The warps of a block where no option says how many: four, and more for large tiles. And the most registers of a thread, where a
 * program reduces rows: blocks that wait for their threads load nothing meanwhile, so a multiprocessor needs several.
 *
 * What was tuned on GPUs decides (kernels/softmax.tc and its kin, transpose.tc, matmul_tiles.h). A thread has 16 elements of
 * tiles of 4096 and 32 of larger ones, so that its loads are under way at once and two or three tiles fit its registers; four
 * warps would have 128 elements of a row of 16,384 for each thread. The sums of a product take at most 128 registers.
 *
 * A thread with 32 elements has up to 128 registers if none are stated, so 16 warps fit a multiprocessor. If these load more
 * than memory needs under way, that is best; layer norm of 8192 halves, 16 KB a row, makes 0.75 to 0.91 of a copy so,
 * with three blocks of 8 warps 0.92 to 0.98. Not if a row is stored before it is reduced: such a sum of rows stays in registers
 * (layer norm of the sum of two rows of 16,384 halves 0.98, with 64 registers 0.76; tests/gpu/results/rows.md).
 */
import type { Func, Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { isPointer } from "../ir/types.ts";
import { walkOps } from "../ir/walk.ts";
import { tileBytes } from "../layout/tiles.ts";
import { product } from "../linear/linear.ts";

const LANES = 32;
/** For all kernels. */
const LEAST = 4;
const MOST = { dots: 8, others: 32 } as const;
/** Elements of a thread: of tiles up to `LARGE_TILE`, of larger ones, and of sums of products. */
const PER_THREAD = { usual: 16, large: 32, sums: 128 } as const;
const LARGE_TILE = 4096;
/** Bytes that the blocks of a multiprocessor have to load at once to keep memory busy while others reduce. */
const UNDER_WAY = 80_000;
/** Warps of a multiprocessor whose threads have 128 registers. */
const WARPS_OF_MANY_REGISTERS = 16;
/** Registers of a thread with which a multiprocessor has 24 warps and 32: three blocks of 8 and two of 16. */
const REGISTERS = { blocksOf8: 80, blocksOf16: 64 } as const;

/** Warps and registers; undefined: as many as a thread can have. */
export interface Block {
  readonly numWarps: number;
  readonly maxRegisters: number | undefined;
}

/** For a function after the passes that all targets share. */
export function defaultBlock(func: Func, numCtas: number): Block {
  const tiles = tilesOf(func);
  const numWarps = warpsFor(tiles, numCtas);
  return { numWarps, maxRegisters: registersFor(tiles, numCtas, numWarps) };
}

/** A power of two, as the extents of tiles are. */
function warpsFor({ largest, sums }: Tiles, numCtas: number): number {
  if (sums > 0) return between(LEAST, sums / LANES / PER_THREAD.sums, MOST.dots);
  const elements = largest / numCtas;
  const each = elements > LARGE_TILE ? PER_THREAD.large : PER_THREAD.usual;
  return between(LEAST, elements / LANES / each, MOST.others);
}

function registersFor(tiles: Tiles, numCtas: number, numWarps: number): number | undefined {
  const { largest, sums, loaded, isReduced, isStoredFirst } = tiles;
  // A multiprocessor has no more for them.
  if (numWarps === MOST.others) return REGISTERS.blocksOf16;
  const isLarge = sums === 0 && largest / numCtas > LARGE_TILE;
  if (!isLarge || !isReduced || isStoredFirst) return undefined;
  const blocks = WARPS_OF_MANY_REGISTERS / numWarps;
  if (blocks * loaded / numCtas >= UNDER_WAY) return undefined;
  return numWarps < WARPS_OF_MANY_REGISTERS ? REGISTERS.blocksOf8 : REGISTERS.blocksOf16;
}

/** What a program does with tiles. */
interface Tiles {
  /** Elements of the largest tile, and of the largest sum of products. */
  readonly largest: number;
  readonly sums: number;
  /** Bytes of the rows that it loads: not of what all programs load. */
  readonly loaded: number;
  readonly isReduced: boolean;
  /** Whether it stores tiles before it reduces some. */
  readonly isStoredFirst: boolean;
}

function tilesOf({ body }: Func): Tiles {
  let [largest, sums, loaded] = [1, 0, 0];
  let [isReduced, isStored, isStoredFirst] = [false, false, false];
  /** What may differ from program to program, or from iteration to iteration. */
  const varying = new Set<Value>();
  walkOps(body, (op) => {
    const { name, operands, results, regions } = op;
    regions.forEach(({ params }) => params.forEach((param) => varying.add(param)));
    const varies = name === "program_id" || operands.some((value) => varying.has(value));
    for (const result of results) {
      const { type: { element, shape } } = result;
      if (varies) varying.add(result);
      if (isPointer(element) || element === "bool") continue;
      largest = Math.max(largest, product(shape));
      if (name === "dot") sums = Math.max(sums, product(shape));
      if (name === "load" && varying.has(operandsOf(op).pointer)) loaded += tileBytes(result.type);
    }
    isStored ||= name === "store" && operandsOf(op).pointer.type.shape.length > 0;
    if (name === "reduce") [isReduced, isStoredFirst] = [true, isStored];
  });
  return { largest, sums, loaded, isReduced, isStoredFirst };
}

const between = (least: number, value: number, most: number): number =>
  Math.max(least, Math.min(value, most));
