import fc from "../../../support/property.ts";
import {
  broadcastShapes,
  clashPicture,
  clashText,
  fitsWithNewAxis,
  planStretch,
} from "../../../../compiler/check/expressions/broadcast.ts";
import { assertEquals } from "../../../support/assert.ts";

const shapes = fc.array(fc.constantFrom(1, 2, 4), { minLength: 1, maxLength: 4 });

/** Whether index `at` of a result of `shape` has a source in a tile of shape `from`, by trying all. */
function reaches(from: readonly number[], shape: readonly number[]): boolean {
  if (from.length > shape.length) return false;
  return from.every((extent, axis) => {
    const target = shape[axis + shape.length - from.length];
    return extent === 1 || extent === target;
  });
}

Deno.test("broadcastShapes() gives the smallest shape that both reach, whatever the order", () => {
  fc.assert(fc.property(shapes, shapes, (a, b) => {
    const outcome = broadcastShapes(a, b);
    const swapped = broadcastShapes(b, a);
    assertEquals("shape" in outcome, "shape" in swapped);
    if ("shape" in outcome && outcome.shape !== undefined) {
      assertEquals(outcome, swapped);
      assertEquals([reaches(a, outcome.shape), reaches(b, outcome.shape)], [true, true]);
      assertEquals(outcome.shape.length, Math.max(a.length, b.length));
    }
  }));
});

Deno.test("broadcastShapes() lets a scalar fit any shape", () => {
  assertEquals(broadcastShapes(undefined, [4, 8]), { shape: [4, 8] });
  assertEquals(broadcastShapes([4, 8], undefined), { shape: [4, 8] });
  assertEquals(broadcastShapes(undefined, undefined), { shape: undefined });
});

Deno.test("planStretch() stretches, drops extents of 1, or names the bad axis", () => {
  assertEquals(planStretch([16], [32, 16]).kind, "broadcast");
  assertEquals(planStretch([16, 1], [16, 32]).kind, "broadcast");
  assertEquals(planStretch([16, 1], [16]).kind, "drop");
  assertEquals(planStretch([1, 1], undefined).kind, "drop");
  assertEquals(planStretch([1], [1, 1]).kind, "broadcast");
  assertEquals(planStretch([2], undefined).kind, "not-scalar");
  assertEquals(planStretch([32, 16], [1, 16]).kind, "clash");
  assertEquals(planStretch([16, 2], [16]).kind, "clash");
  assertEquals(planStretch(undefined, [16]).kind, "broadcast");
});

Deno.test("clashText() and clashPicture() show both shapes and the first bad axis", () => {
  const clash = { lhs: [128, 64], rhs: [32, 64], axis: 0 };
  assertEquals(clashText(clash), "[128, 64] vs [32, 64]: axis 0 is 128 and 32");
  assertEquals(clashPicture(clash), ["[128, 64]", "[ 32, 64]", " ^^^"]);
  const uneven = { lhs: [8, 128, 64], rhs: [4], axis: 2 };
  assertEquals(clashPicture(uneven), ["[8, 128, 64]", "        [ 4]", "         ^^"]);
  const missing = { lhs: [2, 16], rhs: [16], axis: 0 };
  assertEquals(clashText(missing), "[2, 16] vs [16]: axis 0 is 2 and missing");
});

Deno.test("fitsWithNewAxis() finds out whether `x[:, newaxis]` would help", () => {
  assertEquals(fitsWithNewAxis([128], [128, 64]), true);
  assertEquals(fitsWithNewAxis([64], [128, 64]), false);
  assertEquals(fitsWithNewAxis([128, 64], [128, 64]), false);
});
