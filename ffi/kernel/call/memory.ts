/** The memory that a launch touches: inside its buffers, and apart where the kernel needs it. */
import { DTYPES } from "../../dtype.ts";
import { overlapsItself } from "../../tensors/self_overlap.ts";
import type { Tensor } from "../../tensors/tensor.ts";
import { type CallArguments, GRID_NAMES } from "./call_arguments.ts";
import type { DimensionModel, InstanceModel, TensorModel } from "../facts/model.ts";
import { isSameMemory, liesBetweenRows, meets } from "./overlap.ts";

/** The bytes that a launch touches from each pointer on, by position; absolute addresses, `end` excluded. */
export class Touched {
  readonly start: number[] = [];
  readonly end: number[] = [];
}

/** Every address that the contract implies lies in its buffer. Fills `touched`. */
export function checkBounds<Name extends string>(
  call: CallArguments<Name>,
  { contract }: InstanceModel<Name>,
  grid: readonly [number, number, number],
  touched: Touched,
): void {
  const { model: { pointers }, tensors, values } = call;
  for (let axis = 0; axis < 3; axis++) values[GRID_NAMES[axis] ?? "gridX"] = grid[axis] ?? 1;
  for (const { position, name } of pointers) {
    // Without a contract the kernel may touch all that the tensor spans.
    touched.start[position] = values[name];
    touched.end[position] = values[name] + (tensors[position]?.spanBytes ?? 0);
  }
  for (const { position, first, last } of contract.ranges) {
    const tensor = tensors[position];
    if (tensor === undefined || tensor === null) continue;
    touch(call, position, tensor, first.value(values), last.value(values), touched);
  }
  for (const contracted of contract.tensors) {
    const tensor = tensors[contracted.position];
    if (contracted.hasRange || tensor === undefined || tensor === null) continue;
    touchAll(call, contracted, tensor, touched);
  }
}

/** Touches all elements that a tensor contract has. */
function touchAll<Name extends string>(
  call: CallArguments<Name>,
  { position, extents, strides }: TensorModel<Name>,
  tensor: Tensor,
  touched: Touched,
): void {
  let [first, last] = [0, 0];
  for (let axis = 0; axis < extents.length; axis++) {
    const steps = valueOf(call, extents[axis]) - 1;
    const distance = steps * valueOf(call, strides[axis]);
    if (steps < 0) [first, last] = [0, -Infinity];
    else if (distance < 0) first += distance;
    else last += distance;
  }
  touch(call, position, tensor, first, last, touched);
}

function valueOf<Name extends string>(
  call: CallArguments<Name>,
  dimension: DimensionModel<Name> | undefined,
): number {
  if (dimension === undefined) return 0;
  if (dimension.kind === "fixed") return dimension.value;
  return dimension.kind === "define"
    ? call.values[dimension.name]
    : dimension.expression.value(call.values);
}

/** Notes that elements `first` to `last` are touched; they must lie in the tensor's buffer. */
function touch<Name extends string>(
  call: CallArguments<Name>,
  position: number,
  tensor: Tensor,
  first: number,
  last: number,
  touched: Touched,
): void {
  const address = touched.start[position] ?? 0;
  if (last < first) {
    touched.end[position] = address;
    return;
  }
  const { bytes } = DTYPES[tensor.dtype];
  const before = tensor.offset * bytes;
  const start = before + first * bytes;
  const end = before + (last + 1) * bytes;
  if (!(start >= 0 && end <= tensor.buffer.bytes)) {
    const base = before === 0 ? "" : ` after the ${before} bytes before the tensor`;
    throw call.error(
      position,
      start < 0
        ? `a buffer that begins ${-start} bytes earlier: the launch touches elements ${first} to ${last}`
        : `a buffer of at least ${end} bytes: the launch touches elements ${first} to ${last}${base}`,
      `${tensor} in a buffer of ${tensor.buffer.bytes} bytes`,
    );
  }
  touched.start[position] = address + first * bytes;
  touched.end[position] = address + (last + 1) * bytes;
}

/** Each element of a written tensor has memory of its own; several that share some would be written in any order. */
export function checkSelfOverlap<Name extends string>(
  call: CallArguments<Name>,
  { contract }: InstanceModel<Name>,
): void {
  for (const contracted of contract.tensors) {
    const { position, isWritten, extents, strides } = contracted;
    if (!isWritten || isNested(call, contracted)) continue;
    const tensor = call.tensors[position];
    if (tensor === undefined || tensor === null) continue;
    const [shape, steps] = [extents, strides].map((dimensions) =>
      dimensions.map((dimension) => valueOf(call, dimension))
    );
    if (shape === undefined || steps === undefined || !overlapsItself(shape, steps)) continue;
    throw call.error(
      position,
      "elements that lie apart, because the kernel writes them",
      `shape [${shape.join(", ")}] with strides [${steps.join(", ")}]`,
      "tensors that repeat elements can be inputs only",
    );
  }
}

/**
 * Whether each axis steps over all that the axes after it reach, as those of almost every tensor do. Makes no garbage.
 */
function isNested<Name extends string>(
  call: CallArguments<Name>,
  { extents, strides }: TensorModel<Name>,
): boolean {
  let reach = 0;
  for (let axis = extents.length - 1; axis >= 0; axis--) {
    const extent = valueOf(call, extents[axis]);
    if (extent <= 1) continue;
    const stride = Math.abs(valueOf(call, strides[axis]));
    if (stride <= reach) return false;
    reach += (extent - 1) * stride;
  }
  return true;
}

/** Written memory is apart from what the kernel may reach through another parameter. */
export function checkOverlap<Name extends string>(
  call: CallArguments<Name>,
  { contract }: InstanceModel<Name>,
  touched: Touched,
): void {
  const { model: { apart, pointers }, tensors } = call;
  for (const { one, two, isInPlace } of apart) {
    if (!meets(touched, one, two)) continue;
    const [a, b] = [tensors[one], tensors[two]];
    if (a === null || a === undefined || b === null || b === undefined) continue;
    const areRows = isAsContracted(call, contract.tensors, one, a, touched) &&
      isAsContracted(call, contract.tensors, two, b, touched);
    if (areRows && (liesBetweenRows(a, b) || (isInPlace && isSameMemory(a, b)))) continue;
    const isWritten = pointers.some(({ position, isWritten }) => position === two && isWritten);
    const [written, other] = isWritten ? [two, one] : [one, two];
    throw call.error(
      written,
      `memory apart from ${call.labels[other]}, because the kernel writes it`,
      `${tensors[written]} overlapping ${tensors[other]}`,
      isInPlace
        ? "pass the whole tensor itself, another one, or let the call allocate the result"
        : "pass another tensor, or let the call allocate the result",
    );
  }
}

/** The launch touches nothing but the elements that the tensor's own shape and strides say. */
function isAsContracted<Name extends string>(
  call: CallArguments<Name>,
  contracts: readonly TensorModel<Name>[],
  position: number,
  tensor: Tensor,
  touched: Touched,
): boolean {
  const contract = contracts.find((candidate) => candidate.position === position);
  const end = Number(tensor.address) + tensor.spanBytes;
  return contract !== undefined &&
    (touched.start[position] ?? 0) >= Number(tensor.address) &&
    (touched.end[position] ?? 0) <= end &&
    contract.extents.length === tensor.shape.length &&
    contract.dimensions.every((dimension) =>
      tensor[dimension.what][dimension.axis] === valueOf(call, dimension)
    );
}
