/** Tensor maps for a GPU: what libcuda makes of a description. */
import { cudaLibraries } from "../../ffi/cuda/library.ts";
import {
  FILLS,
  INTERLEAVES,
  PROMOTIONS,
  SWIZZLES,
  TENSOR_MAP_ALIGN,
  TENSOR_MAP_BYTES,
  TENSOR_TYPES,
  type TensorMap,
} from "../../emulator/async/tensor_map.ts";
import { bug } from "../../compiler/support/bug.ts";

const SYMBOLS = {
  cuTensorMapEncodeTiled: {
    parameters: [
      "buffer",
      "u32",
      "u32",
      "u64",
      "buffer",
      "buffer",
      "buffer",
      "buffer",
      "u32",
      "u32",
      "u32",
      "u32",
    ],
    result: "i32",
  },
} as const;

/** Opens the first libcuda that there is. */
function openLibrary(): Deno.DynamicLibrary<typeof SYMBOLS> {
  for (const path of cudaLibraries()) {
    try {
      return Deno.dlopen(path, SYMBOLS);
    } catch {
      continue;
    }
  }
  return bug("no libcuda");
}

/** Makes an encoder; a context must be current when it is called. */
export function tensorMapEncoder(): (map: TensorMap) => Uint8Array {
  const { symbols } = openLibrary();
  return (map) => {
    const room = new Uint8Array(TENSOR_MAP_BYTES + TENSOR_MAP_ALIGN);
    const start = Deno.UnsafePointer.value(Deno.UnsafePointer.of(room));
    const skip = Number(-BigInt(start) & BigInt(TENSOR_MAP_ALIGN - 1));
    const bytes = room.subarray(skip, skip + TENSOR_MAP_BYTES);
    const status = symbols.cuTensorMapEncodeTiled(
      bytes,
      TENSOR_TYPES.findIndex(({ name }) => name === map.type),
      map.extents.length,
      map.address,
      BigUint64Array.from(map.extents, BigInt),
      BigUint64Array.from([...map.strides, 0], BigInt),
      Uint32Array.from(map.box),
      Uint32Array.from(map.elementStrides),
      INTERLEAVES.indexOf(map.interleave),
      SWIZZLES.indexOf(map.swizzle),
      PROMOTIONS.indexOf(map.promotion),
      FILLS.indexOf(map.fill),
    );
    return status === 0 ? bytes : bug(`cuTensorMapEncodeTiled: ${status}`);
  };
}
