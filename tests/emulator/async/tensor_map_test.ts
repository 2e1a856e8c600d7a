import fc from "../../support/property.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "../../support/assert.ts";
import {
  FILLS,
  INTERLEAVES,
  PROMOTIONS,
  SWIZZLES,
  TENSOR_MAP_BYTES,
  TENSOR_TYPES,
  type TensorMap,
  tensorMapProblem,
} from "../../../ffi/tensor_map.ts";
import { decodeTensorMap, encodeTensorMap } from "../../../emulator/async/tensor_map.ts";

const PLAIN: TensorMap = {
  type: "float16",
  address: 0x7f10_0000_1000n,
  extents: [64, 32, 8],
  strides: [128, 4096],
  box: [64, 8, 1],
  elementStrides: [1, 1, 1],
  interleave: "none",
  swizzle: "128B",
  promotion: "256B",
  fill: "nan",
};

const maps: fc.Arbitrary<TensorMap> = fc.integer({ min: 1, max: 5 }).chain((rank) => {
  const each = (least: number, most: number): fc.Arbitrary<number[]> =>
    fc.array(fc.integer({ min: least, max: most }), { minLength: rank, maxLength: rank });
  return fc.record({
    type: fc.constantFrom(...TENSOR_TYPES.map(({ name }) => name)),
    address: fc.bigInt({ min: 0n, max: (1n << 44n) - 1n }).map((address) => address * 16n),
    extents: each(1, 2 ** 32),
    strides: fc.array(fc.integer({ min: 0, max: 2 ** 36 - 1 }).map((n) => 16 * n), {
      minLength: rank - 1,
      maxLength: rank - 1,
    }),
    box: each(1, 256),
    elementStrides: each(1, 8),
    interleave: fc.constantFrom(...INTERLEAVES),
    swizzle: fc.constantFrom(...SWIZZLES),
    promotion: fc.constantFrom(...PROMOTIONS),
    fill: fc.constantFrom(...FILLS),
  });
});

Deno.test("decodeTensorMap() reads what encodeTensorMap() wrote", () => {
  fc.assert(
    fc.property(maps, (map) => {
      if (tensorMapProblem(map) !== undefined) return;
      const bytes = encodeTensorMap(map);
      assertEquals(bytes.length, TENSOR_MAP_BYTES);
      assertEquals(decodeTensorMap(bytes), map);
    }),
    { numRuns: 2000 },
  );
});

Deno.test("decodeTensorMap() rejects bytes that are no tensor map", () => {
  assertEquals(decodeTensorMap(new Uint8Array(128)), undefined);
  assertEquals(decodeTensorMap(encodeTensorMap(PLAIN).subarray(1)), undefined);
  assertEquals(decodeTensorMap(encodeTensorMap(PLAIN).fill(9, 9, 10)), undefined);
});

Deno.test("tensorMapProblem() has the rules of the driver", () => {
  const cases: readonly [Partial<TensorMap>, string][] = [
    [{ extents: [], strides: [], box: [], elementStrides: [] }, "the rank is 0"],
    [{ extents: [1, 1, 1, 1, 1, 1] }, "the rank is 6"],
    [{ address: 8n }, "the address 0x8 is not a multiple of 16"],
    [{ extents: [64, 0, 8] }, "extents[1] is 0"],
    [{ extents: [64, 2 ** 32 + 1, 8] }, "extents[1] is 4294967297"],
    [{ strides: [128] }, "strides must be 2 numbers, not 1"],
    [{ strides: [120, 4096] }, "strides[0] is 120"],
    [{ strides: [128, 2 ** 40] }, "strides[1] is 1099511627776"],
    [{ box: [64, 257, 1] }, "box[1] is 257, not within 1 and 256"],
    [{ box: [64, 1] }, "box must be 3 numbers, not 2"],
    [{ box: [7, 1, 1] }, "a row of the box has 14 bytes, not a multiple of 16"],
    [{ box: [128, 1, 1] }, "a row of the box has 256 bytes, more than the 128 of the swizzle"],
    [{ elementStrides: [1, 9, 1] }, "elementStrides[1] is 9"],
    [{ type: "int32", box: [16, 8, 1] }, "int32 has no NaN"],
    [{ interleave: "32B" }, "needs a swizzle of 32B, not 128B"],
    [
      { interleave: "16B", extents: [8, 8], strides: [16], box: [8, 8], elementStrides: [1, 1] },
      "interleaved tensors have at least 3 axes, not 2",
    ],
  ];
  assertEquals(tensorMapProblem(PLAIN), undefined);
  for (const [change, words] of cases) {
    const map = { ...PLAIN, ...change };
    assertStringIncludes(tensorMapProblem(map) ?? "", words);
    assertThrows(() => encodeTensorMap(map), RangeError, words);
  }
});
