import fc from "../support/property.ts";
import { PlaceList } from "../../emulator/places.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("PlaceList keeps things in the order of their places", () => {
  const step = fc.record({ add: fc.boolean(), place: fc.nat(2000) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 3000, size: "max" }), (steps) => {
      const list = new PlaceList<{ readonly place: number }>();
      const model = new Map<number, { readonly place: number }>();
      for (const { add, place } of steps) {
        if (add && !model.has(place)) {
          const thing = { place };
          list.add(thing);
          model.set(place, thing);
        } else if (!add) {
          list.remove(place);
          model.delete(place);
        }
        const before = [...model.keys()].filter((at) => at <= 1000);
        if (model.size % 64 === 0) {
          assertEquals(list.before(1000), model.get(Math.max(...before)));
        }
      }
      assertEquals(list.all(), [...model.values()].toSorted((a, b) => a.place - b.place));
    }),
    { numRuns: 20 },
  );
});
