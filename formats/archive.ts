/** Files of several tensors, by their names. */
import { nearest } from "../compiler/support/spelling.ts";
import { describeValue } from "../ffi/arguments/values.ts";
import { TensorFileError } from "./errors.ts";
import type { ByteSource } from "./source.ts";
import type { StoredTensor } from "./stored.ts";

/** An open file of tensors. Nothing of their elements is read before they are asked for. */
export class TensorArchive implements Disposable {
  /** The file, for messages. */
  readonly file: string;
  readonly #source: ByteSource;
  readonly #read: ReadonlyMap<string, () => StoredTensor>;
  readonly #found = new Map<string, StoredTensor>();

  /** For the readers of formats: `read` has what reads the description of each tensor. */
  constructor(source: ByteSource, read: ReadonlyMap<string, () => StoredTensor>) {
    this.file = source.name;
    this.#source = source;
    this.#read = read;
  }

  /** The names of the tensors, in the order of the file. */
  get names(): string[] {
    return [...this.#read.keys()];
  }

  /** Whether there is a tensor of this name. */
  has(name: string): boolean {
    return this.#read.has(name);
  }

  /**
   * The tensor of this name. Throws `TensorFileError` where there is none, and for one that tri has no element type for.
   */
  get(name: string): StoredTensor {
    const found = this.#found.get(name);
    if (found !== undefined) return found;
    const read = this.#read.get(name);
    if (read === undefined) {
      const near = typeof name === "string" ? nearest(name, this.#read.keys()) : undefined;
      const hint = near === undefined ? "`names` lists what it has" : `did you mean \`${near}\`?`;
      const problem = `the file has no tensor ${describeValue(name)}`;
      throw new TensorFileError({ file: this.file }, problem, { hint });
    }
    const tensor = read();
    this.#found.set(name, tensor);
    return tensor;
  }

  /** Name and tensor of each, in the order of the file. */
  *[Symbol.iterator](): IterableIterator<[string, StoredTensor]> {
    for (const name of this.#read.keys()) yield [name, this.get(name)];
  }

  /** Closes the file; elements cannot be read any more. */
  close(): void {
    this.#source.close();
  }

  /** What `using` calls at the end of a block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** Opens a file and reads what is in it; closes it again where that fails. */
export function openArchive<T>(source: ByteSource, read: (source: ByteSource) => T): T {
  try {
    return read(source);
  } catch (error) {
    source.close();
    throw error;
  }
}
