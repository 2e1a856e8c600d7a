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
    const { cuTensorMapEncodeTiled: tiled, cuTensorMapEncodeIm2col: im2col } = this.#calls.cu;
    if (tiled === null || im2col === null) return undefined;
    const room = this.#room ??= this.#calls.alignedPart(
      new Uint8Array(TENSOR_MAP_BYTES + TENSOR_MAP_ALIGN),
      TENSOR_MAP_ALIGN,
    );
    const { windows, box: [channels = 0, pixels = 0] } = map;
    const tensor = [
      room,
      TENSOR_TYPES.findIndex(({ name }) => name === map.type),
      map.extents.length,
      map.address,
      BigUint64Array.from(map.extents, BigInt),
      // One longer than needed: runtimes pass an empty array as the null pointer.
      BigUint64Array.from([...map.strides, 0], BigInt),
    ] as const;
    const steps = Uint32Array.from(map.elementStrides);
    const layout = [
      INTERLEAVES.indexOf(map.interleave),
      SWIZZLES.indexOf(map.swizzle),
      PROMOTIONS.indexOf(map.promotion),
      FILLS.indexOf(map.fill),
    ] as const;
    const status = windows === undefined
      ? tiled(...tensor, Uint32Array.from(map.box), steps, ...layout)
      : im2col(
        ...tensor,
        // In the order of the axes, innermost first.
        Int32Array.from(windows, ({ lower }) => lower),
        Int32Array.from(windows, ({ upper }) => upper),
        channels,
        pixels,
        steps,
        ...layout,
      );
    if (status === STATUS.invalidValue || status === STATUS.notSupported) return undefined;
    const call = windows === undefined ? "cuTensorMapEncodeTiled" : "cuTensorMapEncodeIm2col";
    this.#calls.check(status, call);
    return room.slice();
  }
}
