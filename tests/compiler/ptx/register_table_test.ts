import type { Register } from "../../../compiler/ptx/func.ts";
import { RegisterTable } from "../../../compiler/ptx/register_table.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("RegisterTable finds registers by their indices, and those without one by their names", () => {
  const table = new RegisterTable<string>();
  const indexed = (index: number): Register => ({
    kind: "register",
    type: "b32",
    name: "r1",
    index,
  });
  const named = (name: string): Register => ({ kind: "register", type: "b32", name });
  table.set(indexed(5), "five");
  table.set(indexed(2), "two");
  table.set(named("r1"), "r1");
  assertEquals([2, 3, 5, 6].map((index) => table.get(indexed(index))), [
    "two",
    undefined,
    "five",
    undefined,
  ]);
  assertEquals([table.get(named("r1")), table.get(named("r2"))], ["r1", undefined]);
  table.set(indexed(2), "again");
  assertEquals(table.get(indexed(2)), "again");
});
