/** Variables of loaded images: memory that a kernel accesses by a name. */
import type { HostBytes } from "./dtype.ts";
import { expectBranded } from "./arguments/brands.ts";
import { ArgumentError, DisposedError } from "./errors.ts";
import { bytesInside } from "./tensors/host.ts";
import { expectInteger } from "./arguments/numbers.ts";
import type { KernelModule } from "./module.ts";
import { StreamUses } from "./memory/pool.ts";
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
  readonly #uses: StreamUses<Stream>;

  /** Use `module.variable()`. */
  constructor(
    module: KernelModule,
    name: string,
    extent: { readonly address: bigint; readonly bytes: number },
  ) {
    expectBranded<KernelModule>("module", module, "module of ModuleVariable");
    this.module = module;
    this.name = name;
    this.bytes = expectInteger("bytes of ModuleVariable", extent?.bytes);
    this.#address = extent.address;
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
    expectBranded<Stream>("stream", stream, "stream");
    if (stream.device !== this.module.device) {
      throw new ArgumentError({
        argument: "stream",
        expected: `a stream of the module's device, ${this.module.device.label}`,
        actual: "one of another device",
      });
    }
    stream.recording?.add(this, write);
    this.#uses.add(stream, write);
  }

  /**
   * Copies host memory there, to `offset` bytes after the start, after all launches that are queued; blocks until it is
   * there. Throws `ArgumentError` where it reaches out of the variable.
   */
  upload(from: HostBytes, offset: number): void {
    const range = { argument: "from", offset, size: this.bytes };
    const { bytes, offset: start } = bytesInside(from, range);
    const { writer } = this.#uses;
    const stream = writer.disposed ? this.module.device.defaultStream : writer;
    this.use(stream, true);
    if (bytes.length > 0) this.#copy(bytes, start, stream);
  }

  /** The same at its start while nothing uses the memory: also where other streams record their work. */
  uploadFirst(from: HostBytes): void {
    const { bytes } = bytesInside(from, { argument: "from", offset: 0, size: this.bytes });
    const stream = this.module.device.stream();
    try {
      this.#copy(bytes, 0, stream);
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
