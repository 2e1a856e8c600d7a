/** What a launch must fulfil before the driver sees it: one device, conditions, alignment, a legal grid. */
import type { DeviceInfo } from "../../driver.ts";
import { nameValue } from "../../arguments/brands.ts";
import { ArgumentError } from "../../errors.ts";
import { isList } from "../../arguments/numbers.ts";
import { ZeroDivisorError } from "../arithmetic.ts";
import { isStream, type Stream } from "../../stream.ts";
import type { Tensor } from "../../tensors/tensor.ts";
import type { CallArguments } from "./call_arguments.ts";
import type { Condition } from "../facts/facts.ts";
import type { InstanceModel, VariantModel } from "../facts/model.ts";
import type { GridSize } from "../types.ts";

/** Limits of CUDA for a launch grid (CUDA programming guide, technical specifications). */
const GRID_LIMITS = [2 ** 31 - 1, 65535, 65535] as const;
const AXES = ["x", "y", "z"] as const;

/** The device of a call: its tensors', or else the stream's. */
export function streamOf<Name extends string>(
  call: CallArguments<Name>,
  wanted: Stream | undefined,
): Stream {
  let first: Tensor | undefined;
  const { model: { pointers }, tensors } = call;
  for (const { position } of pointers) {
    const tensor = tensors[position];
    if (tensor === undefined || tensor === null) continue;
    first ??= tensor;
    if (tensor.device !== first.device) {
      const { label } = tensor.device;
      throw call.error(
        position,
        `a tensor on ${first.device.label}, like the others`,
        otherDevice(label, first),
      );
    }
  }
  const stream = wanted === undefined ? first?.device.defaultStream : wanted;
  if (stream === undefined) {
    throw new ArgumentError({
      argument: `stream of ${call.model.name}`,
      expected: "a stream, because no tensor says on which device to launch",
      actual: "undefined",
    });
  }
  if (!isStream(stream)) {
    throw new ArgumentError({
      argument: `stream of ${call.model.name}`,
      expected: "a stream, as `device.stream()` makes them",
      actual: nameValue(stream),
    });
  }
  if (first !== undefined && stream.device !== first.device) {
    throw new ArgumentError({
      argument: `stream of ${call.model.name}`,
      expected: `a stream of the tensors' device, ${first.device.label}`,
      actual: otherDevice(stream.device.label, first),
    });
  }
  return stream;
}

function otherDevice(label: string, first: Tensor): string {
  return label === first.device.label
    ? "one of the same GPU opened another time"
    : `one of ${label}`;
}

/**
 * The first instance whose conditions hold; the last has none. Where it was compiled in several configurations, the
 * best one that the target has for `device`; undefined: the target's default, because the caller gives the grid and can
 * know of no other tile sizes.
 */
export function chooseInstance<Name extends string>(
  call: CallArguments<Name>,
  { instances, choices, general }: VariantModel<Name>,
  target: string,
  device: DeviceInfo | undefined,
): InstanceModel<Name> {
  for (let index = 0; index < instances.length; index++) {
    const choice = choices[index];
    const picked = device === undefined
      ? choice?.first(target)
      : choice?.pick(call.values, device, target);
    // A target may be without a specialisation whose programs are clusters.
    const instance = choice === undefined ? instances[index] : picked;
    if (instance !== undefined && holdsFor(call, instance)) return instance;
  }
  return general;
}

/** Whether the instance may be taken; expressions then read its constants. */
export function holdsFor<Name extends string>(
  call: CallArguments<Name>,
  instance: InstanceModel<Name>,
): boolean {
  call.setConstants(instance);
  for (const { holds } of instance.conditions) if (!holds(call.values)) return false;
  return true;
}

/** Alignments and `require` conditions. */
export function checkDemands<Name extends string>(
  call: CallArguments<Name>,
  instance: InstanceModel<Name>,
): void {
  const { model: { pointers }, values } = call;
  for (const { position, name } of pointers) {
    const align = instance.align[position] ?? 1;
    const address = values[name];
    if (address % align === 0) continue;
    throw call.error(
      position,
      `an address that is a multiple of ${align} bytes`,
      `0x${address.toString(16)}, ${address % align} bytes past one`,
      "tensors that own their memory are aligned; views keep that if their offset is a multiple",
    );
  }
  for (const condition of instance.contract.requires) {
    if (!condition.holds(values)) throw brokenDemand(call, condition);
  }
}

function brokenDemand<Name extends string>(
  call: CallArguments<Name>,
  condition: Condition<Name>,
): ArgumentError {
  return new ArgumentError({
    argument: `sizes of ${call.model.name}`,
    expected: condition.text,
    actual: call.explainCondition(condition),
  }, { hint: "the kernel relies on it" });
}

/**
 * Does something for which expressions of a contract are computed. Where one divides by 0, as an extent by the number of groups,
 * the demand that forbids it says which argument that is.
 */
export function withDivisors<Name extends string>(
  call: CallArguments<Name>,
  { general: { contract } }: VariantModel<Name>,
  compute: () => void,
): void {
  try {
    compute();
  } catch (error) {
    if (!(error instanceof ZeroDivisorError)) throw error;
    const broken = contract.requires.find(({ holds }) => {
      try {
        return !holds(call.values);
      } catch {
        return false;
      }
    });
    throw broken === undefined ? error : brokenDemand(call, broken);
  }
}

/** The launch grid, written to `grid`; false: it is empty and there is nothing to launch. */
export function computeGrid<Name extends string>(
  call: CallArguments<Name>,
  instance: InstanceModel<Name>,
  wanted: GridSize | undefined,
  grid: [number, number, number],
): boolean {
  const { contract } = instance;
  if (wanted === undefined && contract.grid === null) {
    throw new ArgumentError({
      argument: `grid of ${call.model.name}`,
      expected: "a launch grid, because neither the kernel's code nor a pragma says it",
      actual: "undefined",
    }, {
      hint: "pass { grid: [x, y, z] }, or add a line `#pragma tri grid(…)` to the kernel's source",
    });
  }
  const axes = wanted === undefined ? 3 : axesOf(call, wanted);
  let isEmpty = false;
  for (let axis = 0; axis < 3; axis++) {
    const extent = wanted === undefined
      ? contract.grid?.[axis]?.value(call.values) ?? 1
      : axis < axes
      ? wanted[axis]
      : 1;
    const limit = GRID_LIMITS[axis] ?? 0;
    if (
      typeof extent !== "number" || !Number.isInteger(extent) || extent < 0 || extent > limit
    ) {
      const text = wanted === undefined ? contract.grid?.[axis]?.text ?? "1" : undefined;
      throw new ArgumentError({
        argument: `grid.${AXES[axis]} of ${call.model.name}`,
        expected: `an integer from 0 to ${limit}`,
        actual: text === undefined
          ? nameValue(extent)
          : `${extent} = ${text} with ${call.explain(text)}`,
      });
    }
    grid[axis] = extent;
    if (extent === 0) isEmpty = true;
  }
  if (isEmpty) refuseNegativeExtents(call, instance);
  return !isEmpty;
}

/**
 * How many axes a caller's grid has. Anything but a list of one to three is a mistake: no part of it may be ignored.
 */
function axesOf<Name extends string>(call: CallArguments<Name>, wanted: GridSize): number {
  if (isList(wanted) && wanted.length >= 1 && wanted.length <= 3) return wanted.length;
  throw new ArgumentError(
    {
      argument: `grid of ${call.model.name}`,
      expected: "a list of one to three integers: [x], [x, y] or [x, y, z]",
      actual: nameValue(wanted),
    },
    typeof wanted === "number" ? { hint: `pass { grid: [${wanted}] }` } : {},
  );
}

/** No elements are nothing to do; fewer than none are a mistake, although the rounded-up grid may be empty too. */
function refuseNegativeExtents<Name extends string>(
  call: CallArguments<Name>,
  { contract }: InstanceModel<Name>,
): void {
  for (const { extents } of contract.tensors) {
    for (const extent of extents) {
      if (extent.kind !== "define" || !(call.values[extent.name] < 0)) continue;
      throw new ArgumentError({
        argument: `${extent.name} of ${call.model.name}`,
        expected: "an extent: 0 or more",
        actual: `${call.values[extent.name]}`,
      });
    }
  }
}
