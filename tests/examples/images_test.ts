/** Filters of pictures against the formulas in double precision; a byte may be off by one where a value lies between two. */
import { Device } from "../../ffi/mod.ts";
import { filterPicture, gaussianWeights, type Picture } from "../../examples/images/pictures.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { freshRandom } from "../support/random.ts";

function randomPicture(width: number, height: number): Picture {
  const random = freshRandom();
  const data = Uint8ClampedArray.from({ length: width * height * 4 }, () => random.below(256));
  return { data, width, height };
}

const byte = (x: number): number => Math.floor(Math.min(Math.max(x, 0), 255) + 0.5);

/** What `filterPicture` is to give. */
function reference(
  { data, width, height }: Picture,
  filters: { blur: number; saturation: number; contrast: number; brightness: number },
): number[] {
  const pixel = (values: ArrayLike<number>, x: number, y: number, c: number): number =>
    must(values[(y * width + x) * 4 + c], "byte");
  const each = (value: (x: number, y: number, c: number) => number): number[] =>
    Array.from(
      data,
      (_, i) => byte(value(Math.floor(i / 4) % width, Math.floor(i / 4 / width), i % 4)),
    );
  const adjusted = each((x, y, c) => {
    if (c === 3) return pixel(data, x, y, 3);
    const grey = 0.2126 * pixel(data, x, y, 0) + 0.7152 * pixel(data, x, y, 1) +
      0.0722 * pixel(data, x, y, 2);
    const colour = grey + (pixel(data, x, y, c) - grey) * filters.saturation;
    return (colour - 127.5) * filters.contrast + 127.5 + filters.brightness;
  });
  if (filters.blur === 0) return adjusted;
  const weights = gaussianWeights(filters.blur);
  const radius = (weights.length - 1) / 2;
  const clamp = (at: number, size: number): number => Math.min(Math.max(at, 0), size - 1);
  const mean = (value: (step: number) => number): number =>
    weights.reduce((sum, weight, k) => sum + weight * value(k - radius), 0);
  const rows = each((x, y, c) => mean((step) => pixel(adjusted, clamp(x + step, width), y, c)));
  return each((x, y, c) => mean((step) => pixel(rows, x, clamp(y + step, height), c)));
}

for (const [width, height, blur] of [[131, 9, 0], [37, 19, 1.2], [1, 1, 0.7]] as const) {
  Deno.test(`filterPicture() of ${width} × ${height} pixels, blurred by ${blur}`, async () => {
    using device = Device.open({ device: "emulator", workers: 1 });
    const picture = randomPicture(width, height);
    const filters = { blur, saturation: 0.6, contrast: 1.3, brightness: 5 };
    const { data, ...size } = await filterPicture(device, picture, filters);
    assertEquals(size, { width, height });
    const expected = reference(picture, filters);
    // A byte of the first step that is off by one moves the later steps by as much.
    const bound = blur === 0 ? 1 : 2;
    data.forEach((value, i) => {
      const wanted = must(expected[i], "byte");
      assert(Math.abs(value - wanted) <= bound, `byte ${i}: ${value}, not ${wanted}`);
    });
  });
}

Deno.test("filterPicture() without filters gives the same picture", async () => {
  using device = Device.open({ device: "emulator", workers: 1 });
  const picture = randomPicture(33, 5);
  assertEquals((await filterPicture(device, picture, {})).data, picture.data);
});
