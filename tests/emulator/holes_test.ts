import fc from "../support/property.ts";
import { Holes } from "../../emulator/holes.ts";
import { assert, assertEquals } from "../support/assert.ts";

const SIZE = 1 << 14;

Deno.test("Holes gives each byte out once, and finds room wherever there is some", () => {
  const step = fc.record({
    give: fc.boolean(),
    pick: fc.nat(),
    bytes: fc.integer({ min: 1, max: 3000 }),
    align: fc.constantFrom(1, 16, 256, 1024),
  });
  fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
    const holes = new Holes();
    holes.add(0, SIZE);
    const taken = new Uint8Array(SIZE);
    const ranges: { readonly start: number; readonly bytes: number }[] = [];
    const fits = (bytes: number, align: number): boolean => {
      for (let start = 0; start + bytes <= SIZE; start += align) {
        if (!taken.subarray(start, start + bytes).includes(1)) return true;
      }
      return false;
    };
    for (const { give, pick, bytes, align } of steps) {
      if (give && ranges.length > 0) {
        const [range] = ranges.splice(pick % ranges.length, 1);
        if (range === undefined) continue;
        taken.fill(0, range.start, range.start + range.bytes);
        holes.add(range.start, range.start + range.bytes);
        continue;
      }
      const start = holes.take(bytes, align, true);
      assertEquals(start !== undefined, fits(bytes, align));
      if (start === undefined) continue;
      assertEquals(start % align, 0);
      assert(!taken.subarray(start, start + bytes).includes(1));
      taken.fill(1, start, start + bytes);
      ranges.push({ start, bytes });
    }
    for (const { start, bytes } of ranges) holes.add(start, start + bytes);
    assertEquals(holes.startOf(SIZE), 0);
  }));
});
