/**
 * Tensor maps of a form's launches: computed from the launch's numbers, encoded by the driver, and kept, so that
 * launches with the same numbers encode none. Everything that cuTensorMapEncodeTiled demands is checked here, so that
 * compiler and launcher cannot disagree about it.
 */
import type { HostBytes } from "../../dtype.ts";
import {
  SWIZZLES,
  TENSOR_TYPES,
  type TensorMap,
  tensorMapProblem,
  type TensorTypeName,
} from "../../tensor_map.ts";
import type { Dimension, TensorMapFacts, Values } from "../facts/facts.ts";

/** Tensor copies move bits: types that maps do not know are copied as integers of the same size. */
const MAP_TYPES: Readonly<Record<TensorMapFacts["element"], TensorTypeName>> = {
  bool: "uint8",
  int8: "uint8",
  uint8: "uint8",
  int16: "uint16",
  uint16: "uint16",
  int32: "int32",
  uint32: "uint32",
  int64: "int64",
  uint64: "uint64",
  float8e4: "uint8",
  float8e5: "uint8",
  float16: "float16",
  bfloat16: "bfloat16",
  float32: "float32",
  tfloat32: "tfloat32",
  float64: "float64",
};

/** How many maps of one parameter are kept beside those in argument blocks; then all are forgotten. */
const MOST_KEPT = 1024;

/** The numbers that a map is made from, and the map; or why these numbers have none. */
interface MadeMap {
  /** The address; extent and stride in elements of each axis; corners of windows and the step between them. */
  readonly numbers: Float64Array;
  readonly bytes: HostBytes | undefined;
  readonly problem: string | undefined;
}

/** Encodes a map in the context of the form's device. */
export type Encode = (map: TensorMap) => HostBytes | undefined;

/** One map of a form on a device: what has been encoded so far. All launchers of the form share it. */
export class MapTable<Name extends string> {
  readonly facts: TensorMapFacts<Name>;
  readonly #encode: Encode;
  /** By address: programs call a kernel with the same tensors in turn. */
  readonly #made = new Map<number, MadeMap[]>();
  #count = 0;

  constructor(facts: TensorMapFacts<Name>, encode: Encode) {
    this.facts = facts;
    this.#encode = encode;
  }

  /** The map with these numbers, which the caller may change afterwards. */
  find(numbers: Float64Array): MadeMap {
    const address = numbers[0] ?? NaN;
    const there = this.#made.get(address);
    const known = there?.find((made) => isSame(made.numbers, numbers));
    if (known !== undefined) return known;
    const made = this.#make(numbers.slice());
    if (this.#count === MOST_KEPT) {
      this.#made.clear();
      this.#count = 0;
    }
    this.#count++;
    this.#made.set(address, [...this.#made.get(address) ?? [], made]);
    return made;
  }

  #make(numbers: Float64Array): MadeMap {
    const { description, problem } = describeMap(this.facts, numbers);
    const bytes = problem === undefined ? this.#encode(description) : undefined;
    if (bytes !== undefined || problem !== undefined) return { numbers, bytes, problem };
    return { numbers, bytes, problem: "the driver does not encode it" };
  }
}

/** A map of a launcher's argument block. */
export class MapSlot<Name extends string> {
  readonly #table: MapTable<Name>;
  /** Where it lies in the block. */
  readonly #room: HostBytes;
  /** Of the launch in hand. */
  readonly #numbers: Float64Array;
  #found: MadeMap | undefined;
  #written: MadeMap | undefined;

  constructor(table: MapTable<Name>, room: HostBytes) {
    this.#table = table;
    this.#room = room;
    const { extents, windows = [] } = table.facts;
    this.#numbers = new Float64Array(1 + 2 * extents.length + 3 * windows.length).fill(NaN);
  }

  /** Finds the map of a launch with these values; says what is in the way where there is none. */
  find(values: Values<Name>): string | undefined {
    const { param, extents, strides, windows = [] } = this.#table.facts;
    const numbers = this.#numbers;
    let isKnown = set(numbers, 0, values[param]);
    let at = 1;
    for (let axis = 0; axis < extents.length; axis++) {
      if (!set(numbers, at++, valueOf(extents[axis], values))) isKnown = false;
      if (!set(numbers, at++, valueOf(strides[axis], values))) isKnown = false;
    }
    for (const { lower, upper, step } of windows) {
      if (!set(numbers, at++, valueOf(lower, values))) isKnown = false;
      if (!set(numbers, at++, valueOf(upper, values))) isKnown = false;
      if (!set(numbers, at++, valueOf(step, values))) isKnown = false;
    }
    if (!isKnown || this.#found === undefined) this.#found = this.#table.find(numbers);
    return this.#found.problem;
  }

  /** Puts the map that was found into the argument block. */
  write(): void {
    const found = this.#found;
    if (found?.bytes === undefined || found === this.#written) return;
    this.#room.set(found.bytes);
    this.#written = found;
  }
}

function valueOf<Name extends string>(
  dimension: Dimension<Name> | undefined,
  values: Values<Name>,
): number {
  if (typeof dimension === "number") return dimension;
  if (typeof dimension === "string") return values[dimension];
  return dimension === undefined ? NaN : dimension.value(values);
}

/** Whether the number was there already. */
function set(numbers: Float64Array, at: number, value: number): boolean {
  if (Object.is(numbers[at], value)) return true;
  numbers[at] = value;
  return false;
}

function isSame(a: Float64Array, b: Float64Array): boolean {
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false;
  return true;
}

/** What is to be encoded, and what of it no map can have. */
function describeMap<Name extends string>(
  { param, element, extents: { length: axes }, box, swizzle, windows }: TensorMapFacts<Name>,
  [address = NaN, ...numbers]: Float64Array,
): { readonly description: TensorMap; readonly problem: string | undefined } {
  const sizes = numbers.slice(0, 2 * axes);
  const extents = sizes.filter((_, i) => i % 2 === 0);
  const strides = sizes.filter((_, i) => i % 2 === 1);
  const corners = windows?.map((_, i) => {
    const [lower = NaN, upper = NaN, step = NaN] = numbers.slice(2 * axes + 3 * i);
    return { lower, upper, step };
  });
  const [innermost, ...outer] = strides;
  const type = MAP_TYPES[element];
  const bytes = TENSOR_TYPES.find(({ name }) => name === type)?.bytes ?? NaN;
  const description: TensorMap = {
    type,
    address: Number.isSafeInteger(address) ? BigInt(address) : 0n,
    extents,
    strides: outer.map((stride) => stride * bytes),
    box,
    elementStrides: [1, ...corners?.map(({ step }) => step) ?? [], ...box.map(() => 1)]
      .slice(0, box.length),
    interleave: "none",
    swizzle: SWIZZLES.find((name) => name === `${swizzle}B`) ?? "none",
    promotion: "128B",
    fill: "zero",
    ...corners === undefined
      ? {}
      : { windows: corners.map(({ lower, upper }) => ({ lower, upper })) },
  };
  const overlapping = outer.findIndex((stride) => !(stride > 0));
  const problem = description.address === 0n
    ? "there is no memory"
    : innermost !== 1
    ? `elements of the innermost axis are ${innermost} apart, not 1`
    : overlapping >= 0
    ? `the stride of axis ${overlapping + 1} is ${outer[overlapping]}, not more than 0`
    : tensorMapProblem(description);
  return {
    description,
    problem: problem === undefined ? undefined : `tensor map of ${param}: ${problem}`,
  };
}
