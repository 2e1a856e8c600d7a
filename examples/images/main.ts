/** Filters a picture of 160 × 120 pixels and prints a line of it: `deno run -P=gpu examples/images/main.ts`. */
// deno-lint-ignore-file no-console -- an example prints
import { Device } from "@tri/tri/ffi";
import { filterPicture } from "./pictures.ts";

const [width, height] = [160, 120];
const data = new Uint8ClampedArray(width * height * 4);
for (let y = 0; y < height; y++) {
  for (let x = 0; x < width; x++) {
    const isLight = (Math.floor(x / 16) + Math.floor(y / 16)) % 2 === 0;
    data.set([isLight ? 240 : 20, x * 255 / width, y * 255 / height, 255], (y * width + x) * 4);
  }
}

using device = Device.open();
const filtered = await filterPicture(device, { data, width, height }, {
  blur: 4,
  saturation: 0.8,
  contrast: 1.2,
});
const middle = Array.from(
  { length: 12 },
  (_, i) => filtered.data[(height / 2 * width + i * 8) * 4],
);
console.log(`red along the middle: ${middle.join(" ")}`);
