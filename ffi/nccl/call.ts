/**
 * Calls of communicators as data, and what is checked of them before anything is queued: alone, and against those of
 * other ranks.
 */
import { nameValue } from "../arguments/brands.ts";
import type { Device } from "../device.ts";
import { DTYPES } from "../dtype.ts";
import { ArgumentError } from "../errors.ts";
import { overlap } from "../kernel/call/overlap.ts";
import { isDense } from "../tensors/shape.ts";
import type { Stream } from "../stream.ts";
import { isTensor, type Tensor } from "../tensors/tensor.ts";
import { REDUCED_DTYPES, type Reduction, REDUCTIONS } from "./symbols.ts";

export type CallKind =
  | "allReduce"
  | "reduceScatter"
  | "allGather"
  | "broadcast"
  | "allToAll"
  | "send"
  | "receive";

/** One call on one rank. */
export interface Call {
  readonly kind: CallKind;
  /** What is sent; undefined for `receive`. */
  readonly input: Tensor | undefined;
  /** What is written; undefined for `send`. The same as `input` for `broadcast`. */
  readonly output: Tensor | undefined;
  readonly reduction: Reduction | undefined;
  /** The root of a broadcast, the other rank of send and receive. */
  readonly peer: number | undefined;
  readonly stream: Stream;
}

/** What a call is checked for. */
export interface RankFacts {
  readonly device: Device;
  readonly rank: number;
  readonly size: number;
}

type Shares = readonly [input: number, output: number];
const ONE_EACH: Shares = [1, 1];

interface KindRow {
  /** For messages. */
  readonly name: string;
  /** Elements of input and output for each rank's share: how many shares they have. */
  readonly shares: (size: number) => Shares;
  /** Whether each rank makes the same call. */
  readonly collective: boolean;
}

export const KINDS: Readonly<Record<CallKind, KindRow>> = {
  allReduce: { name: "all-reduce", shares: () => ONE_EACH, collective: true },
  reduceScatter: { name: "reduce-scatter", shares: (size) => [size, 1], collective: true },
  allGather: { name: "all-gather", shares: (size) => [1, size], collective: true },
  broadcast: { name: "broadcast", shares: () => ONE_EACH, collective: true },
  allToAll: { name: "all-to-all", shares: (size) => [size, size], collective: true },
  send: { name: "send", shares: () => ONE_EACH, collective: false },
  receive: { name: "receive", shares: () => ONE_EACH, collective: false },
};

/** Elements of one share: what NCCL calls the count. */
export function shareOf({ kind, input, output }: Call, size: number): number {
  const row = KINDS[kind];
  const [inputs, outputs] = row.shares(size);
  return input === undefined ? (output?.elements ?? 0) / outputs : input.elements / inputs;
}

/** The element type; both tensors have it. */
export function dtypeOf({ input, output }: Call): Tensor["dtype"] {
  return (input ?? output)?.dtype ?? "uint8";
}

/** Throws `ArgumentError` for a call that this rank cannot make. */
export function checkCall(call: Call, facts: RankFacts): void {
  const { kind, input, output, reduction, peer, stream } = call;
  const { device, rank, size } = facts;
  const row = KINDS[kind];
  if (input !== undefined) expectTensor("input", row, input, facts);
  if (output !== undefined && output !== input) expectTensor("output", row, output, facts);
  if (stream.device !== device) {
    throw new ArgumentError({
      argument: `stream of ${row.name}`,
      expected: `a stream of ${device.label}, the device of rank ${rank}`,
      actual: `one of ${stream.device.label}`,
    });
  }
  if (peer !== undefined) expectPeer(row, peer, facts);
  if (reduction !== undefined) {
    if (!Object.hasOwn(REDUCTIONS, reduction)) {
      const expected = Object.keys(REDUCTIONS).join(", ");
      throw new ArgumentError({ argument: "reduction", expected, actual: String(reduction) });
    }
    if (REDUCED_DTYPES[dtypeOf(call)] === undefined) {
      throw new ArgumentError({
        argument: `input of ${row.name}`,
        expected: `elements of ${Object.keys(REDUCED_DTYPES).join(", ")}`,
        actual: dtypeOf(call),
      });
    }
  }
  if (input === undefined || output === undefined) return;
  if (output.dtype !== input.dtype) {
    throw new ArgumentError({
      argument: `output of ${row.name}`,
      expected: `elements of ${input.dtype}, as those of the input`,
      actual: `${output}`,
    });
  }
  expectCounts(row, input, output, size);
  expectApart(row, call, facts);
}

function expectTensor(
  role: "input" | "output",
  { name }: KindRow,
  tensor: Tensor,
  { device, rank }: RankFacts,
): void {
  if (isTensor(tensor) && tensor.device === device && isDense(tensor.shape, tensor.strides)) return;
  const argument = `${role} of ${name}`;
  const expected = `a dense tensor on ${device.label}, the device of rank ${rank}`;
  if (!isTensor(tensor)) {
    throw new ArgumentError({ argument, expected, actual: nameValue(tensor) });
  }
  if (tensor.device !== device) {
    const actual = tensor.device.label === device.label
      ? `${tensor} on the same device opened another time, or on another one of that name`
      : `${tensor} on ${tensor.device.label}`;
    throw new ArgumentError({ argument, expected, actual }, {
      hint: "each rank passes the tensors of its own device",
    });
  }
  throw new ArgumentError({ argument, expected, actual: `${tensor} with gaps or turned axes` }, {
    hint: "contiguous() makes a dense copy",
  });
}

function expectPeer({ name, collective }: KindRow, peer: number, { rank, size }: RankFacts): void {
  const isRank = Number.isInteger(peer) && peer >= 0 && peer < size;
  if (isRank && (collective || peer !== rank)) return;
  throw new ArgumentError({
    argument: collective ? `root of ${name}` : `peer of ${name}`,
    expected: `a rank from 0 to ${size - 1}${collective ? "" : ` other than ${rank}`}`,
    actual: `${peer}`,
  });
}

function expectCounts(
  { name, shares }: KindRow,
  input: Tensor,
  output: Tensor,
  size: number,
): void {
  const [inputs, outputs] = shares(size);
  const isWhole = input.elements % inputs === 0;
  if (isWhole && output.elements === input.elements / inputs * outputs) return;
  throw new ArgumentError({
    argument: isWhole ? `output of ${name}` : `input of ${name}`,
    expected: isWhole
      ? `${
        input.elements / inputs * outputs
      } elements, for an input of ${input.elements} on ${size} ranks`
      : `a multiple of ${inputs} elements, for ${size} ranks`,
    actual: `${isWhole ? output : input}`,
  });
}

/**
 * Where NCCL works in place: a rank's share of the one tensor, `own` bytes after its start, is the other. Other overlaps
 * would be overwritten while they are read.
 */
const IN_PLACE: Readonly<
  Record<CallKind, (input: Tensor, output: Tensor, own: () => bigint) => boolean>
> = {
  allReduce: (input, output) => input.address === output.address,
  broadcast: (input, output) => input.address === output.address,
  allGather: (input, output, own) => input.address === output.address + own(),
  reduceScatter: (input, output, own) => output.address === input.address + own(),
  allToAll: () => false,
  send: () => true,
  receive: () => true,
};

function expectApart({ name }: KindRow, call: Call, { rank, size }: RankFacts): void {
  const { kind, input, output } = call;
  if (input === undefined || output === undefined) return;
  const own = (): bigint => BigInt(rank * shareOf(call, size) * DTYPES[input.dtype].bytes);
  if (IN_PLACE[kind](input, output, own) || !overlap(input, output)) return;
  throw new ArgumentError({
    argument: `output of ${name}`,
    expected: "memory apart from the input, or the rank's own share of it",
    actual: `${output} overlapping ${input}`,
  });
}

/** The calls of one rank, in order. */
export interface RankCalls {
  readonly rank: number;
  readonly calls: readonly Call[];
}

/**
 * Checks calls of the ranks of one process against each other; what ranks of other processes call cannot be seen. Throws
 * `ArgumentError` naming the ranks.
 */
export function checkTogether(ranks: readonly RankCalls[], size: number): void {
  const collectives = ranks.map(({ rank, calls }) => ({
    rank,
    calls: calls.filter(({ kind }) => KINDS[kind].collective),
  }));
  const most = Math.max(0, ...collectives.map(({ calls }) => calls.length));
  for (let at = 0; at < most; at++) {
    const missing = collectives.filter(({ calls }) => calls[at] === undefined);
    const first = collectives.find(({ calls }) => calls[at] !== undefined);
    const model = first?.calls[at];
    if (first === undefined || model === undefined) continue;
    if (missing.length > 0) {
      throw new ArgumentError({
        argument: `call ${at + 1} of the group`,
        expected: `${KINDS[model.kind].name} on every rank, as on rank ${first.rank}`,
        actual: `none on ${listRanks(missing.map(({ rank }) => rank))}`,
      }, { hint: "call it for all ranks of this process inside group(() => …)" });
    }
    for (const { rank, calls } of collectives) {
      const call = calls[at];
      if (call === undefined || isAlike(call, model, size)) continue;
      throw new ArgumentError({
        argument: `call ${at + 1} of the group on rank ${rank}`,
        expected: `${describeCall(model, size)}, as on rank ${first.rank}`,
        actual: describeCall(call, size),
      });
    }
  }
  const hasPairs = ranks.some(({ calls }) => calls.some(({ kind }) => !KINDS[kind].collective));
  if (hasPairs && ranks.length === size) checkPairs(ranks, size);
  for (const { rank, calls } of ranks) expectIndependent(rank, calls);
}

/** Calls of a group run at the same time, so none may need what another one of the rank writes. */
function expectIndependent(rank: number, calls: readonly Call[]): void {
  for (const [at, { kind, output }] of calls.entries()) {
    if (output === undefined) continue;
    for (const [other, { kind: otherKind, input, output: second }] of calls.entries()) {
      if (other === at) continue;
      const met = [input, second].find((tensor) => tensor !== undefined && overlap(output, tensor));
      if (met === undefined) continue;
      throw new ArgumentError({
        argument: `call ${other + 1} of the group on rank ${rank}, ${KINDS[otherKind].name}`,
        expected: "memory that no other call of the group writes",
        actual: `${met}, which call ${at + 1}, ${KINDS[kind].name}, writes`,
      }, {
        hint: "calls of a group run at the same time: make the second one in a group of its own",
      });
    }
  }
}

/** Each send needs its receive, in the same order. */
function checkPairs(ranks: readonly RankCalls[], size: number): void {
  const between = (kind: "send" | "receive", from: number, to: number): readonly Call[] => {
    const [owner, other] = kind === "send" ? [from, to] : [to, from];
    const { calls = [] } = ranks.find(({ rank }) => rank === owner) ?? {};
    return calls.filter((call) => call.kind === kind && call.peer === other);
  };
  const describe = (call: Call | undefined): string =>
    call === undefined ? "nothing" : `${shareOf(call, size)} of ${dtypeOf(call)}`;
  for (const { rank: from } of ranks) {
    for (const { rank: to } of ranks) {
      const [sends, receives] = [between("send", from, to), between("receive", from, to)];
      for (let at = 0; at < Math.max(sends.length, receives.length); at++) {
        const [sent, taken] = [describe(sends[at]), describe(receives[at])];
        if (sent === taken) continue;
        throw new ArgumentError({
          argument: `receive on rank ${to} from rank ${from}`,
          expected: `${sent}, which rank ${from} sends`,
          actual: taken,
        });
      }
    }
  }
}

/** Whether two ranks make the same call. */
function isAlike(one: Call, two: Call, size: number): boolean {
  return one.kind === two.kind && one.reduction === two.reduction && one.peer === two.peer &&
    dtypeOf(one) === dtypeOf(two) && shareOf(one, size) === shareOf(two, size);
}

/** What `isAlike` compares. */
function describeCall(call: Call, size: number): string {
  const { kind, reduction, peer } = call;
  return [
    `${KINDS[kind].name} of ${shareOf(call, size)} ${dtypeOf(call)}`,
    ...(reduction === undefined ? [] : [`by ${reduction}`]),
    ...(peer === undefined ? [] : [`from root ${peer}`]),
  ].join(" ");
}

/** "rank 3", "ranks 1 and 3". */
export function listRanks(ranks: readonly number[]): string {
  if (ranks.length === 1) return `rank ${ranks[0]}`;
  return `ranks ${ranks.slice(0, -1).join(", ")} and ${ranks.at(-1)}`;
}
