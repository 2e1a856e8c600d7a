/** Finds the centres of three clouds of points: `deno run -P=gpu examples/kmeans/main.ts`. */
// deno-lint-ignore-file no-console -- an example prints
import { Device } from "@tri/tri/ffi";
import { kMeans } from "./kmeans.ts";

const clouds = [[0, 0], [4, 0], [0, 4]];
const points = Array.from({ length: 300 }, (_, i) => {
  const [x = 0, y = 0] = clouds[i % clouds.length] ?? [];
  return [x + Math.cos(i * 2.4) * ((i * 7) % 11) / 11, y + Math.sin(i * 2.4) * ((i * 5) % 13) / 13];
});

using device = Device.open();
using x = device.tensor(Float32Array.from(points.flat()), [points.length, 2]);
using start = device.tensor(Float32Array.from(points.slice(0, 3).flat()), [3, 2]);
const { centres, labels, inertia, rounds } = await kMeans(x, start);
console.log(`${rounds} rounds, inertia ${inertia.toFixed(2)}`);
const values = await centres.read();
for (let k = 0; k < 3; k++) {
  console.log(
    `centre ${k}: ${[...values.subarray(2 * k, 2 * k + 2)].map((v) => v.toFixed(2)).join(", ")}`,
  );
}
centres.dispose();
labels.dispose();
