/** What configurations are timed with: sizes the user gave or sensible ones, and data that costs what real data costs. */
import { evaluate } from "../../compiler/contract/expr.ts";
import type { InstanceInfo } from "../../compiler/contract/types.ts";
import { SCALARS } from "../../compiler/support/scalar.ts";
import type { DType } from "../../ffi/dtype.ts";
import { bytesOf } from "../../ffi/tensors/host.ts";
import type { Device, Tensor } from "../../ffi/mod.ts";
import { type Arguments, chooseArguments, scalarValues, type Sizes } from "../report/arguments.ts";
import { type Group, specializationOf } from "./candidates.ts";

/** Arguments of a group, with what is said of them in messages. */
export interface Run {
  readonly group: Group;
  readonly arguments: Arguments;
}

/** Extents to try by the rank of the largest tensor, where the user gives none: one small launch, one large. */
const EXTENTS: Readonly<Record<number, readonly number[]>> = {
  0: [1 << 20, 1 << 24],
  1: [1 << 20, 1 << 24],
  2: [1024, 4096],
};
const LARGE_RANK: readonly number[] = [128, 256];

/** Larger sizes are used only if requested. */
const MOST_BYTES = 2 ** 32;

/**
 * The runs of a group, or why there are none. A run is kept only if the wrapper would take this group for it: the
 * specialised code is not timed with sizes that get the general one, nor vice versa.
 */
export function runsOf(group: Group, wanted: readonly Sizes[]): readonly Run[] | string {
  const instance = group.candidates[0]?.instance;
  if (instance === undefined) return "there is nothing to time";
  const rank = Math.max(0, ...instance.contract.tensors.map(({ extents }) => extents.length));
  const extents = EXTENTS[rank] ?? LARGE_RANK;
  if (wanted.length > 0) {
    return takenRuns(group, wanted.map((given) => notEmpty(chooseArguments(instance, given))));
  }
  // Odd lengths are for code that makes no demands on alignment: others are taken for even ones.
  for (const shorter of [0, 1]) {
    const choices = extents.map((extent) => chooseArguments(instance, new Map(), extent - shorter));
    const runs = takenRuns(group, choices);
    if (typeof runs === "string") return runs;
    const small = runs.filter((run) => bytesIn(run.arguments) <= MOST_BYTES);
    if (small.length > 0) return small;
  }
  return "no sizes were found for which a call selects this code";
}

/** A launch without elements takes no time, so nothing is to be learned from it. */
function notEmpty(chosen: Arguments | string): Arguments | string {
  if (typeof chosen === "string") return chosen;
  const empty = chosen.tensors.find(({ shape }) => shape.some((extent) => extent < 1));
  return empty === undefined
    ? chosen
    : `${empty.param} of these sizes, [${empty.shape.join(", ")}], has no elements`;
}

/** The runs of those arguments for which the wrapper takes the group; why some cannot be chosen. */
function takenRuns(
  group: Group,
  choices: readonly (Arguments | string)[],
): readonly Run[] | string {
  const refused = choices.find((chosen) => typeof chosen === "string");
  if (refused !== undefined) return refused;
  return choices.flatMap((chosen): Run[] =>
    typeof chosen === "string" || takenFor(group.siblings, chosen) !== group.specialization
      ? []
      : [{ group, arguments: chosen }]
  );
}

/** Which specialisation a wrapper takes, if all addresses are aligned. */
function takenFor(siblings: readonly InstanceInfo[], { scalars }: Arguments): string {
  const environment = { param: (name: string): number => scalars.get(name) ?? 0 };
  const taken = siblings.find(({ specialization }) =>
    specialization.length > 0 &&
    specialization.every(({ condition }) => evaluate(condition, environment) !== 0n)
  );
  return taken === undefined ? "general" : specializationOf(taken);
}

/** Bytes of all tensors. */
export function bytesIn({ tensors }: Arguments): number {
  return tensors.reduce((sum, { dtype, shape, strides }) => {
    const last = shape.reduce((at, extent, axis) => at + (extent - 1) * (strides[axis] ?? 1), 0);
    return sum + (last + 1) * Math.ceil(SCALARS[dtype].bits / 8);
  }, 0);
}

/** Makes the arguments on a device; the tensors are gone with `made`. */
export function makeArguments(
  { scalars, flags, tensors, absent }: Arguments,
  device: Device,
  made: DisposableStack,
): Record<string, unknown> {
  const values = scalarValues({ scalars, flags });
  for (const name of absent) values[name] = null;
  for (const { param, dtype, shape, strides, isRead } of tensors) {
    const tensor: Tensor = made.use(device.zeros(dtype, shape, { strides }));
    if (isRead) fillRandomly(tensor);
    values[param] = tensor;
  }
  return values;
}

/** Random bits draw the power that real data draws; integers stay zero, because they may be indices. */
function fillRandomly({ dtype, buffer }: Tensor): void {
  const pattern = randomPattern(dtype);
  if (pattern === undefined) return;
  for (let at = 0; at < buffer.bytes; at += pattern.length) {
    buffer.upload(pattern.subarray(0, Math.min(pattern.length, buffer.bytes - at)), at);
  }
}

/** Elements of the pattern: as many as make repetitions rare in what a block reads. */
const PATTERN = 1 << 20;

/** Where exponent and mantissa lie, and the exponent of numbers from 0.5 to 1. */
const FLOATS: Readonly<Partial<Record<DType, { mantissa: number; half: number; bits: 8 | 16 }>>> = {
  float16: { mantissa: 10, half: 14, bits: 16 },
  bfloat16: { mantissa: 7, half: 126, bits: 16 },
  float8e4: { mantissa: 3, half: 6, bits: 8 },
  float8e5: { mantissa: 2, half: 14, bits: 8 },
};

/** Numbers from 0.5 to 1 of either sign; undefined for integers. */
function randomPattern(dtype: DType): Uint8Array<ArrayBuffer> | undefined {
  const signed = (): number => (0.5 + Math.random() / 2) * (Math.random() < 0.5 ? -1 : 1);
  if (dtype === "float32") return bytesOf(Float32Array.from({ length: PATTERN }, signed));
  if (dtype === "float64") return bytesOf(Float64Array.from({ length: PATTERN }, signed));
  const row = FLOATS[dtype];
  if (row === undefined) return undefined;
  const { mantissa, half, bits } = row;
  const word = (): number => {
    const random = Math.floor(Math.random() * 2 ** (mantissa + 1));
    return (random >> mantissa << (bits - 1)) | half << mantissa | random % (1 << mantissa);
  };
  return bytesOf(
    bits === 16
      ? Uint16Array.from({ length: PATTERN }, word)
      : Uint8Array.from({ length: PATTERN }, word),
  );
}
