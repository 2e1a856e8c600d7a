/**
 * A cuBLAS in host memory: `cublasGemmEx` as its documentation defines it, on matrices stored by columns, in double
 * precision, on the memory of a fake driver.
 */
import { fromBfloat16, toBfloat16 } from "../../../ffi/dtype.ts";
import type { CublasFunctions, CublasLibrary } from "../../../ffi/cublas/symbols.ts";
import type { FakeDriver } from "../../support/driver/fake_driver.ts";
import { assert } from "../../support/assert.ts";

/** How an element type of cudaDataType_t is read and written. */
interface Access {
  readonly bytes: number;
  get(view: DataView, at: number): number;
  set(view: DataView, at: number, value: number): void;
}

const ACCESS: Readonly<Record<number, Access>> = {
  0: {
    bytes: 4,
    get: (view, at) => view.getFloat32(at, true),
    set: (view, at, value) => view.setFloat32(at, value, true),
  },
  1: {
    bytes: 8,
    get: (view, at) => view.getFloat64(at, true),
    set: (view, at, value) => view.setFloat64(at, value, true),
  },
  2: {
    bytes: 2,
    get: (view, at) => view.getFloat16(at, true),
    set: (view, at, value) => view.setFloat16(at, value, true),
  },
  14: {
    bytes: 2,
    get: (view, at) => fromBfloat16(view.getUint16(at, true)),
    set: (view, at, value) => view.setUint16(at, toBfloat16(value), true),
  },
};

/** A library whose products are computed; `calls` are the names of what was called, `status` what the next returns. */
export class FakeCublas implements CublasLibrary {
  readonly path = "libfake.so";
  readonly calls: string[] = [];
  readonly symbols: CublasFunctions;
  closed = false;
  /** What the next call of a function returns, by its name. */
  readonly status: Record<string, number> = {};

  constructor(driver: FakeDriver) {
    const note = (name: string): number => {
      this.calls.push(name);
      return this.status[name] ?? 0;
    };
    this.symbols = {
      cublasCreate_v2: (handle) => {
        assert(handle instanceof BigUint64Array);
        handle[0] = 77n;
        return note("create");
      },
      cublasDestroy_v2: (handle) => note(`destroy ${handle}`),
      cublasGetVersion_v2: (_, version) => {
        assert(version instanceof Int32Array);
        version[0] = 130000;
        return note("version");
      },
      cublasSetStream_v2: () => note("stream"),
      cublasSetWorkspace_v2: (_, _address, bytes) => note(`workspace ${bytes}`),
      cublasGemmEx: (...args) => {
        const [, opA, opB, m, n, k, alpha, a, typeA, lda, b, typeB, ldb, beta, c, typeC, ldc] =
          args;
        const element = (from: bigint, type: number, index: number): number => {
          const access = accessOf(type);
          const bytes = driver.bytes(from + BigInt(index * access.bytes), access.bytes);
          return access.get(viewOf(bytes), 0);
        };
        const scaleOf = (scale: ArrayBufferView | null): number => {
          assert(scale instanceof Float32Array || scale instanceof Float64Array);
          return scale[0] ?? NaN;
        };
        assert(lda >= Math.max(1, opA === 0 ? m : k) && ldb >= Math.max(1, opB === 0 ? k : n));
        assert(ldc >= Math.max(1, m));
        for (let j = 0; j < n; j++) {
          for (let i = 0; i < m; i++) {
            let sum = 0;
            for (let l = 0; l < k; l++) {
              sum += element(a, typeA, opA === 0 ? i + l * lda : l + i * lda) *
                element(b, typeB, opB === 0 ? l + j * ldb : j + l * ldb);
            }
            assert(scaleOf(beta) === 0, "what was there does not count");
            const access = accessOf(typeC);
            const at = driver.bytes(c + BigInt((i + j * ldc) * access.bytes), access.bytes);
            access.set(viewOf(at), 0, scaleOf(alpha) * sum);
          }
        }
        return note("gemm");
      },
    };
  }

  addressOf(): bigint {
    return 0n;
  }

  readText(): string {
    return "";
  }

  close(): void {
    this.closed = true;
  }
}

function accessOf(type: number): Access {
  const access = ACCESS[type];
  assert(access !== undefined, `type ${type}`);
  return access;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
