/** Variables of loaded images: memory that a kernel knows by a name. */
import type { HostBytes } from "./dtype.ts";
import { DisposedError } from "./errors.ts";
import type { KernelModule } from "./module.ts";
import { StreamUses } from "./pool.ts";
import type { Stream } from "./stream.ts";

/** A variable of an image on a device. */
export class ModuleVariable {
  /** The image that it is in. */
  readonly module: KernelModule;
  /** As the image spells it. */
  readonly name: string;
  /** The size. */
  readonly bytes: number;
  readonly #address: bigint;
  readonly #uses: StreamUses;

  /** Use `module.variable()`. */
  constructor(
    module: KernelModule,
    name: string,
    place: { readonly address: bigint; readonly bytes: number },
  ) {
    this.module = module;
    this.name = name;
    this.bytes = place.bytes;
    this.#address = place.address;
    this.#uses = new StreamUses(module.device.defaultStream);
  }

  /** Address of the first byte, for copies. */
  get address(): bigint {
    if (this.disposed) throw new DisposedError(`Variable ${this.name}`);
    return this.#address;
  }

  /** Whether the image was unloaded. */
  get disposed(): boolean {
    return this.module.disposed;
  }

  /** As `use` of buffers: to be called before work that reads or writes the memory is queued on a stream. */
  use(stream: Stream, write: boolean): void {
    stream.recording?.add(this, write);
    this.#uses.add(stream, write);
  }

  /** Copies host memory there, behind all launches that are queued; blocks until it is there. */
  upload(from: HostBytes, offset: number): void {
    if (from.length === 0) return;
    const { writer } = this.#uses;
    const stream = writer.disposed ? this.module.device.defaultStream : writer;
    this.use(stream, true);
    this.#copy(from, offset, stream);
  }

  /** The same while nothing uses the memory: also where other streams record their work. */
  uploadFirst(from: HostBytes): void {
    const stream = this.module.device.stream();
    try {
      this.#copy(from, 0, stream);
    } finally {
      stream[Symbol.dispose]();
    }
  }

  #copy(from: HostBytes, offset: number, stream: Stream): void {
    const driver = this.module.device.enter();
    driver.copyToDevice(this.address + BigInt(offset), from, stream.handle);
    driver.synchronizeStream(stream.handle);
  }
}
