/** The error of files of tensors. */
import { TriError, type TriErrorOptions } from "../ffi/errors.ts";

/** Where in which file something is wrong. */
export interface FilePlace {
  /** The path, or what the caller calls the bytes. */
  readonly file: string;
  /** In bytes from the start of the file. */
  readonly offset?: number | undefined;
}

/** A file of tensors cannot be read or written: it is truncated, of another format, or has what tri does not know. */
export class TensorFileError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "TensorFileError";
  /** The path, or what the caller calls the bytes. */
  readonly file: string;
  /** Where in the file, in bytes from its start; undefined where it is about the whole file. */
  readonly offset: number | undefined;

  /** For the readers and writers of formats. */
  constructor({ file, offset }: FilePlace, problem: string, options: TriErrorOptions = {}) {
    super(`${file}${offset === undefined ? "" : `, byte ${offset}`}: ${problem}`, options);
    this.file = file;
    this.offset = offset;
  }
}
