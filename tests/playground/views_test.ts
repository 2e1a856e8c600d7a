import { INITIAL } from "../../playground/state/state.ts";
import { layoutPicture, placesOf } from "../../playground/views/layout_picture.ts";
import { cellSize, type Picture, pixelsOf, tableOf } from "../../playground/views/picture.ts";
import { colourOfName, colourOfValue, inkOn } from "../../playground/views/colours.ts";
import { rangeOf, shortNumber, tensorPicture } from "../../playground/views/tensor_picture.ts";
import { trafficByLine, wasteOf } from "../../playground/views/traffic.ts";
import { tilesOf } from "../../playground/session/instance.ts";
import { GALLERY } from "../../playground/gallery/entries.ts";
import { elementAt } from "../../compiler/linear/linear.ts";
import { must } from "../../compiler/support/bug.ts";
import { run } from "../../playground/session/run.ts";
import { assert, assertEquals } from "../support/assert.ts";
import fc from "../support/property.ts";
import { openEntry } from "./gallery.ts";

const picture: Picture = tensorPicture({
  name: "X",
  shape: [2, 3],
  values: [0, 1, 2, 3, NaN, 5],
});

Deno.test("tensorPicture() says each element, and shows what is no number apart", () => {
  assertEquals([picture.columns, picture.rows], [3, 2]);
  assertEquals(picture.cell(1, 0).says, "X[0, 1] = 1");
  assertEquals(picture.cell(2, 1).text, "5");
  assertEquals(picture.cell(1, 1).text, "NaN");
  assertEquals(picture.cell(0, 0).colour, colourOfValue(0));
  assertEquals(picture.cell(2, 1).colour, colourOfValue(1));
  assert(picture.cell(1, 1).colour.join() !== colourOfValue(0.5).join());
  const empty = tensorPicture({ name: "E", shape: [0, 4], values: [] });
  assertEquals([empty.columns, empty.rows], [4, 0]);
});

Deno.test("tensorPicture() goes on with long vectors in the next row", () => {
  const vector = tensorPicture({
    name: "X",
    shape: [70],
    values: Array.from({ length: 70 }, (_, i) => i),
  });
  assertEquals([vector.columns, vector.rows], [32, 3]);
  assertEquals(vector.cell(5, 2).says, "X[69] = 69");
  assertEquals(vector.cell(6, 2).says, "no element");
  assertEquals([vector.rowName(2), vector.columnName(5)], ["64", "+5"]);
});

Deno.test("pixelsOf() fills each cell with its colour, and every cell is there", () => {
  const size = 8;
  const pixels = pixelsOf(picture, size);
  assertEquals(pixels.length, 4 * 3 * size * 2 * size);
  for (let row = 0; row < 2; row++) {
    for (let column = 0; column < 3; column++) {
      const at = 4 * ((row * size + 2) * 3 * size + column * size + 2);
      assertEquals([...pixels.subarray(at, at + 4)], [...picture.cell(column, row).colour, 255]);
    }
  }
});

Deno.test("tableOf() has the cells of the picture", () => {
  const { columns, rows } = tableOf(picture);
  assertEquals(columns, ["", "0", "1", "2"]);
  assertEquals(rows, [["0", "0", "1", "2"], ["1", "3", "NaN", "5"]]);
});

Deno.test("cellSize() is a whole number that fits", () => {
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 2000 }),
    fc.integer({ min: 1, max: 2000 }),
    (columns, rows) => {
      const size = cellSize({ columns, rows }, 360, 300);
      assert(Number.isInteger(size) && size >= 1);
      assert(size === 1 || (size * columns <= 360 && size * rows <= 300));
    },
  ));
});

Deno.test("colourOfValue() grows lighter with the value; text on it is readable", () => {
  let last = -1;
  for (let share = 0; share <= 1; share += 1 / 32) {
    const colour = colourOfValue(share);
    const light = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2];
    assert(light >= last, `${share}`);
    last = light;
    assert(["black", "white"].includes(inkOn(colour)));
  }
  const names = Array.from({ length: 32 }, (_, lane) => colourOfName(lane, 32).join());
  assertEquals(new Set(names).size, 32);
});

Deno.test("rangeOf() and shortNumber() take every float", () => {
  assertEquals(rangeOf([NaN, Infinity]), undefined);
  assertEquals(rangeOf([3, -1, NaN]), { least: -1, greatest: 3 });
  fc.assert(fc.property(fc.double({ min: -1e300, max: 1e300 }), (value) => {
    const text = shortNumber(value);
    assert(text.length <= 10, text);
    if (Number.isFinite(value)) assert(Math.abs(Number(text) - value) <= 6e-3 * Math.abs(value));
  }));
});

Deno.test("layoutPicture() agrees with elementAt() for every tile of the gallery", () => {
  for (const entry of GALLERY.filter(({ group }) => group === "Learn")) {
    const { program } = openEntry(entry);
    const tiles = tilesOf(program, "");
    assert(tiles.length > 0, entry.name);
    for (const { layout, name } of tiles) {
      const places = placesOf(layout);
      places.forEach(({ register, lane, warp }, element) =>
        assertEquals(elementAt(layout, register, lane, warp), element)
      );
      const shown = layoutPicture(name, layout, "lane");
      assertEquals(shown.columns * shown.rows, places.length);
      const holders = 2 ** (layout.register.length + layout.lane.length + layout.warp.length);
      assertEquals(places.reduce((sum, { copies }) => sum + copies, 0), holders);
    }
  }
});

Deno.test("tilesOf() shows how a transposition moves: renamed axes, then shared memory", () => {
  const entry = must(GALLERY.find(({ name }) => name === INITIAL.entry), "entry");
  const tiles = tilesOf(openEntry(entry).program, "");
  const converted = must(tiles.find(({ op }) => op === "convert_layout"), "conversion");
  assertEquals(converted.how, "through 4096 bytes of shared memory: no bank conflicts");
  const renamed = must(tiles[converted.from ?? -1], "its operand");
  assertEquals([renamed.name, renamed.op, renamed.line], ["y", "permute", 15]);
});

Deno.test("trafficByLine() sums to the profile, and the naive transposition wastes its stores", () => {
  const entry = must(GALLERY.find(({ name }) => name === "transpose_naive"), "entry");
  const { program, call } = openEntry(entry);
  const ran = run(program, call);
  assert(ran.kind === "ran");
  const { accesses, global, shared } = must(ran.profile, "profile");
  const lines = trafficByLine(accesses);
  const total = (of: (line: typeof lines[number]) => number): number =>
    lines.reduce((sum, line) => sum + of(line), 0);
  assertEquals(total(({ sectors }) => sectors), global.sectors);
  assertEquals(total(({ requests }) => requests), global.requests);
  assertEquals(total(({ bankConflicts }) => bankConflicts), shared.bankConflicts);
  // 32 lanes store 4 bytes each to another row of Y: 32 sectors in place of 4.
  assertEquals(lines.map(wasteOf), ["none wasted", "88 % wasted"]);
});
