/** Device memory that tensors view. */
import type { Device } from "./device.ts";
import type { HostBytes } from "./dtype.ts";
import { ArgumentError, DisposedError } from "./errors.ts";
import type { Allocation } from "./pool.ts";
import type { Stream } from "./stream.ts";

/** A piece of device memory. Collected as garbage it goes back to the device, but late: rather dispose it. */
export class DeviceBuffer {
  /** The device that it belongs to. */
  readonly device: Device;
  /** The size asked for; the memory behind it may be larger. */
  readonly bytes: number;
  /** Undefined for 0 bytes, which need no memory. */
  readonly #allocation: Allocation | undefined;
  readonly #owner: Stream;
  #disposed = false;

  /** Use `device.empty()`. */
  constructor(device: Device, bytes: number, stream: Stream) {
    this.device = device;
    this.bytes = bytes;
    this.#owner = stream;
    this.#allocation = bytes === 0 ? undefined : device.take(this, bytes, stream);
  }

  /** Address of the first byte; 0n for an empty buffer. */
  get address(): bigint {
    if (this.#disposed || this.device.disposed) throw new DisposedError(this.#name());
    return this.#allocation?.address ?? 0n;
  }

  /** Whether it was disposed, by itself or with its device. */
  get disposed(): boolean {
    return this.#disposed || this.device.disposed;
  }

  /** The stream that wrote last; what is queued there sees the content. */
  get stream(): Stream {
    const writer = this.#allocation?.uses.writer ?? this.#owner;
    return writer.disposed ? this.device.defaultStream : writer;
  }

  /**
   * To be called before work that reads or writes the memory is queued on a stream: the stream then waits
   * for what other streams do with it. Costs a comparison when there are none.
   */
  use(stream: Stream, write: boolean): void {
    if (this.disposed) throw new DisposedError(this.#name());
    if (stream.device !== this.device) {
      throw new ArgumentError({
        argument: "stream",
        expected: `a stream of the tensor's device, ${this.device.label}`,
        actual: stream.device.label === this.device.label
          ? "one of the same GPU opened another time"
          : `one of ${stream.device.label}`,
      });
    }
    stream.recording?.add(this, write);
    this.#allocation?.uses.add(stream, write);
  }

  /** Copies host memory to the device, behind all other use; blocks until it is there. */
  upload(from: HostBytes, offset: number): void {
    if (this.bytes === 0) return;
    const { stream } = this;
    this.use(stream, true);
    const driver = this.device.enter();
    driver.copyToDevice(this.address + BigInt(offset), from, stream.handle);
    driver.synchronizeStream(stream.handle);
  }

  /** Queues a copy to host memory; `to` is filled, and must not be touched, until the returned stream is done. */
  download(to: HostBytes, offset: number): Stream {
    const { stream } = this;
    if (to.byteLength === 0) return stream;
    this.use(stream, false);
    this.device.enter().copyToHost(to, this.address + BigInt(offset), stream.handle);
    return stream;
  }

  /** Queues setting every byte to `value`. */
  fill(value: number): void {
    if (this.bytes === 0) return;
    const { stream } = this;
    this.use(stream, true);
    this.device.enter().fill(this.address, value, this.bytes, stream.handle);
  }

  /** Gives the memory back for reuse; work already queued still has it. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    if (this.#allocation !== undefined) this.device.giveBack(this.#allocation);
  }

  #name(): string {
    return `Buffer of ${this.bytes} bytes`;
  }
}
