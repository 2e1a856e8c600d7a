/** Errors of cuBLAS. */
import { TriError } from "../errors.ts";

/** cuBLAS is not on this machine. */
export class CublasNotFoundError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "CublasNotFoundError";
  /** The names and paths that were tried. */
  readonly searched: readonly string[];

  /** For `Cublas.open()`. */
  constructor(searched: readonly string[], cause?: unknown) {
    super(`Cannot find cuBLAS (tried ${searched.join(", ")})`, {
      hint: "it comes with the CUDA toolkit and with PyTorch; name its file in TRI_CUBLAS",
      cause,
    });
    this.searched = searched;
  }
}

/** cuBLAS is there and does not work, or refused a call. */
export class CublasError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "CublasError";
}
