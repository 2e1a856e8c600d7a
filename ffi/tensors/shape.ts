/** Shapes and strides: counting, checking and describing them, and copying strided elements on the host. */
import type { DType, HostBytes } from "../dtype.ts";
import { ArgumentError } from "../errors.ts";
import { expectIntegers } from "../arguments/numbers.ts";

/** One number per axis; a tuple where the rank is known, so that `const [rows, columns] = x.shape` are numbers. */
export type Shape<R extends number = number> = Shapes[R];

/** A table rather than a recursive type, because the compiler then sees that a matrix is also a tensor of any rank. */
export type Shapes = {
  0: readonly [];
  1: readonly [number];
  2: readonly [number, number];
  3: readonly [number, number, number];
  4: readonly [number, number, number, number];
  5: readonly [number, number, number, number, number];
  6: readonly [number, number, number, number, number, number];
  [rank: number]: readonly number[];
};

/** Such as "float32[2, 3]". */
export function describe(dtype: DType, shape: readonly number[]): string {
  return `${dtype}[${shape.join(", ")}]`;
}

/** Such as "[2, 3]". */
export function listed(numbers: readonly number[]): string {
  return `[${numbers.join(", ")}]`;
}

/** Strides, in elements, of a row-major array without gaps. */
export function denseStrides(shape: readonly number[]): number[] {
  const strides: number[] = [];
  let stride = 1;
  for (const extent of shape.toReversed()) {
    strides.push(stride);
    stride *= Math.max(extent, 1);
  }
  return strides.reverse();
}

export function countElements(shape: readonly number[]): number {
  return shape.reduce((product, extent) => product * extent, 1);
}

/** Elements from the first to the last that the shape reaches, both included; 0 when it has none. */
export function spanElements(shape: readonly number[], strides: readonly number[]): number {
  if (shape.includes(0)) return 0;
  return shape.reduce((last, extent, axis) => last + (extent - 1) * (strides[axis] ?? 0), 1);
}

/** Whether the elements lie row by row without gaps; axes of extent 1 may have any stride. */
export function isDense(shape: readonly number[], strides: readonly number[]): boolean {
  const dense = denseStrides(shape);
  return shape.includes(0) ||
    shape.every((extent, axis) => extent === 1 || strides[axis] === dense[axis]);
}

/** The most axes that a tensor has: more than any program needs, and few enough to visit them recursively. */
export const MAX_RANK = 64;

/** A copy of a shape; throws `ArgumentError` for what is none. */
export function takeShape(shape: unknown): number[] {
  const extents = expectIntegers("shape", shape, MAX_RANK);
  if (Number.isSafeInteger(countElements(extents))) return extents;
  throw new ArgumentError({
    argument: "shape",
    expected: "fewer than 2^53 elements",
    actual: listed(extents),
  });
}

/** A copy of a shape and of its strides, which are row-major without gaps where none are given. */
export function takeLayout(
  shape: unknown,
  strides: unknown,
): { readonly shape: readonly number[]; readonly strides: readonly number[] } {
  const extents = takeShape(shape);
  if (strides === undefined) return { shape: extents, strides: denseStrides(extents) };
  const steps = expectIntegers("strides", strides, MAX_RANK);
  if (steps.length !== extents.length) {
    throw new ArgumentError({
      argument: "strides",
      expected: `${extents.length} strides for shape ${listed(extents)}`,
      actual: listed(steps),
    });
  }
  if (!Number.isSafeInteger(spanElements(extents, steps))) {
    throw new ArgumentError({
      argument: "strides",
      expected: "fewer than 2^53 elements from the first to the last",
      actual: `${listed(steps)} for shape ${listed(extents)}`,
    });
  }
  return { shape: extents, strides: steps };
}

/** A strided array of elements in host memory. */
export interface HostLayout {
  readonly shape: readonly number[];
  /** In elements. */
  readonly strides: readonly number[];
  readonly elementBytes: number;
}

/** Copies strided elements into a dense row-major array. Both buffers must be aligned to the element. */
export function gather(to: HostBytes, from: HostBytes, layout: HostLayout): void {
  const { shape, strides, words } = inWords(layout);
  const [target, source] = [words(to), words(from)];
  eachRow(shape, strides, (dense, strided, count, step) => {
    for (let i = 0; i < count; i++) target[dense + i] = source[strided + i * step] ?? 0;
  });
}

/** Copies a dense row-major array into strided elements, the reverse of {@linkcode gather}. */
export function scatter(to: HostBytes, from: HostBytes, layout: HostLayout): void {
  const { shape, strides, words } = inWords(layout);
  const [target, source] = [words(to), words(from)];
  eachRow(shape, strides, (dense, strided, count, step) => {
    for (let i = 0; i < count; i++) target[strided + i * step] = source[dense + i] ?? 0;
  });
}

type Words = Uint8Array | Uint16Array | Uint32Array;

/**
 * Elements are moved as unsigned integers, so that every bit pattern survives (a NaN read as a float may come
 * out as another NaN). Elements of 8 bytes are two words, which is one more axis.
 */
function inWords(layout: HostLayout): {
  shape: readonly number[];
  strides: readonly number[];
  words: (bytes: HostBytes) => Words;
} {
  const { shape, strides, elementBytes } = layout;
  const view = elementBytes === 1 ? Uint8Array : elementBytes === 2 ? Uint16Array : Uint32Array;
  const words = ({ buffer, byteOffset, byteLength }: HostBytes): Words =>
    new view(buffer, byteOffset, byteLength / view.BYTES_PER_ELEMENT);
  if (elementBytes < 8) return { shape, strides, words };
  return { shape: [...shape, 2], strides: [...strides.map((stride) => stride * 2), 1], words };
}

/** Visits the rows along the last axis in row-major order, with its offset in both arrays. */
function eachRow(
  shape: readonly number[],
  strides: readonly number[],
  visit: (dense: number, strided: number, count: number, step: number) => void,
): void {
  const last = shape.length - 1;
  const count = shape[last] ?? 1;
  const step = strides[last] ?? 1;
  let dense = 0;
  const walk = (axis: number, strided: number): void => {
    if (axis >= last) {
      visit(dense, strided, count, step);
      dense += count;
      return;
    }
    const extent = shape[axis] ?? 1;
    for (let i = 0; i < extent; i++) walk(axis + 1, strided + i * (strides[axis] ?? 0));
  };
  walk(0, 0);
}
