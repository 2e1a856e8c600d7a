/** Names for device memory, so that faults can speak of "element 24 of Y" rather than of addresses. */
import { DTYPES } from "../../ffi/dtype.ts";
import type { Contents } from "../../ffi/driver.ts";
import type { TensorInfo } from "../check/allocations.ts";
import type { Heap } from "../heap.ts";
import { WINDOW } from "../memory.ts";

/** The device address of a location in the emulator's memory. */
export function addressOf(location: number): bigint {
  return BigInt(WINDOW.global) << 32n | BigInt(location);
}

/** The location of a device address; undefined where it is not one of global memory. */
export function locationOf(address: bigint): number | undefined {
  return address >> 32n === BigInt(WINDOW.global) ? Number(address & 0xffff_ffffn) : undefined;
}

/** What messages say of a tensor. */
export function tensorInfo({ dtype, shape }: Contents): TensorInfo {
  return { dtype, shape, elementBytes: DTYPES[dtype].bytes };
}

/** A parameter of a kernel that may be an address. */
export interface NamedParameter {
  readonly name: string;
  readonly offset: number;
}

const POINTER_BYTES = 8;

/** Gives the tensors that a launch is passed its parameters' names; they keep them until another launch has others. */
export function nameArguments(
  heap: Heap,
  parameters: readonly NamedParameter[],
  argumentBlock: Uint8Array<ArrayBuffer>,
): void {
  const { buffer, byteOffset, byteLength } = argumentBlock;
  const view = new DataView(buffer, byteOffset, byteLength);
  const names = new Map<number, string[]>();
  for (const { name, offset } of parameters) {
    if (offset + POINTER_BYTES > byteLength || view.getUint32(offset + 4, true) !== WINDOW.global) {
      continue;
    }
    const start = heap.liveAt(view.getUint32(offset, true))?.location;
    if (start === undefined) continue;
    const known = names.get(start);
    if (known === undefined) names.set(start, [name]);
    else known.push(name);
  }
  for (const [location, known] of names) {
    const tensor = heap.liveAt(location)?.tensor;
    const name = known.join(" and ");
    if (tensor !== undefined && tensor.name !== name) heap.describe(location, { ...tensor, name });
  }
}
