/** Device memory that tensors view. */
import type { Device } from "../device.ts";
import type { HostBytes } from "../dtype.ts";
import { expectBranded, nameValue, registerBrand } from "../arguments/brands.ts";
import { ArgumentError, DisposedError } from "../errors.ts";
import { ForeignMemory } from "./foreign_memory.ts";
import { bytesInside } from "../tensors/host.ts";
import { expectInteger } from "../arguments/numbers.ts";
import type { Allocation } from "./pool.ts";
import { isStream, type Stream } from "../stream.ts";

/** A piece of device memory. The garbage collector returns it to the device, but late: dispose it instead. */
export class DeviceBuffer {
  /** The device that it belongs to. */
  readonly device: Device;
  /** The size asked for; the memory that it has may be larger. */
  readonly bytes: number;
  /** Undefined for 0 bytes, which need no memory. */
  readonly #allocation: Allocation<Stream> | ForeignMemory | undefined;
  readonly #owner: Stream;
  #disposed = false;

  static {
    registerBrand("buffer", (value) => #owner in value);
  }

  /** Use `device.empty()`, or `device.wrap()` for memory of others. */
  constructor(device: Device, bytes: number, stream: Stream, foreign?: ForeignMemory) {
    expectBranded<Device>("device", device, "device of DeviceBuffer");
    if (!isStream(stream) || stream.device !== device) throw otherStream(device, stream);
    device.enter();
    if (stream.disposed) throw new DisposedError("Stream");
    this.device = device;
    this.bytes = expectInteger("bytes of DeviceBuffer", bytes);
    this.#owner = stream;
    if (foreign !== undefined && !(foreign instanceof ForeignMemory)) {
      const expected = "what `device.wrap()` passes";
      throw new ArgumentError({
        argument: "foreign of DeviceBuffer",
        expected,
        actual: nameValue(foreign),
      });
    }
    const isEmpty = bytes === 0 && foreign === undefined;
    this.#allocation = foreign ?? (isEmpty ? undefined : device.take(this, bytes, stream));
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
    if (!isStream(stream) || stream.device !== this.device) throw otherStream(this.device, stream);
    stream.recording?.add(this, write);
    this.#allocation?.uses.add(stream, write);
  }

  /**
   * Copies host memory to the device, to `offset` bytes after the start, after all other use; blocks until it is there.
   * Throws `ArgumentError` where it reaches out of the buffer.
   */
  upload(from: HostBytes, offset: number): void {
    const size = this.bytes;
    const { bytes, offset: start } = bytesInside(from, { argument: "from", offset, size });
    const { stream } = this;
    this.use(stream, true);
    if (size === 0) return;
    const driver = this.device.enter();
    driver.copyToDevice(this.address + BigInt(start), bytes, stream.handle);
    driver.synchronizeStream(stream.handle);
  }

  /**
   * Queues a copy to host memory from `offset` bytes after the start; `to` is filled, and must not be touched, until
   * the returned stream is done: the one that is named, or the one that wrote last. Throws `ArgumentError` where it reaches out of the buffer, and for host memory that is
   * shared or can be resized.
   */
  download(to: HostBytes, offset: number, stream: Stream = this.stream): Stream {
    const { bytes, offset: start } = bytesInside(to, { argument: "to", offset, size: this.bytes });
    if (bytes.buffer !== to.buffer) {
      throw new ArgumentError({
        argument: "to",
        expected: "a typed array of an ArrayBuffer of fixed length",
        actual: `one of ${nameValue(to.buffer)} that is shared or resizable`,
      });
    }
    this.use(stream, false);
    if (bytes.length === 0) return stream;
    this.device.enter().copyToHost(bytes, this.address + BigInt(start), stream.handle);
    return stream;
  }

  /** Queues setting every byte to `value`, an integer from 0 to 255. */
  fill(value: number): void {
    const byte = expectInteger("value of fill", value, 0, 255);
    const { stream } = this;
    this.use(stream, true);
    if (this.bytes === 0) return;
    this.device.enter().fill(this.address, byte, this.bytes, stream.handle);
  }

  /** Gives the memory back for reuse; work already queued still has it. Memory of others is waited for instead. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    const allocation = this.#allocation;
    if (allocation instanceof ForeignMemory) this.device.forgetForeign(this, allocation);
    else if (allocation !== undefined) this.device.giveBack(allocation);
  }

  #name(): string {
    return `Buffer of ${this.bytes} bytes`;
  }
}

function otherStream(device: Device, stream: unknown): ArgumentError {
  return new ArgumentError({
    argument: "stream",
    expected: `a stream of the tensor's device, ${device.label}`,
    actual: !isStream(stream)
      ? nameValue(stream)
      : stream.device.label === device.label
      ? "one of the same GPU opened another time"
      : `one of ${stream.device.label}`,
  });
}
