import { flat } from "../../codegen/doc.ts";
import { groupRows, type VariantRows } from "../../codegen/instance_groups.ts";
import { must } from "../../compiler/support/bug.ts";
import { assertEquals } from "../support/assert.ts";
import { freshRandom } from "../support/random.ts";

/** The groups as lists: names, then rows. */
function grouped(variants: Readonly<Record<string, string>>): [string[], ...string[]][] {
  const rows = Object.entries(variants).map(([name, letters]): VariantRows => ({
    name,
    rows: [...letters].map((letter) => JSON.stringify(letter)),
  }));
  return JSON.parse(flat(groupRows(rows)));
}

Deno.test("groupRows() writes what variants have in common once, if that is more than half of each", () => {
  assertEquals(grouped({ a: "xy", b: "xy", c: "xz" }), [[["a", "b"], "x", "y"], [["c"], "x", "z"]]);
  assertEquals(grouped({ a: "xyz", b: "xz" }), [[["a", "b"], "x"], [["a"], "y"], [
    ["a", "b"],
    "z",
  ]]);
  assertEquals(grouped({ a: "xyz", b: "xwz" }), [
    [["a", "b"], "x"],
    [["a"], "y"],
    [["b"], "w"],
    [["a", "b"], "z"],
  ]);
  assertEquals(grouped({}), []);
});

Deno.test("groupRows() keeps the order of each variant's rows", () => {
  const random = freshRandom();
  for (let round = 0; round < 200; round++) {
    const variants = Object.fromEntries(
      Array.from({ length: 1 + random.below(5) }, (_, index) => {
        const letters = [..."abcdefgh"].filter(() => random.below(3) > 0);
        if (random.below(2) === 0) letters.reverse();
        return [`v${index}`, letters.join("")] as const;
      }),
    );
    const groups = grouped(variants);
    for (const [name, letters] of Object.entries(variants)) {
      const rows = groups.flatMap(([names, ...rows]) => names.includes(name) ? rows : []);
      assertEquals(rows.join(""), must(letters, "rows"));
    }
  }
});
