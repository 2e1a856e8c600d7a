/** Equal numbers for equal pairs, others for others, past several growths of the table. */
import fc from "../../support/property.ts";
import { assertEquals } from "../../support/assert.ts";
import { PairTable } from "../../../compiler/lower/pair_table.ts";

const integer = fc.oneof(fc.integer({ min: -1, max: 40 }), fc.integer());

Deno.test("PairTable.numberOf() numbers pairs in the order of their first use, like a map of texts", () => {
  fc.assert(fc.property(fc.array(fc.tuple(integer, integer), { size: "large" }), (pairs) => {
    const table = new PairTable();
    const numbers = new Map<string, number>();
    for (const [left, right] of [...pairs, ...pairs]) {
      const key = `${left} ${right}`;
      const expected = numbers.get(key) ?? numbers.size;
      numbers.set(key, expected);
      assertEquals(table.numberOf(left, right), expected);
    }
  }));
});

Deno.test("PairTable.numberOf() keeps its numbers when the table grows", () => {
  const table = new PairTable();
  const side = 120;
  const all = Array.from({ length: side * side }, (_, i) => [i % side, Math.floor(i / side)]);
  const first = all.map(([left = 0, right = 0]) => table.numberOf(left, right));
  assertEquals(first, all.map((_, i) => i));
  assertEquals(all.map(([left = 0, right = 0]) => table.numberOf(left, right)), first);
});
