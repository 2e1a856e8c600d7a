/** Tensor maps as libcuda encodes them. */
import type { HostBytes } from "../dtype.ts";
import {
  FILLS,
  INTERLEAVES,
  PROMOTIONS,
  SWIZZLES,
  TENSOR_MAP_ALIGN,
  TENSOR_MAP_BYTES,
  TENSOR_TYPES,
  type TensorMap,
} from "../tensor_map.ts";
import { type CudaCalls, STATUS } from "./calls.ts";

/** Encodes maps one at a time, in memory on the alignment that libcuda demands. */
export class TensorMapEncoder {
  readonly #calls: CudaCalls;
  #room: HostBytes | undefined;

  constructor(calls: CudaCalls) {
    this.#calls = calls;
  }

  /** The bytes of a map; undefined where the driver has no such maps. */
  encode(map: TensorMap): HostBytes | undefined {
    const { cuTensorMapEncodeTiled } = this.#calls.cu;
    if (cuTensorMapEncodeTiled === null) return undefined;
    const room = this.#room ??= this.#calls.alignedPart(
      new Uint8Array(TENSOR_MAP_BYTES + TENSOR_MAP_ALIGN),
      TENSOR_MAP_ALIGN,
    );
    const status = cuTensorMapEncodeTiled(
      room,
      TENSOR_TYPES.findIndex(({ name }) => name === map.type),
      map.extents.length,
      map.address,
      BigUint64Array.from(map.extents, BigInt),
      // One longer than needed: runtimes pass an empty array as the null pointer.
      BigUint64Array.from([...map.strides, 0], BigInt),
      Uint32Array.from(map.box),
      Uint32Array.from(map.elementStrides),
      INTERLEAVES.indexOf(map.interleave),
      SWIZZLES.indexOf(map.swizzle),
      PROMOTIONS.indexOf(map.promotion),
      FILLS.indexOf(map.fill),
    );
    if (status === STATUS.invalidValue || status === STATUS.notSupported) return undefined;
    this.#calls.check(status, "cuTensorMapEncodeTiled");
    return room.slice();
  }
}
