import { splitName, startOfNumber } from "../../../compiler/ptx/register_names.ts";
import { assertEquals } from "../../support/assert.ts";
import fc from "../../support/property.ts";

Deno.test("splitName() takes what a regular expression takes", () => {
  const split = (name: string): { readonly prefix: string; readonly index: number } => {
    const [, prefix = "", index] = /^(.*?)(0|[1-9]\d{0,8})$/.exec(name) ?? [];
    return prefix === "" ? { prefix: name, index: -1 } : { prefix, index: Number(index) };
  };
  for (const name of ["r12", "r0", "r00", "r012", "12", "0", "r", "", "rd1234567890", "r1_"]) {
    assertEquals(splitName(name), split(name), name);
  }
  const names = fc.string({ unit: fc.constantFrom("r", "_", "0", "1", "9"), maxLength: 14 });
  fc.assert(fc.property(names, (name) => assertEquals(splitName(name), split(name))));
});

Deno.test("startOfNumber() is the length of a name without digits at its end", () => {
  assertEquals(["r12", "r1a", "12", ""].map((name) => startOfNumber(name)), [1, 3, 0, 0]);
  assertEquals(startOfNumber("r1234", 2), 3);
});
