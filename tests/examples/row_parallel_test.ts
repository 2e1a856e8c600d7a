/**
 * The product whose sums come with it: its kernel with the memory of all ranks on one emulator, because each emulator has its
 * memory for itself, and its launches on the driver in host memory, whose devices see each other's. Several GPUs are in
 * tests/gpu/two_gpus_test.ts.
 */
import { openRowParallel } from "../../examples/parallel/row_parallel.ts";
import { rowParallel } from "../../generated/examples/parallel/row_parallel.ts";
import { Device, type Tensor } from "../../ffi/mod.ts";
import { ArgumentError } from "../../ffi/errors.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { FakeDriver, type FakeLaunch } from "../support/driver/fake_driver.ts";
import { numbersOf } from "../support/numbers.ts";
import { freshRandom } from "../support/random.ts";
import { sampled, testsInTurn } from "../support/sampled.ts";

const test = testsInTurn(3);

/** Odd sizes, and ones for which operands come by tensor copies. */
const SIZES = [[65, 35, 33], [128, 64, 72]] as const;

for (const size of [2, 3, 4]) {
  for (const [m, n, k] of sampled(SIZES, 1)) {
    test(`rowParallel() adds what ${size - 1} others have of ${m} × ${n} sums of ${k}, for all`, () => {
      const { unit } = freshRandom();
      using device = Device.open({ device: "emulator" });
      const random = (rows: number, columns: number): Tensor<"float16", 2> =>
        device.tensor(Float32Array.from({ length: rows * columns }, () => 2 * unit() - 1), [
          rows,
          columns,
        ]).cast("float16");
      const poisoned = (): Tensor<"float16", 2> => {
        const tensor = device.empty("float16", [m, n]);
        tensor.fill(NaN);
        return tensor;
      };
      const [a, b, p0] = [random(m, k), random(k, n), random(m, n)];
      const [p1, p2] = [size > 2 ? random(m, n) : null, size > 3 ? random(m, n) : null];
      const [out, r1] = [poisoned(), poisoned()];
      const [r2, r3] = [size > 2 ? poisoned() : null, size > 3 ? poisoned() : null];
      rowParallel(a, b, p0, r1, { p1, p2, out, r2, r3 });
      const [left, right] = [numbersOf(a), numbersOf(b)];
      const parts = [p0, p1, p2].flatMap((part) => part === null ? [] : [numbersOf(part)]);
      const [sums, ...others] = [out, r1, r2, r3]
        .flatMap((result) => result === null ? [] : [numbersOf(result)]);
      for (const [at, sum] of must(sums, "result").entries()) {
        const [row, column] = [Math.floor(at / n), at % n];
        let [exact, magnitudes] = [0, 0];
        const add = (value: number): void => {
          exact += value;
          magnitudes += Math.abs(value);
        };
        for (let i = 0; i < k; i++) {
          add(must(left[row * k + i], "element") * must(right[i * n + column], "element"));
        }
        for (const part of parts) add(must(part[at], "part"));
        // Additions in float, then one rounding to half.
        const bound = (k + 4) * 2 ** -24 * magnitudes + 2 ** -11 * Math.abs(exact) + 2 ** -25;
        assert(Math.abs(sum - exact) <= bound * 1.01, `${row}, ${column}: ${sum}, not ${exact}`);
      }
      for (const other of others) assertEquals(other, sums);
    });
  }
}

const bfloat16 = (bits: number): number =>
  new Float32Array(Uint32Array.of(bits << 16).buffer)[0] ?? NaN;
const bitsOf = (value: number): number =>
  (new Uint32Array(Float32Array.of(value).buffer)[0] ?? 0) >>> 16;

/** Products of a column and a row, by the arguments of `kernel`: the first two pointers, and M and N after all of them. */
function outerProduct(
  { args }: FakeLaunch,
  memory: FakeDriver,
  { pointers, parts, results }: {
    readonly pointers: number;
    readonly parts: readonly number[];
    readonly results: readonly number[];
  },
): void {
  const [m, n] = [0, 4].map((at) => args.getInt32(8 * pointers + at, true));
  const at = (pointer: number, count: number): Uint16Array | undefined => {
    const address = args.getBigUint64(8 * pointer, true);
    if (address === 0n) return undefined;
    const { buffer, byteOffset } = memory.bytes(address, 2 * count);
    return new Uint16Array(buffer, byteOffset, count);
  };
  assert(m !== undefined && n !== undefined);
  const [a, b] = [at(0, m), at(1, n)];
  for (let i = 0; i < m * n; i++) {
    let sum = bfloat16(a?.[Math.floor(i / n)] ?? 0) * bfloat16(b?.[i % n] ?? 0);
    for (const part of parts) sum += bfloat16(at(part, m * n)?.[i] ?? 0);
    for (const result of results) at(result, m * n)?.fill(bitsOf(sum), i, i + 1);
  }
}

for (const size of sampled([2, 3, 4], 1)) {
  Deno.test(`openRowParallel() on ${size} devices stores every sum once in every result`, () => {
    const driver = new FakeDriver({
      devices: Array.from({ length: size }, () => ({ arch: "sm_80", sm: 80 })),
      kernels: {
        matmul_bfloat16_s5: (launch, memory) =>
          outerProduct(launch, memory, { pointers: 3, parts: [], results: [2] }),
        row_parallel_bfloat16: (launch, memory) =>
          outerProduct(launch, memory, { pointers: 9, parts: [2, 3, 4], results: [5, 6, 7, 8] }),
      },
    });
    const devices = Array.from({ length: size }, (_, i) => Device.fromDriver(driver, i));
    // Bands of 128 rows or more, of which the last is short or has none.
    const [rows, columns] = [257 + freshRandom().below(300), 3];
    using summed = openRowParallel(devices, "bfloat16", [rows, columns]);
    for (let call = 0; call < 2; call++) {
      summed.multiply(devices.map((device, rank) => ({
        inputs: device.tensor(
          Uint16Array.from({ length: rows }, (_, row) => bitsOf(row % 8)),
          [rows, 1],
          { dtype: "bfloat16" },
        ),
        weights: device.tensor(
          Uint16Array.from({ length: columns }, (_, column) => bitsOf(2 ** rank + call * column)),
          [1, columns],
          { dtype: "bfloat16" },
        ),
      })));
      for (const result of summed.results) {
        const wanted = Array.from(
          { length: rows * columns },
          (_, at) =>
            (Math.floor(at / columns) % 8) * (2 ** size - 1 + size * call * (at % columns)),
        );
        assertEquals(numbersOf(result), wanted);
      }
    }
    for (const device of devices) device[Symbol.dispose]();
  });
}

Deno.test("openRowParallel() refuses devices without access to each other's memory, and other numbers of them", () => {
  using one = Device.open({ device: "emulator" });
  using other = Device.open({ device: "emulator" });
  assertThrows(() => openRowParallel([one, other], "float16", [8, 8]), ArgumentError, "can access");
  assertThrows(() => openRowParallel([one], "float16", [8, 8]), ArgumentError, "2, 3 or 4 devices");
});
