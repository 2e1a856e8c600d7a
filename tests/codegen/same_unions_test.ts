import { nameSameUnions } from "../../codegen/same_unions.ts";
import type { Declaration } from "../../codegen/structure.ts";
import { assertEquals } from "../support/assert.ts";

function union(name: string, members: readonly string[], isExported = true): Declaration {
  return { kind: "type", name, isExported, doc: "", type: { kind: "union", members } };
}

Deno.test("nameSameUnions() names a long union that an earlier export lists", () => {
  const long = ["float32", "float16", "bfloat16", "float64", "int8"].map((name) => `"${name}"`);
  const types = [
    union("Private", long, false),
    union("A", long),
    union("B", long),
    union("C", long.toReversed()),
    union("D", long.slice(1, 3)),
    union("E", long.slice(1, 3)),
    union("F", long, false),
  ];
  assertEquals(
    nameSameUnions(types),
    types.map((one, index): Declaration =>
      one.kind === "type" && index === 2 ? { ...one, type: "A" } : one
    ),
  );
});
