/** Copies of windows (im2col) against the windows of a convolution, one by one. */
import fc from "../../support/property.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";
import { encodeTensorMap } from "../../../emulator/async/tensor_map.ts";
import { Fault } from "../../../emulator/fault.ts";
import { type TensorMap, tensorMapProblem } from "../../../ffi/tensor_map.ts";
import { Bench } from "./bench.ts";

const MAP = 0x18000;
const BARRIER = 0x7f00;
const BOX = 1024;

/** A convolution along one to three axes, innermost first, of pictures of 16-bit numbers. */
interface Convolution {
  readonly channels: number;
  readonly pictures: number;
  readonly axes: readonly {
    readonly extent: number;
    readonly filter: number;
    readonly step: number;
    readonly pad: number;
    readonly dilation: number;
  }[];
}

const convolutions: fc.Arbitrary<Convolution> = fc.record({
  channels: fc.constantFrom(8, 24, 64),
  pictures: fc.integer({ min: 1, max: 3 }),
  axes: fc.array(
    fc.record({
      extent: fc.integer({ min: 1, max: 6 }),
      filter: fc.integer({ min: 1, max: 3 }),
      step: fc.integer({ min: 1, max: 3 }),
      pad: fc.integer({ min: 0, max: 3 }),
      dilation: fc.integer({ min: 1, max: 2 }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
}).filter(({ axes }) =>
  axes.every(({ extent, filter, pad, dilation }) => extent + 2 * pad > dilation * (filter - 1))
);

const windowsOf = ({ extent, filter, step, pad, dilation }: Convolution["axes"][number]): number =>
  Math.floor((extent + 2 * pad - dilation * (filter - 1) - 1) / step) + 1;

function mapOf({ channels, pictures, axes }: Convolution, pixels: number): TensorMap {
  const extents = [channels, ...axes.map(({ extent }) => extent), pictures];
  let pitch = 2 * channels;
  return {
    type: "uint16",
    address: 0n,
    extents,
    strides: extents.slice(1).map((_, i) => {
      const stride = pitch;
      pitch *= extents[i + 1] ?? 1;
      return stride;
    }),
    box: [channels, pixels, ...extents.slice(2).map(() => 1)],
    elementStrides: [1, ...axes.map(({ step }) => step), 1],
    interleave: "none",
    swizzle: "none",
    promotion: "none",
    fill: "zero",
    windows: axes.map((axis) => ({
      lower: -axis.pad,
      upper: -axis.pad + (windowsOf(axis) - 1) * axis.step + 1 - axis.extent,
    })),
  };
}

function load(
  bench: Bench,
  map: TensorMap,
  origin: readonly number[],
  offsets: readonly number[],
): void {
  bench.globalBytes.set(encodeTensorMap(map), MAP);
  bench.setLong("rd1", bench.pointer(MAP));
  bench.set("r1", BOX);
  bench.set("r2", BARRIER);
  origin.forEach((at, axis) => bench.set(`r${10 + axis}`, at));
  offsets.forEach((at, axis) => bench.set(`h${1 + axis}`, at));
  bench.run("mbarrier.init.shared.b64 [%r2], 1;", 1);
  const registers = (name: string, list: readonly number[], first: number): string =>
    `{${list.map((_, i) => `%${name}${first + i}`).join(", ")}}`;
  bench.run(
    `cp.async.bulk.tensor.${origin.length}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes ` +
      `[%r1], [%rd1, ${registers("r", origin, 10)}], [%r2], ${registers("h", offsets, 1)};`,
    1,
  );
}

Deno.test("cp.async.bulk.tensor of windows takes a pixel of each, and zeros outside of pictures", () => {
  const cases = fc.tuple(convolutions, fc.nat(1000), fc.nat(1000), fc.integer({ min: 1, max: 48 }));
  fc.assert(
    fc.property(cases, ([convolution, first, place, pixels]) => {
      const { channels, pictures, axes } = convolution;
      const bench = new Bench({ checks: false, sharedBytes: 0x8000 });
      const elements = new Uint16Array(
        bench.globalBytes.buffer,
        bench.globalBytes.byteOffset,
        0x8000,
      );
      elements.forEach((_, i) => elements[i] = i * 7 + 1);
      const map = { ...mapOf(convolution, pixels), address: bench.pointer(0) };
      assertEquals(tensorMapProblem(map), undefined);
      const counts = axes.map(windowsOf);
      const all = counts.reduce((product, count) => product * count, pictures);
      /** Indices of a window along the axes, and its picture. */
      const digits = (window: number): number[] => {
        let rest = window;
        const inner = counts.map((count) => {
          const digit = rest % count;
          rest = Math.floor(rest / count);
          return digit;
        });
        return [...inner, rest];
      };
      const begin = digits(first % all);
      const taps = axes.map(({ filter }) => filter)
        .reduce<{ rest: number; list: number[] }>(({ rest, list }, filter) => ({
          rest: Math.floor(rest / filter),
          list: [...list, rest % filter],
        }), { rest: place, list: [] }).list;
      const corner = axes.map(({ step, pad }, i) => (begin[i] ?? 0) * step - pad);
      const origin = [0, ...corner, begin.at(-1) ?? 0];
      load(bench, map, origin, axes.map(({ dilation }, i) => (taps[i] ?? 0) * dilation));
      const box = new Uint16Array(
        bench.sharedBytes().buffer,
        bench.sharedBytes().byteOffset + BOX,
        pixels * channels,
      );
      for (let pixel = 0; pixel < pixels; pixel++) {
        const at = digits(first % all + pixel);
        const places = axes.map(({ step, pad, dilation }, i) =>
          (at[i] ?? 0) * step - pad + (taps[i] ?? 0) * dilation
        );
        const picture = at.at(-1) ?? 0;
        const isInside = picture < pictures &&
          places.every((one, i) => one >= 0 && one < (axes[i]?.extent ?? 0));
        const row = [...places, picture].reduceRight(
          (sum, one, i) => sum * (axes[i]?.extent ?? 1) + one,
          0,
        );
        for (let c = 0; c < channels; c++) {
          const expected = isInside ? elements[row * channels + c] : 0;
          assertEquals(box[pixel * channels + c], expected);
        }
      }
    }),
    { numRuns: 300 },
  );
});

const AXIS = { extent: 6, filter: 3, step: 2, pad: 1, dilation: 1 };
const PLAIN: Convolution = { channels: 8, pictures: 2, axes: [AXIS, AXIS] };

Deno.test("cp.async.bulk.tensor faults where there is no window", () => {
  const run = (map: Partial<TensorMap>, origin: readonly number[], offsets = [0, 0]): void => {
    const bench = new Bench({ sharedBytes: 0x8000 });
    load(bench, { ...mapOf(PLAIN, 4), address: bench.pointer(0), ...map }, origin, offsets);
  };
  run({}, [0, -1, 3, 1]);
  run({}, [0, 2, 2, 2]);
  assertThrows(() => run({}, [0, 0, -1, 1]), Fault, "no window at 0, -1, 1");
  assertThrows(() => run({}, [0, -3, -1, 0]), Fault, "no window at -3, -1, 0");
  assertThrows(() => run({}, [0, -1, 5, 0]), Fault, "no window at -1, 5, 0");
  assertThrows(() => run({}, [0, -1, -1, 0], [256, 0]), Fault, "pixel 256 is out of reach");
  const { windows: _, ...boxes } = mapOf(PLAIN, 4);
  const bench = new Bench({ sharedBytes: 0x8000 });
  const map = { ...boxes, address: bench.pointer(0) };
  assertThrows(() => load(bench, map, [0, 0, 0, 0], [0, 0]), Fault, "has no windows");
});

Deno.test("tensorMapProblem() says what windows a map cannot have", () => {
  const map = mapOf(PLAIN, 4);
  const problem = (change: Partial<TensorMap>): string | undefined =>
    tensorMapProblem({ ...map, ...change });
  const [window = { lower: 0, upper: 0 }] = map.windows ?? [];
  assertEquals(problem({}), undefined);
  assertEquals(problem({ windows: [window] }), "4 axes have windows along 2, not 1");
  assertEquals(
    problem({ windows: [{ lower: -129, upper: 0 }, window] }),
    "windows begin from -129 to 0, not within -128 and 127",
  );
  assertEquals(
    problem({ windows: [window, { lower: 1, upper: -5 }] }),
    "there are no windows along axis 2",
  );
  assertEquals(
    problem({ box: [8, 4, 2, 1] }),
    "a copy of windows has up to 256 channels and 1024 pixels, not 8 x 4 x 2 x 1",
  );
  assertEquals(problem({ box: [8, 1025, 1, 1] }), "box[1] is 1025, not within 1 and 1024");
});
