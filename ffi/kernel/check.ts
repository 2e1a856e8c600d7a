/** What a launch must fulfil before the driver sees it: demands, grid, memory bounds, overlap. */
import { DTYPES } from "../dtype.ts";
import { ArgumentError } from "../errors.ts";
import type { Stream } from "../stream.ts";
import type { Tensor } from "../tensor.ts";
import { type Frame, GRID_NAMES } from "./frame.ts";
import type { DimensionModel, InstanceModel, TensorModel, VariantModel } from "./model.ts";
import { liesBetweenRows, meets } from "./overlap.ts";
import type { GridSize } from "./types.ts";

/** Limits of CUDA for a launch grid (CUDA programming guide, technical specifications). */
const GRID_LIMITS = [2 ** 31 - 1, 65535, 65535] as const;
const AXES = ["x", "y", "z"] as const;

/** The device of a call: its tensors', or else the stream's. */
export function streamOf<Name extends string>(
  frame: Frame<Name>,
  wanted: Stream | undefined,
): Stream {
  let first: Tensor | undefined;
  const { model: { pointers }, tensors } = frame;
  for (const { position } of pointers) {
    const tensor = tensors[position];
    if (tensor === undefined || tensor === null) continue;
    first ??= tensor;
    if (tensor.device !== first.device) {
      const { label } = tensor.device;
      throw frame.error(
        position,
        `a tensor on ${first.device.label}, like the others`,
        otherDevice(label, first),
      );
    }
  }
  const stream = wanted ?? first?.device.defaultStream;
  if (stream === undefined) {
    throw new ArgumentError({
      argument: `stream of ${frame.model.name}`,
      expected: "a stream, because no tensor says on which device to launch",
      actual: "undefined",
    });
  }
  if (first !== undefined && stream.device !== first.device) {
    throw new ArgumentError({
      argument: `stream of ${frame.model.name}`,
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

/** The first instance whose conditions hold; the last has none. */
export function chooseInstance<Name extends string>(
  frame: Frame<Name>,
  variant: VariantModel<Name>,
): InstanceModel<Name> {
  for (const instance of variant.instances) {
    frame.setConstants(instance);
    if (holdsAll(frame, instance)) return instance;
  }
  return variant.general;
}

function holdsAll<Name extends string>(frame: Frame<Name>, instance: InstanceModel<Name>): boolean {
  for (const { holds } of instance.conditions) if (!holds(frame.values)) return false;
  return true;
}

/** Alignments and `require` conditions. */
export function checkDemands<Name extends string>(
  frame: Frame<Name>,
  instance: InstanceModel<Name>,
): void {
  const { model: { pointers }, values } = frame;
  for (const { position, name } of pointers) {
    const align = instance.align[position] ?? 1;
    const address = values[name];
    if (address % align === 0) continue;
    throw frame.error(
      position,
      `an address that is a multiple of ${align} bytes`,
      `0x${address.toString(16)}, ${address % align} bytes past one`,
      "tensors that own their memory are aligned; views keep that if their offset is a multiple",
    );
  }
  for (const { text, holds } of instance.contract.requires) {
    if (holds(values)) continue;
    throw new ArgumentError({
      argument: `sizes of ${frame.model.name}`,
      expected: text,
      actual: frame.explain(text),
    }, { hint: "the kernel relies on it" });
  }
}

/** The launch grid, written to `grid`; false: it is empty and there is nothing to launch. */
export function computeGrid<Name extends string>(
  frame: Frame<Name>,
  instance: InstanceModel<Name>,
  wanted: GridSize | undefined,
  grid: [number, number, number],
): boolean {
  const { contract } = instance;
  if (wanted === undefined && contract.grid === null) {
    throw new ArgumentError({
      argument: `grid of ${frame.model.name}`,
      expected: "a launch grid, because neither the kernel's code nor a pragma says it",
      actual: "undefined",
    }, {
      hint: "pass { grid: [x, y, z] }, or add a line `#pragma tri grid(…)` to the kernel's source",
    });
  }
  let isEmpty = false;
  for (let axis = 0; axis < 3; axis++) {
    const extent = wanted === undefined
      ? contract.grid?.[axis]?.value(frame.values) ?? 1
      : wanted[axis] ?? 1;
    const limit = GRID_LIMITS[axis] ?? 0;
    if (!(Number.isInteger(extent) && extent >= 0 && extent <= limit)) {
      const text = wanted === undefined ? contract.grid?.[axis]?.text ?? "1" : undefined;
      throw new ArgumentError({
        argument: `grid.${AXES[axis]} of ${frame.model.name}`,
        expected: `an integer from 0 to ${limit}`,
        actual: text === undefined
          ? `${extent}`
          : `${extent} = ${text} with ${frame.explain(text)}`,
      });
    }
    grid[axis] = extent;
    if (extent === 0) isEmpty = true;
  }
  return !isEmpty;
}

/** The bytes that a launch touches behind each pointer, by position; absolute addresses. */
export class Touched {
  readonly start: number[] = [];
  readonly end: number[] = [];
}

/** Every address that the contract implies lies in its buffer. Fills `touched`. */
export function checkBounds<Name extends string>(
  frame: Frame<Name>,
  instance: InstanceModel<Name>,
  grid: readonly [number, number, number],
  touched: Touched,
): void {
  const { model: { pointers }, tensors, values } = frame;
  for (let axis = 0; axis < 3; axis++) values[GRID_NAMES[axis] ?? "gridX"] = grid[axis] ?? 1;
  for (const { position, name } of pointers) {
    touched.start[position] = values[name];
    touched.end[position] = values[name] + (tensors[position]?.spanBytes ?? 0);
  }
  const { contract } = instance;
  for (const { position, first, last } of contract.ranges) {
    checkTouched(frame, position, first.value(values), last.value(values), touched);
  }
  for (const tensor of contract.tensors) {
    if (!tensor.hasRange) {
      checkTouched(frame, tensor.position, 0, lastElement(frame, tensor), touched);
    }
  }
}

/** The last element that a tensor contract reaches; -1 when it has none. */
function lastElement<Name extends string>(frame: Frame<Name>, tensor: TensorModel<Name>): number {
  let last = 0;
  for (let axis = 0; axis < tensor.extents.length; axis++) {
    const extent = valueOf(frame, tensor.extents[axis]);
    if (extent <= 0) return -1;
    last += (extent - 1) * valueOf(frame, tensor.strides[axis]);
  }
  return last;
}

function valueOf<Name extends string>(
  frame: Frame<Name>,
  dimension: DimensionModel<Name> | undefined,
): number {
  if (dimension === undefined) return 0;
  if (dimension.kind === "fixed") return dimension.value;
  return dimension.kind === "define"
    ? frame.values[dimension.name]
    : dimension.expression.value(frame.values);
}

function checkTouched<Name extends string>(
  frame: Frame<Name>,
  position: number,
  first: number,
  last: number,
  touched: Touched,
): void {
  const tensor = frame.tensors[position];
  if (tensor === undefined || last < first) return;
  if (tensor === null) return;
  const { bytes } = DTYPES[tensor.dtype];
  const before = tensor.offset * bytes;
  const [start, end] = [before + first * bytes, before + (last + 1) * bytes];
  if (!(start >= 0 && end <= tensor.buffer.bytes)) {
    const base = before === 0 ? "" : ` behind the ${before} bytes before the tensor`;
    throw frame.error(
      position,
      start < 0
        ? `memory from ${-start} bytes before the buffer on: the launch touches elements ${first} to ${last}`
        : `a buffer of at least ${end} bytes: the launch touches elements ${first} to ${last}${base}`,
      `${tensor} in a buffer of ${tensor.buffer.bytes} bytes`,
    );
  }
  const address = touched.start[position] ?? 0;
  touched.start[position] = Math.min(address, address + first * bytes);
  touched.end[position] = Math.max(touched.end[position] ?? 0, address + (last + 1) * bytes);
}

/** Written memory is apart from what the kernel may reach through another parameter. */
export function checkOverlap<Name extends string>(frame: Frame<Name>, touched: Touched): void {
  const { model: { apart, pointers }, tensors } = frame;
  for (const [one, two] of apart) {
    const [a, b] = [tensors[one], tensors[two]];
    if (a === null || a === undefined || b === null || b === undefined) continue;
    const [start, end] = [touched.start[one] ?? 0, touched.end[one] ?? 0];
    const [otherStart, otherEnd] = [touched.start[two] ?? 0, touched.end[two] ?? 0];
    if (!meets({ start, end }, { start: otherStart, end: otherEnd })) continue;
    const staysInside = end - start <= a.spanBytes && otherEnd - otherStart <= b.spanBytes;
    if (staysInside && liesBetweenRows(a, b)) continue;
    const isWritten = pointers.some(({ position, isWritten }) => position === two && isWritten);
    const [written, other] = isWritten ? [two, one] : [one, two];
    throw frame.error(
      written,
      `memory apart from ${frame.labels[other]}, because the kernel writes it`,
      `${tensors[written]} overlapping ${tensors[other]}`,
      "pass another tensor, or let the call allocate the result",
    );
  }
}
