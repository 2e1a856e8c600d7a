/**
 * An all-reduce for few elements, in one kernel on each GPU: it reads and adds what all ranks have written, in the memory of
 * each (peer access). NCCL passes parts on from rank to rank, which takes longer where the time is latency.
 */
import { ArgumentError, type Device, type Stream, type Tensor, viewPeer } from "@tri/tri/ffi";
import { oneShot2, oneShot4 } from "../../generated/examples/parallel/one_shot.ts";

/** The types that the kernels have, and the most bytes of a tensor (CAPACITY in one_shot.h). */
type Summed = "float32" | "float16" | "bfloat16";
export const ONE_SHOT_BYTES = 2 ** 20;
/** Twice PROGRAMS of one_shot.h: signals that have come, and launches. */
const SIGNALS = 512;

/** What a rank is called with. */
export interface OneShotCall<D extends Summed> {
  readonly input: Tensor<D, 1>;
  /** Other memory than the input. */
  readonly output: Tensor<D, 1>;
  /** The default stream of the device by default. */
  readonly stream?: Stream;
}

/** The all-reduce of some devices of this process. */
export interface OneShot<D extends Summed> extends Disposable {
  /**
   * The launches of all ranks, in their order: make them all, in any order, before waiting for one of them. They can be
   * captured, each on its stream.
   */
  prepare(calls: readonly OneShotCall<D>[]): readonly (() => void)[];
  /** Every output = the sum of the inputs of all ranks. */
  allReduce(calls: readonly OneShotCall<D>[]): void;
}

/** The memory of the ranks, as one of them sees it. */
interface Sight<D extends Summed> {
  readonly mailboxes: readonly Tensor<D, 1>[];
  readonly signals: readonly Tensor<"int32", 1>[];
}

/** Memory that all ranks see. Throws `ArgumentError` where there are not 2 or 4 devices that can access each other's memory. */
export function openOneShot<D extends Summed>(devices: readonly Device[], dtype: D): OneShot<D> {
  if (devices.length !== 2 && devices.length !== 4) {
    throw new ArgumentError({
      argument: "devices",
      expected: "2 or 4 devices",
      actual: `${devices.length}`,
    });
  }
  const elements = ONE_SHOT_BYTES / (dtype === "float32" ? 4 : 2);
  const mailboxes = devices.map((device) => device.zeros(dtype, [2 * elements]));
  const signals = devices.map((device) => device.zeros("int32", [SIGNALS]));
  const sights = devices.map((device): Sight<D> => {
    const see = <E extends Summed | "int32">(tensor: Tensor<E, 1>): Tensor<E, 1> =>
      tensor.device === device ? tensor : viewPeer(device, tensor);
    return { mailboxes: mailboxes.map(see), signals: signals.map(see) };
  });
  // Kernels of other devices must not begin before the memory is zero.
  for (const device of devices) device.synchronize();
  const prepare: OneShot<D>["prepare"] = (calls) => {
    const [first] = calls;
    return sights.map((sight, rank) => {
      const call = calls[rank];
      if (call === undefined) throw new RangeError(`there is no call for rank ${rank}`);
      if (call.input.elements !== first?.input.elements) {
        throw new ArgumentError({
          argument: `input of rank ${rank}`,
          expected: `${first?.input.elements} elements, as on rank 0`,
          actual: `${call.input}`,
        });
      }
      return launchOf(sight, rank, call);
    });
  };
  return {
    prepare,
    allReduce: (calls) => prepare(calls).forEach((launch) => launch()),
    [Symbol.dispose]: () => {
      // What has begun on one device needs the memory of all.
      for (const device of devices) if (!device.disposed) device.synchronize();
      for (const { mailboxes, signals } of sights) {
        for (const tensor of [...mailboxes, ...signals]) tensor.dispose();
      }
    },
  };
}

function launchOf<D extends Summed>(
  { mailboxes: [m0, m1, m2, m3], signals: [s0, s1, s2, s3] }: Sight<D>,
  rank: number,
  { input, output: out, stream = input.device.defaultStream }: OneShotCall<D>,
): () => void {
  const options = { rank, out, stream };
  if (m0 === undefined || m1 === undefined || s0 === undefined || s1 === undefined) {
    throw new RangeError("fewer than two ranks");
  }
  if (m2 === undefined || m3 === undefined || s2 === undefined || s3 === undefined) {
    return oneShot2.prepare(input, m0, m1, s0, s1, options);
  }
  return oneShot4.prepare(input, m0, m1, m2, m3, s0, s1, s2, s3, options);
}
