/** A handle of cuBLAS, and its product of matrices in the terms of tensors. */
import { expectBranded, nameValue } from "../arguments/brands.ts";
import type { Device } from "../device.ts";
import { ArgumentError, DisposedError } from "../errors.ts";
import { overlap } from "../kernel/call/overlap.ts";
import { listed } from "../tensors/shape.ts";
import type { Tensor } from "../tensors/tensor.ts";
import { CublasError } from "./errors.ts";
import { cublasLibraries, openCublasLibrary } from "./library.ts";
import {
  type CublasLibrary,
  DEFAULT_ALGORITHM,
  OPERATION,
  PRECISIONS,
  type ProductDType,
  STATUS_NAMES,
} from "./symbols.ts";

/** What cuBLAS asks for on Hopper; its own allocation could not be recorded in a graph. */
const WORKSPACE_BYTES = 32 * 2 ** 20;

/** How a matrix lies in memory: whole rows or whole columns, `leading` elements apart. */
interface Storage {
  readonly by: "rows" | "columns";
  readonly leading: number;
}

/** cuBLAS on one device. It works on the device's default stream. */
export class Cublas implements Disposable {
  /** The device that it works on. */
  readonly device: Device;
  /** As cuBLAS counts: 130000 for 13.0.0. */
  readonly version: number;
  readonly #library: CublasLibrary;
  readonly #handle: bigint;
  readonly #workspace: Tensor;
  #disposed = false;

  private constructor(device: Device, library: CublasLibrary) {
    const { symbols } = library;
    this.device = device;
    this.#library = library;
    device.enter();
    const [handle, version] = [new BigUint64Array(1), new Int32Array(1)];
    this.#check(symbols.cublasCreate_v2(handle), "cublasCreate");
    this.#handle = handle[0] ?? 0n;
    this.#check(symbols.cublasGetVersion_v2(this.#handle, version), "cublasGetVersion");
    this.version = version[0] ?? 0;
    const stream = device.defaultStream.handle;
    this.#check(symbols.cublasSetStream_v2(this.#handle, stream), "cublasSetStream");
    this.#workspace = device.empty("uint8", [WORKSPACE_BYTES]);
    const { address } = this.#workspace;
    const size = BigInt(WORKSPACE_BYTES);
    const status = symbols.cublasSetWorkspace_v2?.(this.#handle, address, size) ?? 0;
    this.#check(status, "cublasSetWorkspace");
  }

  /**
   * Opens cuBLAS: the file that the environment variable TRI_CUBLAS names, else what the loader or a CUDA toolkit has.
   * Throws `CublasNotFoundError` where there is none, `PermissionError` where the program may not load it,
   * `CublasError` where it does not work, `ArgumentError` on the emulator.
   */
  static open(device: Device): Cublas {
    expectBranded<Device>("device", device, "device of Cublas.open");
    if (device.info.kind === "emulator") {
      throw new ArgumentError({ argument: "device", expected: "a GPU", actual: device.label });
    }
    return Cublas.with(device, openCublasLibrary(cublasLibraries()));
  }

  /**
   * Takes over an open library.
   *
   * @ignore
   */
  static with(device: Device, library: CublasLibrary): Cublas {
    try {
      return new Cublas(device, library);
    } catch (error) {
      library.close();
      throw error;
    }
  }

  /**
   * Queues out = a @ b on the device's default stream: M x K times K x N, each operand stored by rows or by columns
   * with gaps between them or without, the result by rows and apart from the operands. Can be recorded in a graph. All
   * have the type of `a`. Throws `ArgumentError`.
   */
  matmul<D extends ProductDType, E extends D>(
    a: Tensor<D, 2>,
    b: Tensor<E, 2>,
    out: Tensor<E, 2>,
  ): void {
    this.prepare(a, b, out)();
  }

  /** Checks once; each call of what it returns queues the product. Throws `ArgumentError`. */
  prepare<D extends ProductDType, E extends D>(
    a: Tensor<D, 2>,
    b: Tensor<E, 2>,
    out: Tensor<E, 2>,
  ): () => void {
    if (this.#disposed) throw new DisposedError("Cublas");
    for (const [argument, tensor] of Object.entries({ a, b, out })) {
      this.#expectMatrix(argument, tensor);
    }
    expectDType("b", b, a.dtype);
    expectDType("out", out, a.dtype);
    const [[m, k], [, n]] = [a.shape, b.shape];
    expectShape("b", b, [k, n]);
    expectShape("out", out, [m, n]);
    const { data, compute, scale } = PRECISIONS[a.dtype];
    const [left, right, result] = [storageOf("a", a), storageOf("b", b), storageOf("out", out)];
    if (result.by !== "rows") {
      throw new ArgumentError({
        argument: "out",
        expected: "a matrix stored by rows",
        actual: `strides ${listed(out.strides)}`,
      });
    }
    for (const operand of [a, b]) {
      if (!overlap(out, operand)) continue;
      throw new ArgumentError({
        argument: "out",
        expected: "memory apart from the operands, because it is written while they are read",
        actual: `${out} overlapping ${operand}`,
      });
    }
    // cuBLAS stores by columns. What lies by rows is to it the transposed matrix, so it gets out^T = b^T @ a^T.
    const operation = ({ by }: Storage): number =>
      by === "rows" ? OPERATION.none : OPERATION.transposed;
    const [one, zero] = [scale.of(1), scale.of(0)];
    const [stream, gemm] = [this.device.defaultStream, this.#library.symbols.cublasGemmEx];
    return () => {
      if (this.#disposed) throw new DisposedError("Cublas");
      a.buffer.use(stream, false);
      b.buffer.use(stream, false);
      out.buffer.use(stream, true);
      this.device.enter();
      if (m === 0 || n === 0) return;
      const status = gemm(
        ...[this.#handle, operation(right), operation(left), n, m, k, one] as const,
        ...[b.address, data, right.leading, a.address, data, left.leading, zero] as const,
        ...[out.address, data, result.leading, compute, DEFAULT_ALGORITHM] as const,
      );
      this.#check(status, "cublasGemmEx");
    };
  }

  #expectMatrix(argument: string, tensor: Tensor): void {
    expectBranded<Tensor>("tensor", tensor, argument);
    const isMatrix = tensor.shape.length === 2 && Object.hasOwn(PRECISIONS, tensor.dtype);
    if (isMatrix && tensor.device === this.device) return;
    throw new ArgumentError({
      argument,
      expected: `a matrix of ${Object.keys(PRECISIONS).join(", ")} on ${this.device.label}`,
      actual: tensor.device === this.device
        ? nameValue(tensor)
        : `${nameValue(tensor)} of another device`,
    });
  }

  /** Waits for the device's default stream, then gives the handle and the library back. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    if (!this.device.disposed) {
      this.device.enter();
      this.device.defaultStream.synchronize();
      this.#library.symbols.cublasDestroy_v2(this.#handle);
      this.#workspace[Symbol.dispose]();
    }
    this.#library.close();
  }

  #check(status: number, call: string): void {
    if (status === 0) return;
    const name = STATUS_NAMES[status] ?? `status ${status}`;
    throw new CublasError(`${call} of ${this.#library.path} failed: ${name}`);
  }
}

function expectDType(argument: string, tensor: Tensor, dtype: ProductDType): void {
  if (tensor.dtype === dtype) return;
  throw new ArgumentError({
    argument,
    expected: `elements of ${dtype}, as those of a`,
    actual: `${tensor}`,
  });
}

function expectShape(argument: string, tensor: Tensor, shape: readonly number[]): void {
  if (shape.every((extent, axis) => tensor.shape[axis] === extent)) return;
  throw new ArgumentError({
    argument,
    expected: `shape ${listed(shape)}`,
    actual: listed(tensor.shape),
  });
}

function storageOf(argument: string, tensor: Tensor<ProductDType, 2>): Storage {
  const [rows, columns] = tensor.shape;
  const [down, across] = tensor.strides;
  if (tensor.elements === 0) return { by: "rows", leading: Math.max(columns, 1) };
  // Where an axis has one element, its stride means nothing.
  if (across === 1 || columns <= 1) {
    const leading = rows <= 1 ? Math.max(columns, 1) : down;
    if (leading >= Math.max(columns, 1)) return { by: "rows", leading };
  }
  if (down === 1 || rows <= 1) {
    const leading = columns <= 1 ? Math.max(rows, 1) : across;
    if (leading >= Math.max(rows, 1)) return { by: "columns", leading };
  }
  throw new ArgumentError({
    argument,
    expected: "a matrix stored by rows or by columns",
    actual: `strides ${listed(tensor.strides)}`,
  });
}
