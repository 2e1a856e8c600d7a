/** Constant memory of kernels: what the program puts there, and the images that have a copy of it. */
import type { HostBytes } from "../../dtype.ts";
import { nameValue } from "../../arguments/brands.ts";
import { ArgumentError } from "../../errors.ts";
import { bytesOf } from "../../tensors/host.ts";
import { expectInteger, isList } from "../../arguments/numbers.ts";
import type { ModuleVariable } from "../../variable.ts";
import type { ConstantFacts } from "../facts/facts.ts";

/**
 * A buffer that kernels declare by `char __constant__ *NAME = calloc(bytes);`. It holds zeros until it is set. What is
 * set is there in every instance of every kernel that uses the buffer, on all devices, now and when they are opened
 * later.
 */
export class ConstantBuffer {
  /** As the kernel's source spells it. */
  readonly name: string;
  /** The size. */
  readonly bytes: number;
  #content: HostBytes | undefined;
  /** In loaded images; each may be smaller, if its instances declare less. */
  readonly #copies = new Set<ModuleVariable>();

  /** Wrappers make them; use `kernel.constants.NAME`. */
  constructor(name: string, bytes: number) {
    if (typeof name !== "string") {
      const argument = "name of ConstantBuffer";
      throw new ArgumentError({ argument, expected: "a name", actual: nameValue(name) });
    }
    this.name = name;
    this.bytes = expectInteger("bytes of ConstantBuffer", bytes);
  }

  /**
   * Replaces bytes, from byte `offset` on; the others stay. The data's own bytes count: pass an `Int32Array` where the kernel
   * reads `int`. Waits for the launches that are queued, and blocks until the data is on all devices. Throws
   * `ArgumentError` where it does not fit.
   */
  set(data: ArrayBufferView | ArrayBuffer, offset = 0): void {
    const bytes = this.#bytesOf(data);
    expectInteger(`offset of ${this.name}.set`, offset);
    if (offset + bytes.length > this.bytes) {
      throw new ArgumentError({
        argument: `data of ${this.name}.set`,
        expected: `at most ${this.bytes} bytes`,
        actual: `${bytes.length} bytes at offset ${offset}`,
      }, { hint: "`calloc` in the kernel's source says how large the buffer is" });
    }
    const content = this.#content ??= new Uint8Array(this.bytes);
    content.set(bytes, offset);
    const errors: unknown[] = [];
    for (const copy of this.#copies) {
      if (copy.disposed) {
        this.#copies.delete(copy);
        continue;
      }
      // A device that failed must not keep the others from getting it.
      try {
        copy.upload(content.slice(offset, Math.min(offset + bytes.length, copy.bytes)), offset);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  /**
   * An image was loaded that has the buffer.
   *
   * @ignore
   */
  attach(copy: ModuleVariable): void {
    if (this.#content !== undefined) copy.uploadFirst(this.#content.slice(0, copy.bytes));
    this.#copies.add(copy);
  }

  #bytesOf(data: unknown): Uint8Array {
    const argument = `data of ${this.name}.set`;
    if (ArrayBuffer.isView(data)) return bytesOf(data, argument);
    if (data instanceof ArrayBuffer) {
      try {
        return new Uint8Array(data);
      } catch (cause) {
        const actual = "one that was transferred (detached)";
        throw new ArgumentError(
          { argument, expected: "an ArrayBuffer with its memory", actual },
          { cause },
        );
      }
    }
    throw new ArgumentError({
      argument,
      expected: "a typed array or an ArrayBuffer",
      actual: nameValue(data),
    });
  }
}

/** Constant buffers by name. */
export type ConstantBuffers = Readonly<Record<string, ConstantBuffer>>;

/** The constant buffers of a file, for all kernels of its wrapper. */
export function defineConstants(facts: readonly ConstantFacts[]): ConstantBuffers {
  if (!isList(facts) || !facts.every((fact) => typeof fact === "object" && fact !== null)) {
    throw new ArgumentError({
      argument: "facts of defineConstants",
      expected: "a list of names with sizes in bytes, as `tri build` writes it",
      actual: nameValue(facts),
    });
  }
  return Object.fromEntries(
    facts.map(({ name, bytes }) => [name, new ConstantBuffer(name, bytes)]),
  );
}
