import { CompilerBug } from "../../../compiler/support/bug.ts";
import { zip } from "../../../compiler/support/zip.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";

Deno.test("zip() pairs the elements of lists of one length", () => {
  assertEquals(zip([1, 2], ["a", "b"]), [[1, "a"], [2, "b"]]);
  assertEquals(zip([], []), []);
});

Deno.test("zip() throws CompilerBug for lists of two lengths", () => {
  assertThrows(() => zip([1, 2], ["a"]), CompilerBug, "2 elements for 1");
});
