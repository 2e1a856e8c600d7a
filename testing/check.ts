/** checkKernel(): a kernel against a reference on drawn cases; a case that fails is made smaller. */
import { Device, type DType, DTYPES, Tensor } from "../ffi/mod.ts";
import { elementReader } from "../ffi/tensors/elements.ts";
import { bytesOf } from "../ffi/tensors/host.ts";
import { type Case, drawSize, pick, randomFrom, seedOf } from "./draw.ts";
import { type Given, type Inputs, isTensorInput, type Known, makeInputs } from "./inputs.ts";
import { KernelMismatch } from "./mismatch.ts";
import { readSeed } from "./seed.ts";
import { smallerCases } from "./shrink.ts";

/** What a kernel gives, or a reference in the same order: one tensor, or several by name. */
export type Results<T> = T | Readonly<Record<string, T>>;

/** Elements that a reference expects, in row-major order. */
export type Expected = ArrayLike<number | bigint>;

/** How far a result may be from the reference: `absolute + relative * |expected|`. */
export interface Tolerance {
  /** Default: 0. */
  readonly absolute?: number;
  /** Default: 0. */
  readonly relative?: number;
}

/** A test of a kernel. */
export interface KernelCheck<I extends Inputs> {
  /** The least and the most of every size, by name. */
  readonly sizes: Readonly<Record<string, readonly [least: number, most: number]>>;
  /** Tensors and numbers that are drawn. */
  readonly inputs: I;
  /** Calls the kernel. */
  readonly run: (inputs: Given<I>) => Results<Tensor> | Promise<Results<Tensor>>;
  /** What it should give. */
  readonly reference: (
    inputs: Known<I>,
    sizes: Readonly<Record<string, number>>,
  ) => Results<Expected>;
  /** Exact by default. */
  readonly tolerance?: Tolerance;
  /** Where the kernel runs; by default the device of `Device.open()`. */
  readonly device?: Device;
  /** Cases that are drawn; 50 by default. */
  readonly cases?: number;
  /** Repeats the cases of another run; by default the variable TRI_SEED, else a fresh one. */
  readonly seed?: number;
}

/** Attempts to make a failing case smaller. */
const MOST_ATTEMPTS = 300;
const DEFAULT_CASES = 50;

/**
 * Calls a kernel with drawn inputs and compares every element of its results with a reference. Extents, layouts and
 * elements are drawn from one seed; the first cases have the least extents. Throws `KernelMismatch` with the smallest
 * case that was found to fail: a wrong element, another number of elements, or an error.
 *
 * @example
 * ```ts ignore
 * await checkKernel({
 *   sizes: { N: [0, 5000] },
 *   inputs: { x: { dtype: "float32", shape: ["N"] }, factor: { least: -4, most: 4 } },
 *   run: ({ x, factor }) => scale(x, { factor }),
 *   reference: ({ x, factor }) => x.map((value) => Math.fround(factor * value)),
 *   tolerance: { relative: 2 ** -23 },
 * });
 * ```
 */
export async function checkKernel<const I extends Inputs>(check: KernelCheck<I>): Promise<void> {
  const seed = readSeed(check.seed);
  const { cases = DEFAULT_CASES } = check;
  const device = check.device ?? Device.open({ notice: false });
  try {
    for (let index = 0; index < cases; index++) {
      const one = drawCase(check, seed, index);
      const reason = await failureOf(device, check, one);
      if (reason === undefined) continue;
      const smallest = await shrink(device, check, { one, reason });
      throw new KernelMismatch({ seed, index, inputs: check.inputs, ...smallest });
    }
  } finally {
    if (check.device === undefined) device.dispose();
  }
}

function drawCase<I extends Inputs>(
  { sizes, inputs }: KernelCheck<I>,
  seed: number,
  index: number,
): Case {
  const own = seedOf(seed, `case ${index}`);
  const random = randomFrom(own);
  const tensors = Object.entries(inputs).filter(([, input]) => isTensorInput(input));
  return {
    seed: own,
    sizes: Object.fromEntries(
      Object.entries(sizes).map(([name, [least, most]]) => [
        name,
        index === 0 ? least : drawSize(random, least, most),
      ]),
    ),
    layouts: Object.fromEntries(tensors.map(([name, input]) => [
      name,
      pick(random, isTensorInput(input) && input.layouts || ["contiguous", "offset", "padded"]),
    ])),
    values: Object.fromEntries(tensors.map(([name, input]) => [
      name,
      pick(random, isTensorInput(input) && input.values || ["integers", "uniform"]),
    ])),
  };
}

/** Why a case fails; undefined if it does not. */
async function failureOf<I extends Inputs>(
  device: Device,
  { inputs, run, reference, tolerance = {} }: KernelCheck<I>,
  one: Case,
): Promise<string | undefined> {
  const { given, known, owned } = makeInputs(device, inputs, one);
  try {
    // The types of `Given` and `Known` follow from the declarations, as the values do.
    const results = await run(given as Given<I>);
    const expected = reference(known as Known<I>, one.sizes);
    const found = results instanceof Tensor ? { "": results } : results;
    const wanted = isElements(expected) ? { "": expected } : expected;
    for (const [name, tensor] of Object.entries(found)) {
      const elements = wanted[name];
      if (elements === undefined) return `the reference gives no ${name}`;
      const reason = await difference(tensor, elements, tolerance);
      if (!Object.values(given).includes(tensor)) tensor.dispose();
      if (reason !== undefined) return `${name}${name === "" ? "" : ": "}${reason}`;
    }
    return undefined;
  } catch (error) {
    return `it throws ${
      error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    }`;
  } finally {
    for (const tensor of owned) tensor.dispose();
  }
}

function isElements(value: Results<Expected>): value is Expected {
  return "length" in value && typeof value.length === "number";
}

async function difference(
  tensor: Tensor,
  expected: Expected,
  { absolute = 0, relative = 0 }: Tolerance,
): Promise<string | undefined> {
  if (tensor.elements !== expected.length) {
    return `${tensor.elements} elements, ${expected.length} in the reference`;
  }
  const { dtype, elements } = tensor;
  // Not every runtime has `Float16Array`.
  const array = dtype === "float16" ? new Uint16Array(elements) : new DTYPES[dtype].array(elements);
  await tensor.readInto(array);
  const read = elementReader(dtype, bytesOf(array));
  for (let i = 0; i < expected.length; i++) {
    const [found, wanted] = [read(i), expected[i] ?? 0];
    if (isNear(found, wanted, absolute, relative)) continue;
    const at = indexOf(i, tensor.shape).join(", ");
    const hint = hintOf(Number(found), Number(wanted), dtype);
    return `element [${at}] is ${text(found)} instead of ${text(wanted)}${hint}`;
  }
  return undefined;
}

function isNear(
  found: number | bigint,
  wanted: number | bigint,
  absolute: number,
  relative: number,
): boolean {
  if (found === wanted) return true;
  const [a, b] = [Number(found), Number(wanted)];
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b);
  if (typeof found === "bigint" || !Number.isFinite(a) || !Number.isFinite(b)) return false;
  return Math.abs(a - b) <= absolute + relative * Math.abs(b);
}

/** Bits of the fractions of floats. */
const FRACTIONS: Readonly<Partial<Record<DType, number>>> = {
  float16: 10,
  bfloat16: 7,
  float32: 23,
  float64: 52,
};

/** Where a result differs by about a rounding, the tolerance is probably missing. */
function hintOf(found: number, wanted: number, dtype: DType): string {
  const bits = FRACTIONS[dtype];
  const isNear = bits !== undefined && Number.isFinite(wanted) &&
    Math.abs(found - wanted) <= 2 ** -bits * Math.abs(wanted);
  return isNear
    ? `\n  they differ by a rounding to ${dtype}: tolerance: { relative: 2 ** -${bits} } allows it`
    : "";
}

function indexOf(position: number, shape: readonly number[]): readonly number[] {
  let rest = position;
  return shape.toReversed().map((extent) => {
    const index = rest % extent;
    rest = Math.floor(rest / extent);
    return index;
  }).toReversed();
}

function text(value: number | bigint): string {
  return Object.is(value, -0) ? "-0" : `${value}`;
}

/** The smallest case that fails, of those that are tried. */
async function shrink<I extends Inputs>(
  device: Device,
  check: KernelCheck<I>,
  found: { readonly one: Case; readonly reason: string },
): Promise<{ readonly one: Case; readonly reason: string }> {
  let smallest = found;
  let attempts = 0;
  for (let isSmaller = true; isSmaller && attempts < MOST_ATTEMPTS;) {
    isSmaller = false;
    for (const one of smallerCases(smallest.one, check.sizes)) {
      if (++attempts > MOST_ATTEMPTS) break;
      const reason = await failureOf(device, check, one);
      if (reason === undefined) continue;
      smallest = { one, reason };
      isSmaller = true;
      break;
    }
  }
  return smallest;
}
