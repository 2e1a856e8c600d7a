/**
 * DLPack: tensors of other libraries in this process, such as torch and cupy in an embedded Python, without copying
 * them. A tensor is passed as the address of a `DLManagedTensorVersioned`.
 *
 * ```ts
 * import { Device } from "@tri/tri/ffi";
 * import { exportDLPack, importDLPack } from "@tri/tri/ffi/dlpack";
 *
 * using device = Device.open({ device: "emulator" });
 * using host = device.pinned("float32", [2, 3]);
 * host.array.set([1, 2, 3, 4, 5, 6]);
 * using lent = exportDLPack(host);
 * // Another library takes `lent.address`; here it is tri itself.
 * using x = importDLPack(device, lent.address);
 * console.log(`${x}`, x.readSync());
 * ```
 *
 * @module
 */
import { runtime } from "#runtime";
import { expectBranded, isBranded, nameValue } from "../arguments/brands.ts";
import type { Device } from "../device.ts";
import { DTYPES, type HostBytes } from "../dtype.ts";
import { ArgumentError, DisposedError, PermissionError } from "../errors.ts";
import { checkOptions, optionNames, own } from "../arguments/options.ts";
import type { PinnedArray } from "../memory/pinned.ts";
import type { HostMemory } from "../runtime/runtime.ts";
import { denseStrides, spanElements, takeLayout } from "../tensors/shape.ts";
import type { Stream } from "../stream.ts";
import type { Tensor } from "../tensors/tensor.ts";
import { describeValue } from "../arguments/values.ts";
import {
  decodeIntegers,
  decodeManaged,
  decodePrefix,
  DEVICE,
  encodeManaged,
  MANAGED_BYTES,
  VERSION,
} from "./layout.ts";

/** How tensors are exchanged. */
export interface DLPackOptions {
  /**
   * The other library's stream (a cudaStream_t as a number): the consumer's when a tensor is exported, which then waits
   * for queued work on it, the producer's when one is imported, whose queued work is waited for. 1n and 2n are CUDA's
   * legacy and per-thread default streams. Not given: exporting blocks until the elements are there; importing takes them
   * as they are.
   */
  readonly stream?: bigint;
}

/** How a tensor is imported. */
export interface DLPackImportOptions extends DLPackOptions {
  /** Views of memory that must not be written are refused unless this is true. */
  readonly allowReadOnly?: boolean;
}

const EXPORT_OPTIONS = optionNames<DLPackOptions>({ stream: true });
const IMPORT_OPTIONS = optionNames<DLPackImportOptions>({ stream: true, allowReadOnly: true });

/** A tensor that is lent to another library, by `exportDLPack`. Keep it, and the tensor, until that is done with it. */
export class DLPackTensor {
  /** What is lent. */
  readonly tensor: Tensor | PinnedArray;
  readonly #memory: HostMemory;
  #bytes: HostBytes | undefined;

  /** Use `exportDLPack`. */
  constructor(tensor: Tensor | PinnedArray, memory: HostMemory, bytes: HostBytes) {
    this.tensor = tensor;
    this.#memory = memory;
    this.#bytes = bytes;
  }

  /**
   * The address of the `DLManagedTensorVersioned`. It has no deleter: the structure is there until this is disposed. Throws
   * `DisposedError` after that.
   */
  get address(): bigint {
    if (this.#bytes === undefined || this.tensor.disposed) throw new DisposedError("DLPackTensor");
    return this.#memory.addressOf(this.#bytes);
  }

  /** Ends the loan: the other library must not use the tensor any more. */
  dispose(): void {
    this[Symbol.dispose]();
  }

  /** What `using` calls at the end of a block. */
  [Symbol.dispose](): void {
    this.#bytes = undefined;
  }
}

/**
 * Lends a tensor of a GPU, or pinned host memory (as memory of the CPU), to another library in this process. Throws
 * `ArgumentError` for a tensor of the emulator, `PermissionError` where the program may not use FFI.
 */
export function exportDLPack(
  tensor: Tensor | PinnedArray,
  options: DLPackOptions = {},
): DLPackTensor {
  checkOptions("options of exportDLPack", options, EXPORT_OPTIONS);
  const memory = hostMemory();
  const foreign = takeHandle(own(options, "stream"));
  const { dtype }: Tensor | PinnedArray = tensorOf(tensor);
  const { shape }: { readonly shape: readonly number[] } = tensor;
  const addressOf = (bytes: HostBytes): bigint => memory.addressOf(bytes);
  if (isBranded<PinnedArray>("pinned", tensor)) {
    tensor.synchronize();
    const address = addressOf(tensor.bytes);
    const facts = { address, deviceType: DEVICE.cpu, deviceId: 0, dtype, shape };
    const bytes = encodeManaged({ ...facts, strides: denseStrides(shape) }, addressOf);
    return new DLPackTensor(tensor, memory, bytes);
  }
  const { address, device, buffer, strides }: Tensor = tensor;
  if (device.info.kind === "emulator") {
    throw new ArgumentError({
      argument: "tensor of exportDLPack",
      expected: "a tensor of a GPU",
      actual: `${tensor} on ${device.label}, whose addresses no other library has`,
    }, { hint: "copy it to `device.pinned()`, and export that as memory of the CPU" });
  }
  if (foreign === undefined) buffer.stream.synchronize();
  else letForeignWait(foreign, buffer.stream);
  const { ordinal } = device.info;
  const facts = { address, deviceType: DEVICE.cuda, deviceId: ordinal, dtype, shape, strides };
  return new DLPackTensor(tensor, memory, encodeManaged(facts, addressOf));
}

function tensorOf(tensor: unknown): Tensor | PinnedArray {
  if (isBranded<PinnedArray>("pinned", tensor)) return tensor;
  expectBranded<Tensor>("tensor", tensor, "tensor of exportDLPack");
  return tensor;
}

/**
 * Takes a tensor of another library over: memory of the device's GPU is viewed without copying it, memory of the CPU is
 * copied to the device. The structure's deleter is called when the tensor is disposed and queued work has been waited for;
 * at once where the elements were copied, or the import fails. An address that is no `DLManagedTensorVersioned` ends the
 * program, or worse. Throws `ArgumentError` for memory of other devices and element types that tri does not have,
 * `PermissionError` where the program may not use FFI.
 */
export function importDLPack(
  device: Device,
  address: bigint,
  options: DLPackImportOptions = {},
): Tensor {
  expectBranded<Device>("device", device, "device of importDLPack");
  checkOptions("options of importDLPack", options, IMPORT_OPTIONS);
  const foreign = takeHandle(own(options, "stream"));
  if (typeof address !== "bigint" || address <= 0n || address >= 2n ** 64n) {
    const expected = "the address of a DLManagedTensorVersioned, as a bigint";
    const actual = describeValue(address);
    throw new ArgumentError({ argument: "address of importDLPack", expected, actual });
  }
  const memory = hostMemory();
  const bytes = memory.read(address, MANAGED_BYTES);
  const { major, minor, deleter } = decodePrefix(bytes);
  const release = (): void => {
    if (deleter !== 0n) memory.call(deleter, address);
  };
  try {
    if (major !== VERSION.major) {
      throw new ArgumentError({
        argument: "tensor of importDLPack",
        expected: `version ${VERSION.major} of DLPack`,
        actual: `version ${major}.${minor}`,
      }, { hint: "in Python: `x.__dlpack__(max_version=(1, 0))`" });
    }
    return takeOver(device, bytes, memory, {
      foreign,
      release,
      allowReadOnly: own(options, "allowReadOnly") === true,
    });
  } catch (error) {
    release();
    throw error;
  }
}

function takeOver(
  device: Device,
  bytes: HostBytes,
  memory: HostMemory,
  { foreign, release, allowReadOnly }: {
    readonly foreign: bigint | undefined;
    readonly release: () => void;
    readonly allowReadOnly: boolean;
  },
): Tensor {
  const header = decodeManaged(bytes);
  const { address, dtype, rank, shapeAddress, stridesAddress, deviceType, deviceId } = header;
  const integers = (from: bigint): number[] => decodeIntegers(memory.read(from, 8 * rank));
  const given = rank === 0 ? [] : integers(shapeAddress);
  const steps = stridesAddress === 0n || rank === 0 ? undefined : integers(stridesAddress);
  const { shape, strides } = takeLayout(given, steps);
  if (deviceType === DEVICE.cpu) {
    const length = spanElements(shape, strides) * DTYPES[dtype].bytes;
    const tensor = device.tensor(memory.read(address, length), shape, { dtype, strides });
    release();
    return tensor;
  }
  if (deviceType !== DEVICE.cuda || deviceId !== device.info.ordinal) {
    throw new ArgumentError({
      argument: "tensor of importDLPack",
      expected: `memory of ${device.label} (DLPack device 2, ${device.info.ordinal}) or of the CPU`,
      actual: `DLPack device ${deviceType}, ${deviceId}`,
    }, { hint: "copy the tensor to this device in the library that has it" });
  }
  if (header.isReadOnly && !allowReadOnly) {
    throw new ArgumentError({
      argument: "tensor of importDLPack",
      expected: "memory that may be written",
      actual: "a tensor that is read-only",
    }, { hint: "pass { allowReadOnly: true } and write nothing to it, or copy it" });
  }
  if (foreign !== undefined) waitForForeign(device.defaultStream, foreign);
  return device.wrap(address, dtype, shape, { strides, release });
}

/** Lets what is queued on a stream from now on wait for what is queued on a stream of another library. */
export function waitForForeign(stream: Stream, foreign: bigint): void {
  expectBranded<Stream>("stream", stream, "stream of waitForForeign");
  const handle = expectHandle(foreign);
  const { device } = stream;
  using event = device.event({ timing: false });
  const driver = device.enter();
  driver.recordEvent(event.handle, handle);
  driver.waitForEvent(stream.handle, event.handle);
}

/** Lets what another library queues on its stream from now on wait for what is queued on a stream. */
export function letForeignWait(foreign: bigint, stream: Stream): void {
  expectBranded<Stream>("stream", stream, "stream of letForeignWait");
  const handle = expectHandle(foreign);
  const { device } = stream;
  using event = device.event({ timing: false });
  event.record(stream);
  device.enter().waitForEvent(handle, event.handle);
}

function takeHandle(stream: unknown): bigint | undefined {
  return stream === undefined ? undefined : expectHandle(stream);
}

function expectHandle(stream: unknown): bigint {
  if (typeof stream === "bigint" && stream >= 0n && stream < 2n ** 64n) return stream;
  const expected = "the handle of a stream, as a bigint";
  throw new ArgumentError({ argument: "stream", expected, actual: nameValue(stream) });
}

function hostMemory(): HostMemory {
  const found = runtime.hostMemory();
  if (found.kind === "open") return found.memory;
  const { hint, cause } = found;
  throw new PermissionError("Cannot exchange tensors by DLPack: memory of the process is needed", {
    hint,
    cause,
  });
}
