/**
 * Several devices in one program: copies from one to another, and memory of one GPU in kernels of another (peer access, by
 * NVLink or PCIe).
 */
import { expectBranded } from "../arguments/brands.ts";
import type { Device } from "../device.ts";
import type { PeerCalls } from "../driver.ts";
import type { DType } from "../dtype.ts";
import { ArgumentError } from "../errors.ts";
import { ForeignMemory } from "./foreign_memory.ts";
import type { Stream } from "../stream.ts";
import type { Tensor } from "../tensors/tensor.ts";

/** Whether events and copies of the driver order and join the two devices; otherwise the host has to. */
export function arePeers(one: Device, other: Device): boolean {
  return one === other || peersOf(one, other) !== undefined;
}

/** The calls for two different devices. */
function peersOf({ driver }: Device, other: Device): PeerCalls | undefined {
  return driver.name === other.driver.name ? driver.peers : undefined;
}

/** For each device and each other that copies from it: the stream of the device for these copies. */
const READERS = new WeakMap<Device, WeakMap<Device, Stream>>();

function readerOf(device: Device, other: Device): Stream {
  const readers = READERS.get(device) ?? new WeakMap<Device, Stream>();
  const reader = readers.get(other) ?? device.stream();
  READERS.set(device, readers.set(other, reader));
  return reader;
}

/**
 * Queues a copy between tensors without gaps on devices that are peers, on a stream of the target. It waits for what was
 * queued on the source; what writes the source later waits for it, and nothing else of the source's device does.
 */
export function copyFromPeer(to: Tensor, from: Tensor, stream: Stream): void {
  const reader = readerOf(from.device, to.device);
  from.buffer.use(reader, false);
  to.buffer.use(stream, true);
  if (to.spanBytes === 0) return;
  const address = from.address;
  stream.waitFor(reader);
  to.device.enter().peers?.copy(to.address, address, to.spanBytes, stream.handle);
  reader.waitFor(stream);
}

/**
 * Whether kernels of a device can access memory of another one. Throws `ArgumentError` for what is no device,
 * `CudaError`.
 */
export function canAccessPeer(device: Device, peer: Device): boolean {
  expectBranded<Device>("device", device, "device of canAccessPeer");
  expectBranded<Device>("device", peer, "peer of canAccessPeer");
  return device === peer || isReachable(device, peer);
}

function isReachable(device: Device, peer: Device): boolean {
  const calls = peersOf(device, peer);
  if (calls === undefined) return false;
  const [own, other] = [device.info.ordinal, peer.info.ordinal];
  device.enter();
  return own === other || calls.canAccess(own, other);
}

/**
 * A tensor of the device that views the memory of another GPU's tensor: kernels of the device read and write it there,
 * without a copy. It keeps the other tensor alive. The streams of the two GPUs are not ordered by it: let them wait for
 * each other (`stream.waitFor`), or let kernels signal by atomics of scope "sys". Throws `ArgumentError` where kernels of
 * the device cannot access the memory.
 */
export function viewPeer<D extends DType, R extends number>(
  device: Device,
  tensor: Tensor<D, R>,
): Tensor<D, R>;
export function viewPeer(device: Device, tensor: Tensor): Tensor {
  expectBranded<Device>("device", device, "device of viewPeer");
  expectBranded<Tensor>("tensor", tensor, "tensor of viewPeer");
  const peer = tensor.device;
  if (!canAccessPeer(device, peer)) {
    throw new ArgumentError({
      argument: "tensor of viewPeer",
      expected: `a tensor whose memory kernels of ${device.label} can access`,
      actual: `${tensor} on ${peer.label}`,
    }, { hint: "copy it: device.empty(…).copyFrom(tensor) works between all devices" });
  }
  if (device.info.ordinal !== peer.info.ordinal) {
    device.enter().peers?.enableAccess(peer.info.ordinal);
  }
  const { dtype, address, shape, strides, spanBytes: bytes }: Tensor = tensor;
  const memory = new ForeignMemory(device.defaultStream, {
    address,
    owner: tensor,
    release: undefined,
  });
  return device.view(dtype, { shape, strides }, bytes, memory);
}
