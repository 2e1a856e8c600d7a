/**
 * Conversions of layouts whose tiles are spread over the blocks of a program. Each block puts its part into its own shared
 * memory, without the index bits that say which block it is. Where every block then finds what it needs in its own part,
 * the conversion is one of that part; else threads read from the shared memory of other blocks.
 */
import { contains, spaceOf } from "../linear/f2.ts";
import { freeMask, type LinearLayout, mapBases, product } from "../linear/linear.ts";
import { threadBases } from "../linear/threads.ts";
import { must } from "../support/bug.ts";
import { times } from "../support/times.ts";

/** A conversion as one of parts of a tile. */
export interface PartConversion {
  /** The layouts of a block's part; its shape has one axis. */
  readonly src: LinearLayout;
  readonly dst: LinearLayout;
  /** Which block has an element, by the bits of the destination; undefined: the thread's own always does. */
  readonly ranks: BlockRanks | undefined;
}

/** Numbers of blocks as a linear map. */
export interface BlockRanks {
  readonly register: readonly number[];
  /** By the bits of a thread's index in its program. */
  readonly thread: readonly number[];
}

/** The conversion of what a block has. */
export function partConversion(src: LinearLayout, dst: LinearLayout): PartConversion {
  const own = spaceOf([...src.register, ...src.lane, ...src.warp]);
  const ownerBits = src.block.map((basis) => contains(own, basis) ? 0 : basis);
  const part = (layout: LinearLayout): LinearLayout => withoutBits(layout, ownerBits);
  const isOwn =
    [...dst.register, ...dst.lane, ...dst.warp].every((basis) => contains(own, basis)) &&
    dst.block.every((basis, bit) => contains(own, basis ^ must(src.block[bit], "block bit")));
  if (isOwn) return { src: part(src), dst: part(dst), ranks: undefined };
  const rankOf = (basis: number): number =>
    ownerBits.reduce((rank, bit, i) => (basis & bit) === 0 ? rank : rank | (1 << i), 0);
  // Of blocks that hold copies, each reads its own one.
  const copies = freeMask(ownerBits);
  const thread = threadBases(dst).map(rankOf);
  const first = thread.length - dst.block.length;
  return {
    src: part(src),
    dst: part(dst),
    ranks: {
      register: dst.register.map(rankOf),
      thread: thread.map((rank, bit) =>
        bit < first ? rank : rank | ((1 << (bit - first)) & copies)
      ),
    },
  };
}

/** A layout without some bits of the index: those above them move down. */
function withoutBits(layout: LinearLayout, taken: readonly number[]): LinearLayout {
  const count = product(layout.shape);
  const kept = times(Math.log2(count), (bit) => 1 << bit)
    .filter((bit) => !taken.includes(bit));
  const lower = (basis: number): number =>
    kept.reduce((image, bit, i) => (basis & bit) === 0 ? image : image | (1 << i), 0);
  return mapBases(layout, [2 ** kept.length], lower);
}
