/**
 * A product whose weights are split by rows among the GPUs of this process (the second product of Megatron-LM's perceptron),
 * so that every rank has a part of each sum. The rows of the result are split into bands, of which each rank adds up one: the
 * products for the bands of others store straight into their memory, and that for its own band, which comes last, adds what
 * the others have stored and stores the sums to all. An all-reduce would move as many bytes when nothing else is left to do.
 */
import { ArgumentError, type Device, type Tensor, viewPeer } from "@tri/tri/ffi";
import { rowParallel } from "../../generated/examples/parallel/row_parallel.ts";
import { matmul } from "../../generated/matmul.ts";

/** The element types that the kernel has. */
type Summed = "float16" | "bfloat16";
type Matrix = Tensor<Summed, 2>;

/** Rows of a tile of the product: bands of a multiple leave no tile half empty. */
const TILE_ROWS = 128;

/** What a rank brings to a product. */
export interface RowParallelOperands {
  /** [rows, hidden / ranks]. */
  readonly inputs: Matrix;
  /** [hidden / ranks, columns]. */
  readonly weights: Matrix;
}

/** Products of one shape on some devices. */
export interface RowParallel extends Disposable {
  /** Of each rank: the sums, which the next call overwrites. */
  readonly results: readonly Matrix[];
  /**
   * Queues on the default streams: every result = the sum of inputs @ weights over all ranks, with the same bits on each.
   * Parts are rounded to the type of the result before they are added, as for an all-reduce.
   */
  multiply(operands: readonly RowParallelOperands[]): void;
}

/** Rows [from, from + rows) of the result. */
interface Band {
  readonly from: number;
  readonly rows: number;
}

/** A rank, and the memory of others as it sees it. */
interface Rank {
  readonly device: Device;
  /** The rows that it adds up. */
  readonly own: Band;
  /** What the others store for its own band. */
  readonly received: readonly Matrix[];
  /** Its own band in its own result, and in those of the others. */
  readonly results: readonly Matrix[];
  /** The bands of the others, that of the next rank first, and where its part of each goes. */
  readonly sent: readonly { readonly band: Band; readonly out: Matrix }[];
}

/**
 * Takes memory for results of [rows, columns]. Throws `ArgumentError` where there are not 2, 3 or 4 devices that can access
 * each other's memory.
 */
export function openRowParallel(
  devices: readonly Device[],
  dtype: Summed,
  [rows, columns]: readonly [number, number],
): RowParallel {
  const size = devices.length;
  if (size < 2 || size > 4) {
    const expected = "2, 3 or 4 devices";
    throw new ArgumentError({ argument: "devices", expected, actual: `${size}` });
  }
  const places = devices.map((device, rank) => ({
    device,
    band: bandOf(rank, size, rows),
    result: device.empty(dtype, [rows, columns]),
    // Of the others, the next rank first.
    inbox: devices.slice(1).map(() =>
      device.empty(dtype, [bandOf(rank, size, rows).rows, columns])
    ),
  }));
  const ranks = places.map(({ device, band: own, result, inbox }, rank): Rank => {
    const see = (tensor: Matrix): Matrix =>
      tensor.device === device ? tensor : viewPeer(device, tensor);
    const others = [...places.slice(rank + 1), ...places.slice(0, rank)];
    const results = [result, ...others.map((other) => other.result)]
      .map((one) => see(one.narrow(0, own.from, own.rows)));
    const sent = others.flatMap(({ band, inbox }, i) => {
      // Seen from there, this rank comes as many places before the end as that one comes after this.
      const place = inbox[size - 2 - i];
      return place === undefined ? [] : [{ band, out: see(place) }];
    });
    return { device, own, received: inbox, results, sent };
  });
  return {
    results: places.map(({ result }) => result),
    multiply: (operands) => multiply(ranks, operands),
    [Symbol.dispose]: () => {
      // What has begun on one device needs the memory of all.
      for (const device of devices) if (!device.disposed) device.synchronize();
      for (const { result, inbox } of places) {
        for (const tensor of [result, ...inbox]) tensor.dispose();
      }
    },
  };
}

/** Whole tiles, but for the end of the last band; the last ones may have no rows. */
function bandOf(rank: number, size: number, rows: number): Band {
  const height = Math.ceil(rows / (size * TILE_ROWS)) * TILE_ROWS;
  const from = Math.min(rank * height, rows);
  return { from, rows: Math.min(height, rows - from) };
}

function multiply(ranks: readonly Rank[], operands: readonly RowParallelOperands[]): void {
  // The others may still add what an earlier call has stored, or read its result.
  waitForAll(ranks);
  for (const [i, { sent }] of ranks.entries()) {
    const { inputs, weights } = operandsOf(operands, i);
    for (const { band: { from, rows }, out } of sent) {
      matmul(inputs.narrow(0, from, rows), weights, { out });
    }
  }
  waitForAll(ranks);
  for (const [i, rank] of ranks.entries()) addOwn(rank, operandsOf(operands, i));
  // A result has rows of all ranks.
  waitForAll(ranks);
}

function operandsOf(operands: readonly RowParallelOperands[], rank: number): RowParallelOperands {
  const own = operands[rank];
  if (own === undefined) throw new RangeError(`there are no operands of rank ${rank}`);
  return own;
}

/** The rank's own band: its product and what the others have stored, to all results. */
function addOwn(
  { own: { from, rows }, received: [p0, p1, p2], results: [out, r1, r2, r3] }: Rank,
  { inputs, weights }: RowParallelOperands,
): void {
  if (p0 === undefined || out === undefined || r1 === undefined) {
    throw new RangeError("fewer than two ranks");
  }
  rowParallel(inputs.narrow(0, from, rows), weights, p0, r1, {
    p1: p1 ?? null,
    p2: p2 ?? null,
    out,
    r2: r2 ?? null,
    r3: r3 ?? null,
  });
}

/** Makes the default stream of each device wait for those of all others. */
function waitForAll(ranks: readonly Rank[]): void {
  const events = ranks.map(({ device }) => device.event().record());
  for (const { device } of ranks) {
    for (const event of events) device.defaultStream.waitFor(event);
  }
  for (const event of events) event[Symbol.dispose]();
}
