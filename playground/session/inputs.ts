/** What the tensors of a launch are filled with, each from data that fits an address. */

/** How a tensor is filled. `picture` is a drawn landscape: its edges and slopes show what a kernel does with places. */
export type Fill =
  | { readonly kind: "zeros" }
  /** Nothing: the emulator finds reads of it. */
  | { readonly kind: "unwritten" }
  | { readonly kind: "ones" }
  | { readonly kind: "ramp" }
  | { readonly kind: "picture" }
  | { readonly kind: "random"; readonly seed: number }
  /** Row by row; repeated until the tensor is full. */
  | { readonly kind: "numbers"; readonly values: readonly number[] };

/** The name of a way to fill. */
export type FillName = Fill["kind"];

/** All of them, as the page lists them. */
export const FILL_NAMES: readonly FillName[] = [
  "picture",
  "ramp",
  "random",
  "ones",
  "zeros",
  "numbers",
  "unwritten",
];

/** How a tensor is filled that nothing is said of. */
export const DEFAULT_FILL: Fill = { kind: "random", seed: 1 };

/** The element at a row-major index. */
export type ElementAt = (index: number) => number;

/** Elements of a tensor of this shape; integers where `isInteger`. */
export function elementsOf(fill: Fill, shape: readonly number[], isInteger: boolean): ElementAt {
  switch (fill.kind) {
    case "zeros":
    case "unwritten":
      return () => 0;
    case "ones":
      return () => 1;
    case "ramp":
      return (index) => index;
    case "picture":
      return pictureOf(shape, isInteger);
    case "random":
      return randomOf(fill.seed, isInteger);
    case "numbers": {
      const { values } = fill;
      return (index) => values[index % Math.max(1, values.length)] ?? 0;
    }
  }
}

/** An integer from 32 bits that are mixed well (the finalizer of MurmurHash3). */
function mix(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** Multiples of 2^-8 in [-1, 1), which all float types but those of 8 bits hold; integers in 0 … 7. */
function randomOf(seed: number, isInteger: boolean): ElementAt {
  return (index) => {
    const bits = mix(mix(seed) + index);
    return isInteger ? bits % 8 : (bits % 512 - 256) / 256;
  };
}

/** A letter F over a slope: neither symmetric nor periodic. */
function pictureOf(shape: readonly number[], isInteger: boolean): ElementAt {
  const width = shape.at(-1) ?? 1;
  const height = shape.length < 2 ? 1 : shape.at(-2) ?? 1;
  return (index) => {
    const [x, y] = [index % width / width, Math.floor(index / width) % height / height];
    const stem = x > 0.2 && x < 0.35 && y > 0.1 && y < 0.9;
    const bars = x > 0.2 && (x < 0.8 && y > 0.1 && y < 0.25 || x < 0.65 && y > 0.42 && y < 0.55);
    const value = (stem || bars ? 1 : 0) + 0.5 * x + 0.25 * y;
    return isInteger ? Math.round(16 * value) : Math.round(256 * value) / 256;
  };
}
