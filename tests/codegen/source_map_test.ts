import { encodeMappings } from "../../codegen/source_map.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("encodeMappings() writes differences, lines by semicolons, in order", () => {
  const mappings = [
    { line: 2, column: 4, sourceLine: 1, sourceColumn: 0 },
    { line: 0, column: 0, sourceLine: 0, sourceColumn: 16 },
    { line: 2, column: 0, sourceLine: 3, sourceColumn: 15 },
  ];
  // 16 is 32 in the form with a sign: a digit of five zero bits that continues, then 1.
  assertEquals(encodeMappings(mappings), "AAAgB;;AAGD,IAFf");
  assertEquals(encodeMappings([]), "");
});
