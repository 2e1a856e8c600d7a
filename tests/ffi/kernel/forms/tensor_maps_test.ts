import { MapSlot, MapTable } from "../../../../ffi/kernel/forms/tensor_maps.ts";
import type { TensorMapFacts, Values } from "../../../../ffi/kernel/facts/facts.ts";
import type { TensorMap } from "../../../../ffi/tensor_map.ts";
import { assertEquals, assertStringIncludes } from "../../../support/assert.ts";

type Name = "A" | "rows" | "columns" | "stride";

const FACTS: TensorMapFacts<Name> = {
  param: "A",
  element: "bfloat16",
  extents: ["columns", { text: "rows * 2", value: ({ rows }) => rows * 2 }, 3],
  strides: [1, "stride", { text: "rows * stride", value: ({ rows, stride }) => rows * stride }],
  box: [64, 32, 1],
  swizzle: 128,
};

const VALUES: Values<Name> = { A: 2 ** 40, rows: 10, columns: 100, stride: 104 };

/** A slot, and what it asked to be encoded; each encoding counts up. */
function slotOf(facts = FACTS): {
  readonly slot: MapSlot<Name>;
  readonly table: MapTable<Name>;
  readonly room: Uint8Array<ArrayBuffer>;
  readonly encoded: TensorMap[];
} {
  const encoded: TensorMap[] = [];
  const table = new MapTable<Name>(facts, (map) => {
    encoded.push(map);
    return new Uint8Array(128).fill(encoded.length);
  });
  const room = new Uint8Array(128);
  return { slot: new MapSlot(table, room), table, room, encoded };
}

Deno.test("MapSlot describes a map by the launch's numbers, strides in bytes", () => {
  const { slot, encoded } = slotOf();
  assertEquals(slot.find(VALUES), undefined);
  assertEquals(encoded, [{
    type: "bfloat16",
    address: 2n ** 40n,
    extents: [100, 20, 3],
    strides: [208, 2080],
    box: [64, 32, 1],
    elementStrides: [1, 1, 1],
    interleave: "none",
    swizzle: "128B",
    promotion: "128B",
    fill: "zero",
  }]);
});

Deno.test("MapSlot describes windows by the launch's numbers", () => {
  const shift = { text: "0 - stride", value: ({ stride }: Values<Name>): number => 0 - stride };
  const { slot, encoded } = slotOf({
    ...FACTS,
    strides: [1, 104, 1040],
    windows: [{ lower: shift, upper: "rows", step: 2 }],
  });
  const find = (stride: number): string | undefined => slot.find({ ...VALUES, stride });
  const windowsOf = (lower: number): TensorMap["windows"] => [{ lower, upper: 10 }];
  assertEquals(find(8), undefined);
  assertEquals(find(9), undefined);
  assertEquals(find(8), undefined);
  assertEquals(encoded.map(({ windows }) => windows), [-8, -9].map(windowsOf));
  assertEquals(encoded[0]?.elementStrides, [1, 2, 1]);
  assertStringIncludes(find(40_000) ?? "", "windows begin from -40000 to 10, not within -32768");
});

Deno.test("MapSlot encodes again only what has changed, and writes what is not there", () => {
  const { slot, table, room, encoded } = slotOf();
  const first = (): number | undefined => room[0];
  const use = (values: Values<Name>): number | undefined => {
    assertEquals(slot.find(values), undefined);
    slot.write();
    return first();
  };
  assertEquals(use(VALUES), 1);
  assertEquals(use({ ...VALUES }), 1);
  assertEquals(use({ ...VALUES, A: 2 ** 40 + 16 }), 2);
  assertEquals(use({ ...VALUES, stride: 112 }), 3);
  assertEquals(use(VALUES), 1);
  assertEquals(encoded.length, 3);
  // Another launcher of the same form has its own block, and shares what is encoded.
  const other = new Uint8Array(128);
  const second = new MapSlot(table, other);
  second.find(VALUES);
  assertEquals(other[127], 0);
  second.write();
  assertEquals(other[127], 1);
  assertEquals(encoded.length, 3);
  for (let i = 0; i < 3000; i++) use({ ...VALUES, A: 2 ** 41 + 16 * i });
  assertEquals(encoded.length, 3003);
  use(VALUES);
  assertEquals(encoded.length, 3004);
});

Deno.test("MapSlot says which demand a launch breaks, without asking the driver", () => {
  const broken: readonly (readonly [Partial<Values<Name>>, string])[] = [
    [{ A: 0 }, "there is no memory"],
    [{ A: 2 ** 40 + 8 }, "the address 0x10000000008 is not a multiple of 16"],
    [{ columns: 0 }, "extents[0] is 0"],
    [{ rows: 0 }, "the stride of axis 2 is 0, not more than 0"],
    [{ rows: 2 ** 31 + 1 }, "extents[1] is 4294967298"],
    [{ stride: 101 }, "strides[0] is 202"],
    [{ stride: 0 }, "the stride of axis 1 is 0"],
    [{ stride: -8 }, "the stride of axis 1 is -8"],
    [{ stride: 2 ** 39 }, "strides[0] is 1099511627776"],
    [{ columns: NaN }, "extents[0] is NaN"],
  ];
  for (const [change, says] of broken) {
    const { slot, encoded, room } = slotOf();
    const values = { ...VALUES, ...change };
    for (let i = 0; i < 2; i++) assertStringIncludes(slot.find(values) ?? "", says);
    assertStringIncludes(slot.find(values) ?? "", "tensor map of A: ");
    slot.write();
    assertEquals([encoded.length, room[0]], [0, 0]);
  }
  const plans: readonly (readonly [Partial<TensorMapFacts<Name>>, string])[] = [
    [{ strides: ["stride", 104, 1040] }, "elements of the innermost axis are 104 apart, not 1"],
    [{ box: [64, 257, 1] }, "box[1] is 257"],
    [{ box: [128, 32, 1] }, "more than the 128 of the swizzle"],
  ];
  for (const [change, says] of plans) {
    const { slot, encoded } = slotOf({ ...FACTS, ...change });
    assertStringIncludes(slot.find(VALUES) ?? "", says);
    assertEquals(encoded, []);
  }
});
