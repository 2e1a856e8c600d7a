/** The inputs of a kernel's test: how they are declared, and the tensors of a case. */
import { type Device, type DType, DTYPES, type HostArray, type Tensor } from "../ffi/mod.ts";
import { elementReader, fillElements } from "../ffi/tensors/elements.ts";
import { type Case, elementSource, type Layout, randomFrom, seedOf, type Values } from "./draw.ts";

/** A tensor that is drawn. */
export interface TensorInput<
  D extends DType = DType,
  S extends readonly Extent[] = readonly Extent[],
> {
  /** Its element type. */
  readonly dtype: D;
  /** Its extents: names of sizes, or numbers. */
  readonly shape: S;
  /**
   * The layouts that the kernel takes; contiguous, offset and padded by default. `offset`: the first element is not at
   * the start of an allocation. `padded`: rows have gaps between them. `transposed`: the first axis is contiguous.
   */
  readonly layouts?: readonly [Layout, ...Layout[]];
  /**
   * The elements: `integers` from -8 to 8, `uniform` in [-1, 1), `special` also infinities, NaN, -0, the largest and the
   * smallest numbers. Integers and uniform by default.
   */
  readonly values?: readonly [Values, ...Values[]];
}

/** A number that is drawn, for a scalar parameter. */
export interface NumberInput {
  /** The least. */
  readonly least: number;
  /** The most; excluded for fractions. */
  readonly most: number;
  /** Only whole numbers. */
  readonly integer?: boolean;
}

/** The name of a size, or a number. */
export type Extent = string | number;

/** Declared inputs by name. */
export type Inputs = Readonly<Record<string, TensorInput | NumberInput>>;

/** What the function that runs the kernel gets. */
export type Given<I extends Inputs> = {
  readonly [K in keyof I]: I[K] extends TensorInput<infer D, infer S> ? Tensor<D, S["length"]>
    : number;
};

/** What the reference gets: elements in row-major order, and numbers. 64-bit integers are bigint. */
export type Known<I extends Inputs> = {
  readonly [K in keyof I]: I[K] extends TensorInput<infer D>
    ? readonly (HostArray<D> extends BigInt64Array | BigUint64Array ? bigint : number)[]
    : number;
};

/** Whether an input is a tensor. */
export function isTensorInput(input: TensorInput | NumberInput): input is TensorInput {
  return "dtype" in input;
}

/** The shape of an input for some sizes. */
export function shapeOf({ shape }: TensorInput, sizes: Case["sizes"]): readonly number[] {
  return shape.map((extent) => typeof extent === "number" ? extent : sizes[extent] ?? 0);
}

/** Inputs of a case, with what to dispose of at its end. */
export interface Made {
  readonly given: Record<string, Tensor | number>;
  readonly known: Record<string, readonly (number | bigint)[] | number>;
  readonly owned: readonly Tensor[];
}

/** Makes the inputs; the same for the same case. */
export function makeInputs(device: Device, inputs: Inputs, one: Case): Made {
  const given: Record<string, Tensor | number> = {};
  const known: Record<string, readonly (number | bigint)[] | number> = {};
  const owned: Tensor[] = [];
  for (const [name, input] of Object.entries(inputs)) {
    const random = randomFrom(seedOf(one.seed, name));
    if (!isTensorInput(input)) {
      const { least, most, integer = false } = input;
      const drawn = integer
        ? least + Math.floor(random() * (most - least + 1))
        : least + random() * (most - least);
      given[name] = known[name] = drawn;
      continue;
    }
    const shape = shapeOf(input, one.sizes);
    const source = elementSource(input.dtype, one.values[name] ?? "uniform", random);
    const { whole, view } = place(device, input.dtype, shape, one.layouts[name] ?? "contiguous");
    const count = shape.reduce((product, extent) => product * extent, 1);
    const bytes = fillElements(input.dtype, count, source);
    view.write(bytes);
    const read = elementReader(input.dtype, bytes);
    known[name] = Array.from({ length: count }, (_, i) => read(i));
    given[name] = view;
    owned.push(whole);
  }
  return { given, known, owned };
}

/** A tensor in a larger one, all of whose elements are NaN or large: what a kernel must not read. */
function place(
  device: Device,
  dtype: DType,
  shape: readonly number[],
  layout: Layout,
): { readonly whole: Tensor; readonly view: Tensor } {
  const last = shape.length - 1;
  const extent = shape[last];
  const order = shape.map((_, axis) => last - axis);
  const [outer, from] = extent === undefined || layout === "contiguous"
    ? [shape, 0]
    : layout === "offset"
    ? [[...shape.slice(0, last), extent + 3], 3]
    : layout === "padded"
    ? [[...shape.slice(0, last), extent + 16], 0]
    : [shape.toReversed(), 0];
  const whole = device.empty(dtype, outer);
  const size = whole.elements * DTYPES[dtype].bytes;
  // All bits set is NaN for every float type but float8e4, where it is NaN too; for integers -1 or the most.
  whole.write(new Uint8Array(size).fill(dtype === "bool" ? 1 : 0xff));
  if (layout === "transposed") return { whole, view: whole.permute(order) };
  return { whole, view: extent === undefined ? whole : whole.narrow(last, from, extent) };
}
