import { times } from "../../../compiler/support/times.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("times() makes an element for each whole number below the count, in order", () => {
  assertEquals(times(3, (index) => index * index), [0, 1, 4]);
  assertEquals(times(0, (index) => index), []);
  assertEquals(times(2.5, (index) => index), [0, 1]);
  assertEquals(times(0.5, (index) => index), []);
});
