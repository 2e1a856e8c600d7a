/**
 * The perceptron of tensor_parallel.ts with its communication beside the products: the samples are worked on in slices,
 * and while the products of one are computed, the parts of the one before are added up. Parts travel by copies between
 * devices, which take no multiprocessors from the products: each device adds up its share of a slice's rows
 * (reduce-scatter), and passes the sums on (all-gather).
 */
import type { Device, Stream, Tensor } from "@tri/tri/ffi";
import { sumParts } from "../../generated/examples/parallel/sum.ts";
import { matmul } from "../../generated/matmul.ts";

type Matrix = Tensor<"bfloat16", 2>;

/** What one device has: [rows, inputs], [inputs, hidden / ranks] and [hidden / ranks, outputs]. */
export interface RankPart {
  readonly inputs: Matrix;
  readonly first: Matrix;
  readonly second: Matrix;
}

/** Memory of a rank that slices use in turns. */
interface Slot {
  readonly product: Matrix;
  /** The parts of all ranks for this rank's share of the rows. */
  readonly inbox: Tensor<"bfloat16", 3>;
}

/** A rank with its memory and the stream of its copies and sums. */
interface Rank extends RankPart {
  readonly device: Device;
  readonly hidden: Matrix;
  readonly slots: readonly [Slot, Slot];
  readonly result: Matrix;
  readonly copies: Stream;
}

/** The perceptron on some devices; memory and streams are kept from call to call. */
export interface Overlapped extends Disposable {
  /** Queues inputs @ first @ second, whose sum over the ranks each of them gets. */
  run(): readonly Matrix[];
}

/** `activate` changes hidden elements in place. The rows divide into `slices` times the number of ranks. */
export function openOverlapped(
  parts: readonly RankPart[],
  slices: number,
  activate: (hidden: Matrix) => void = () => {},
): Overlapped {
  const rows = parts[0]?.inputs.shape[0] ?? 0;
  const share = rows / slices / parts.length;
  if (!Number.isInteger(share) || share === 0) {
    const among = `${slices} slices for ${parts.length} ranks`;
    throw new RangeError(`${rows} rows do not divide into ${among}`);
  }
  const ranks = parts.map((part) => rankOf(part, share, parts.length));
  return {
    run: () => {
      for (let slice = 0; slice < slices; slice++) {
        for (const rank of ranks) multiply(rank, slice, share * ranks.length, activate);
        addUp(ranks, slice, share);
      }
      return ranks.map(({ result }) => result);
    },
    [Symbol.dispose]: () => {
      for (const { hidden, slots, result, copies } of ranks) {
        const used = slots.flatMap(({ product, inbox }) => [product, inbox]);
        for (const tensor of [hidden, result, ...used]) tensor.dispose();
        copies[Symbol.dispose]();
      }
    },
  };
}

function rankOf(part: RankPart, share: number, size: number): Rank {
  const { inputs: { device, shape: [rows] }, first, second } = part;
  const outputs = second.shape[1];
  const slot = (): Slot => ({
    product: device.empty("bfloat16", [share * size, outputs]),
    inbox: device.empty("bfloat16", [size, share, outputs]),
  });
  return {
    ...part,
    device,
    hidden: device.empty("bfloat16", [share * size, first.shape[1]]),
    slots: [slot(), slot()],
    result: device.empty("bfloat16", [rows, outputs]),
    copies: device.stream(),
  };
}

const slotOf = ({ slots: [even, odd] }: Rank, slice: number): Slot => slice % 2 === 0 ? even : odd;

/** This rank's part of the result's rows of a slice, on its default stream. */
function multiply(
  rank: Rank,
  slice: number,
  count: number,
  activate: (hidden: Matrix) => void,
): void {
  const { inputs, first, second, hidden } = rank;
  matmul(inputs.narrow(0, slice * count, count), first, { out: hidden });
  activate(hidden);
  matmul(hidden, second, { out: slotOf(rank, slice).product });
}

/** Each rank adds up its share of the slice's rows; then all get the sums. */
function addUp(ranks: readonly Rank[], slice: number, share: number): void {
  const size = ranks.length;
  const rowsOf = (result: Matrix, rank: number): Matrix =>
    result.narrow(0, (slice * size + rank) * share, share);
  for (const [at, rank] of ranks.entries()) {
    const { inbox } = slotOf(rank, slice);
    const { copies: stream, result } = rank;
    // Each begins with its neighbour, so that none has to send to all others at once.
    for (const other of rotated(ranks, at)) {
      const part = slotOf(other, slice).product.narrow(0, at * share, share);
      const from = ranks.indexOf(other);
      inbox.narrow(0, from, 1).reshape(part.shape).copyFrom(part, { stream });
    }
    const out = rowsOf(result, at);
    const flat = out.reshape([out.elements]);
    sumParts(inbox.reshape([size, out.elements]), { out: flat, stream });
  }
  for (const [at, { result, copies: stream }] of ranks.entries()) {
    for (const other of rotated(ranks, at).slice(1)) {
      const from = ranks.indexOf(other);
      rowsOf(result, from).copyFrom(rowsOf(other.result, from), { stream });
    }
  }
}

function rotated<T>(list: readonly T[], by: number): readonly T[] {
  return [...list.slice(by), ...list.slice(0, by)];
}
