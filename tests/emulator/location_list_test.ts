import fc from "../support/property.ts";
import { LocationList } from "../../emulator/location_list.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("LocationList keeps things in the order of their locations", () => {
  const step = fc.record({ add: fc.boolean(), location: fc.nat(2000) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 3000, size: "max" }), (steps) => {
      const list = new LocationList<{ readonly location: number }>();
      const model = new Map<number, { readonly location: number }>();
      for (const { add, location } of steps) {
        if (add && !model.has(location)) {
          const thing = { location };
          list.add(thing);
          model.set(location, thing);
        } else if (!add) {
          list.remove(location);
          model.delete(location);
        }
        const before = [...model.keys()].filter((at) => at <= 1000);
        if (model.size % 64 === 0) {
          assertEquals(list.before(1000), model.get(Math.max(...before)));
        }
      }
      assertEquals(list.all(), [...model.values()].toSorted((a, b) => a.location - b.location));
    }),
    { numRuns: 20 },
  );
});
