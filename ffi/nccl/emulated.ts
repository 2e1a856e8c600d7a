/**
 * Communication between emulators of one process: the processor reads what all ranks pass, and writes what they get.
 * Sums are computed in double precision and rounded once, where NCCL rounds after each rank.
 */
import { DTYPES, type HostBytes } from "../dtype.ts";
import { type Element, elementReader, fillElements } from "../tensors/elements.ts";
import { ArgumentError } from "../errors.ts";
import type { Tensor } from "../tensors/tensor.ts";
import { type Call, type CallKind, dtypeOf, KINDS, shareOf } from "./call.ts";
import type { Reduction } from "./symbols.ts";
import type { RankCall, Transport } from "./transport.ts";

type Combine = (values: readonly Element[]) => Element;

const fold =
  (numbers: (a: number, b: number) => number, integers: (a: bigint, b: bigint) => bigint) =>
  (values: readonly Element[]): Element =>
    values.reduce((a, b) =>
      typeof a === "bigint" || typeof b === "bigint"
        ? integers(BigInt(a), BigInt(b))
        : numbers(a, b)
    );

const sum: Combine = fold((a, b) => a + b, (a, b) => a + b);

const COMBINE: Readonly<Record<Reduction, Combine>> = {
  sum,
  product: fold((a, b) => a * b, (a, b) => a * b),
  max: fold(Math.max, (a, b) => a > b ? a : b),
  min: fold(Math.min, (a, b) => a < b ? a : b),
  average: (values) => {
    const total = sum(values);
    return typeof total === "bigint" ? total / BigInt(values.length) : total / values.length;
  },
};

/** What each rank gets of a collective, by rank; `share` in bytes. */
type Outcome = (inputs: readonly HostBytes[], call: Call, share: number) => readonly HostBytes[];

const part = (bytes: HostBytes, index: number, share: number): HostBytes =>
  bytes.subarray(index * share, (index + 1) * share);

const OUTCOMES: Readonly<Partial<Record<CallKind, Outcome>>> = {
  allReduce: (inputs, call) => {
    const total = reduce(inputs, call);
    return inputs.map(() => total);
  },
  reduceScatter: (inputs, call, share) => {
    const total = reduce(inputs, call);
    return inputs.map((_, rank) => part(total, rank, share));
  },
  allGather: (inputs) => {
    const all = concat(inputs);
    return inputs.map(() => all);
  },
  broadcast: (inputs, { peer = 0 }) => inputs.map(() => inputs[peer] ?? new Uint8Array(0)),
  allToAll: (inputs, _, share) =>
    inputs.map((_, rank) => concat(inputs.map((input) => part(input, rank, share)))),
};

function reduce(inputs: readonly HostBytes[], call: Call): HostBytes {
  const dtype = dtypeOf(call);
  const combine = COMBINE[call.reduction ?? "sum"];
  const readers = inputs.map((bytes) => elementReader(dtype, bytes));
  const count = (inputs[0]?.length ?? 0) / DTYPES[dtype].bytes;
  return fillElements(dtype, count, (index) => combine(readers.map((read) => read(index))));
}

function concat(pieces: readonly HostBytes[]): HostBytes {
  const all = new Uint8Array(pieces.reduce((total, { length }) => total + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** All ranks are emulators of this process. */
export function emulatedTransport(size: number): Transport {
  return {
    run: (calls) => {
      for (const { call: { kind, stream } } of calls) {
        if (stream.recording === undefined) continue;
        throw new ArgumentError({
          argument: `stream of ${KINDS[kind].name}`,
          expected: "a stream that is not being recorded: emulators cannot record communication",
          actual: "one inside of capture()",
        });
      }
      const isCollective = ({ call }: RankCall): boolean => KINDS[call.kind].collective;
      runCollectives(calls.filter(isCollective), size);
      runPairs(calls.filter((one) => !isCollective(one)));
    },
    check: () => {},
    abort: () => {},
    close: () => {},
  };
}

/** The calls were checked: each rank has the same ones. */
function runCollectives(calls: readonly RankCall[], size: number): void {
  const byRank = Array.from(
    { length: size },
    (_, rank) => calls.filter((one) => one.rank === rank).map(({ call }) => call),
  );
  for (const [at, model] of (byRank[0] ?? []).entries()) {
    const each = byRank.flatMap((own) => own[at] ?? []);
    const inputs = each.map((call) => bytesOf(call, call.input));
    const share = shareOf(model, size) * DTYPES[dtypeOf(model)].bytes;
    const outputs = OUTCOMES[model.kind]?.(inputs, model, share) ?? [];
    for (const [rank, call] of each.entries()) write(call, outputs[rank]);
  }
}

/** All is read before anything is written, as when they ran at once. */
function runPairs(calls: readonly RankCall[]): void {
  const sent = new Map<string, HostBytes[]>();
  for (const { rank, call } of calls) {
    if (call.kind !== "send") continue;
    const way = `${rank} ${call.peer}`;
    sent.set(way, [...sent.get(way) ?? [], bytesOf(call, call.input)]);
  }
  for (const { rank, call } of calls) {
    if (call.kind === "receive") write(call, sent.get(`${call.peer} ${rank}`)?.shift());
  }
}

function bytesOf({ stream }: Call, tensor: Tensor | undefined): HostBytes {
  if (tensor === undefined) return new Uint8Array(0);
  const bytes = new Uint8Array(tensor.elements * DTYPES[tensor.dtype].bytes);
  tensor.buffer.download(bytes, tensor.offset * DTYPES[tensor.dtype].bytes, stream).synchronize();
  return bytes;
}

function write({ output, stream }: Call, bytes: HostBytes | undefined): void {
  if (output === undefined || bytes === undefined || bytes.length === 0) return;
  output.buffer.use(stream, true);
  const driver = output.device.enter();
  driver.copyToDevice(output.address, bytes, stream.handle);
  driver.synchronizeStream(stream.handle);
}
