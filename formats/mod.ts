/**
 * Files of tensors: `.npy` and `.npz` of NumPy, and safetensors. Each format has a module of its own as well.
 *
 * ```ts
 * import { Device } from "@tri/tri/ffi";
 * import { encodeSafetensors, openSafetensors } from "@tri/tri/formats";
 *
 * using device = Device.open({ device: "emulator" });
 * using file = openSafetensors(encodeSafetensors({ bias: { data: [1, 2, 3] } }));
 * using bias = file.get("bias").toDevice(device);
 * console.log(`${bias}`, bias.readSync());
 * ```
 *
 * @module
 */
export { encodeNpy, NpyFile, openNpy, writeNpy } from "./npy.ts";
export { encodeNpz, type NpzOptions, openNpz, writeNpz } from "./npz.ts";
export {
  encodeSafetensors,
  openSafetensors,
  SafetensorsFile,
  type SafetensorsOptions,
  writeSafetensors,
} from "./safetensors.ts";
export { TensorArchive } from "./archive.ts";
export { type FilePlace, TensorFileError } from "./errors.ts";
export type { HostTensor, TensorSource } from "./pieces.ts";
export type { ByteSource, FileSource } from "./source.ts";
export { type StoredFacts, StoredTensor } from "./stored.ts";
