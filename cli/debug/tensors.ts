/** Tensors of a debugged launch: their elements by name and index. */
import { type DebugLaunch, type DType, DTYPES } from "../../ffi/mod.ts";
import { elementReader } from "../../ffi/tensors/elements.ts";

/** A tensor in the emulator's memory. */
export interface PlacedTensor {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** In elements. */
  readonly strides: readonly number[];
  readonly address: bigint;
}

/** Bytes of a tensor. */
export interface Place {
  readonly address: bigint;
  readonly bytes: number;
  readonly dtype: DType;
}

/** The element that a text such as `X[3, 5]` names; undefined: it names none. */
export function elementAt(text: string, tensors: readonly PlacedTensor[]): Place | undefined {
  const [, name, list = ""] = /^\s*(\w+)\s*\[([\d\s,]+)\]\s*$/.exec(text) ?? [];
  const tensor = tensors.find((each) => each.name === name);
  if (tensor === undefined) return undefined;
  const { dtype, shape, strides, address } = tensor;
  const index = list.split(",").map(Number);
  if (index.length !== shape.length || index.some((at, axis) => at >= (shape[axis] ?? 0))) {
    return undefined;
  }
  const { bytes } = DTYPES[dtype];
  const offset = index.reduce((sum, at, axis) => sum + at * (strides[axis] ?? 0), 0);
  return { address: address + BigInt(offset * bytes), bytes, dtype };
}

/** What the element is now. */
export function readElement({ address, bytes, dtype }: Place, launch: DebugLaunch): string {
  const found = launch.state().memory("global", Number(address), bytes);
  if (found === undefined) return "not allocated";
  const aligned = new Uint8Array(bytes);
  aligned.set(found);
  return String(elementReader(dtype, aligned)(0));
}
