/** Gathered windows of convolutions as copies in im2col mode, on the emulator: compared with double precision. */
import fc from "../../support/property.ts";
import { inspect } from "../../../compiler/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import {
  type Arguments,
  type Compiled,
  compileForms,
  runEntry,
  serves,
} from "../../support/forms/form_run.ts";
import { forwardText, plainText, weightsText } from "../../support/forms/convolution_texts.ts";
import { freshRandom } from "../../support/random.ts";
import { decode, encode } from "../../support/typed_arrays.ts";

interface Convolution {
  readonly n: number;
  readonly c: number;
  readonly k: number;
  /** Height and width. */
  readonly x: readonly [number, number];
  readonly f: readonly [number, number];
  readonly step: readonly [number, number];
  readonly pad: readonly [number, number];
  readonly dilation: readonly [number, number];
  /** How many windows there are; as many as pictures have with as much padding after them as before them, if absent. */
  readonly out?: readonly [number, number];
}

const PLAIN: Convolution = {
  n: 2,
  c: 64,
  k: 16,
  x: [5, 6],
  f: [3, 3],
  step: [1, 1],
  pad: [1, 1],
  dilation: [1, 1],
};

const outOf = ({ x, f, step, pad, dilation, out }: Convolution): readonly [number, number] => {
  const along = (i: 0 | 1): number =>
    out?.[i] ?? Math.floor((x[i] + 2 * pad[i] - dilation[i] * (f[i] - 1) - 1) / step[i]) + 1;
  return [along(0), along(1)];
};

const random = freshRandom();
const numbers = (count: number): number[] =>
  Array.from({ length: count }, () => (random.below(64) - 32) / 32);

/** Calls a function for each pair of a window and a place of it that is inside: indices of dense tensors. */
function eachTap(
  convolution: Convolution,
  visit: (y: number, tap: number, x: number) => void,
): void {
  const { n, x: [height, width], f: [rows, columns], step, pad, dilation } = convolution;
  const [high, wide] = outOf(convolution);
  for (let y = 0; y < n * high * wide; y++) {
    const [q, p, picture] = [y % wide, Math.floor(y / wide) % high, Math.floor(y / wide / high)];
    for (let tap = 0; tap < rows * columns; tap++) {
      const h = p * step[0] - pad[0] + Math.floor(tap / columns) * dilation[0];
      const w = q * step[1] - pad[1] + (tap % columns) * dilation[1];
      if (h < 0 || h >= height || w < 0 || w >= width) continue;
      visit(y, tap, (picture * height + h) * width + w);
    }
  }
}

const scalarsOf = (convolution: Convolution): Readonly<Record<string, number>> => {
  const { n: N, c: C, k: K, x: [H, W], f: [R, S], step, pad, dilation } = convolution;
  const [P, Q] = outOf(convolution);
  const [[steph, stepw], [padh, padw], [dilationh, dilationw]] = [step, pad, dilation];
  return { N, H, W, C, K, R, S, P, Q, steph, stepw, padh, padw, dilationh, dilationw };
};

/** Runs the form with two tensors, and compares what it makes of them. */
function check(
  compiled: Compiled,
  convolution: Convolution,
  names: readonly [string, string, string],
  [left, right]: readonly [readonly number[], readonly number[]],
  expected: Float64Array,
  programs: number,
): void {
  const [a, b, result] = names;
  const args: Arguments = {
    [a]: encode("float16", left),
    [b]: encode("float16", right),
    [result]: encode("float32", new Array<number>(expected.length).fill(77)),
    ...scalarsOf(convolution),
  };
  const [entry] = compiled.entries;
  const form = must(must(entry, "entry").forms?.[0], "form");
  const launch = { grid: [programs, 1, 1] as const, args };
  assert(serves(form, launch), JSON.stringify(convolution));
  runEntry(compiled, form, launch);
  // Products of such numbers are sums without rounding.
  assertEquals(decode("float32", args[result] as Uint8Array).map(Number), [...expected]);
}

function checkWeights(compiled: Compiled, convolution: Convolution): void {
  const { n, c, k, x: [height, width], f: [rows, columns] } = convolution;
  const [high, wide] = outOf(convolution);
  const [dy, x] = [numbers(n * high * wide * k), numbers(n * height * width * c)];
  const size = rows * columns * c;
  const expected = new Float64Array(k * size);
  eachTap(convolution, (window, tap, pixel) => {
    for (let filter = 0; filter < k; filter++) {
      for (let channel = 0; channel < c; channel++) {
        const at = filter * size + tap * c + channel;
        expected[at] = (expected[at] ?? 0) +
          (dy[window * k + filter] ?? NaN) * (x[pixel * c + channel] ?? NaN);
      }
    }
  });
  const programs = Math.ceil(k / 64) * Math.ceil(size / 128);
  check(compiled, convolution, ["DY", "X", "DF"], [dy, x], expected, programs);
}

function checkForward(compiled: Compiled, convolution: Convolution): void {
  const { n, c, k, x: [height, width], f: [rows, columns] } = convolution;
  const [high, wide] = outOf(convolution);
  const [x, f] = [numbers(n * height * width * c), numbers(k * rows * columns * c)];
  const expected = new Float64Array(n * high * wide * k);
  eachTap(convolution, (window, tap, pixel) => {
    for (let filter = 0; filter < k; filter++) {
      let sum = 0;
      for (let channel = 0; channel < c; channel++) {
        sum += (x[pixel * c + channel] ?? NaN) *
          (f[(filter * rows * columns + tap) * c + channel] ?? NaN);
      }
      expected[window * k + filter] = (expected[window * k + filter] ?? 0) + sum;
    }
  });
  const programs = Math.ceil(n * high * wide / 64) * Math.ceil(k / 64);
  check(compiled, convolution, ["X", "F", "Y"], [x, f], expected, programs);
}

const pair = (min: number, max: number): fc.Arbitrary<readonly [number, number]> =>
  fc.tuple(fc.integer({ min, max }), fc.integer({ min, max }));

const convolutions: fc.Arbitrary<Convolution> = fc.record({
  n: fc.integer({ min: 1, max: 4 }),
  c: fc.constantFrom(64, 128),
  k: fc.constantFrom(8, 16, 72),
  x: pair(1, 9),
  f: pair(1, 3),
  step: pair(1, 3),
  pad: pair(0, 4),
  dilation: pair(1, 3),
}).filter((convolution) => outOf(convolution).every((extent) => extent >= 1));

for (const digits of ["divided", "counted", "signed", "chunked"] as const) {
  Deno.test(`tensor-views copies windows of pixels that are ${digits}`, () => {
    const compiled = compileForms(weightsText(digits), {});
    assertStringIncludes(compiled.ptx, "global.im2col.mbarrier");
    checkWeights(compiled, PLAIN);
    // Pictures of one pixel, and windows that are wholly outside.
    checkWeights(compiled, { ...PLAIN, n: 70, x: [1, 1] });
    checkWeights(compiled, { ...PLAIN, pad: [4, 5] });
    fc.assert(
      fc.property(convolutions, (convolution) => checkWeights(compiled, convolution)),
      { numRuns: 6 },
    );
  });
}

for (const style of ["nested", "chosen"] as const) {
  Deno.test(`tensor-views copies windows for convolutions: ${style}`, () => {
    const compiled = compileForms(forwardText(style), {});
    assertStringIncludes(compiled.ptx, "global.im2col.mbarrier");
    checkForward(compiled, PLAIN);
    checkForward(compiled, { ...PLAIN, n: 70, x: [1, 1] });
    checkForward(compiled, { ...PLAIN, pad: [4, 5] });
    fc.assert(
      fc.property(
        convolutions,
        fc.constantFrom(8, 40, 64),
        (convolution, c) => checkForward(compiled, { ...convolution, c }),
      ),
      { numRuns: 6 },
    );
  });
}

for (const style of ["products", "down", "loops"] as const) {
  Deno.test(`tensor-views copies windows for convolutions by plain indices: ${style}`, () => {
    const compiled = compileForms(plainText(style), {});
    assertStringIncludes(compiled.ptx, "global.im2col.mbarrier");
    checkForward(compiled, PLAIN);
    checkForward(compiled, { ...PLAIN, n: 70, x: [1, 1] });
    checkForward(compiled, { ...PLAIN, c: 32, pad: [4, 5] });
    fc.assert(
      fc.property(
        convolutions,
        fc.constantFrom(32, 64, 96),
        (convolution, c) => checkForward(compiled, { ...convolution, c }),
      ),
      { numRuns: 6 },
    );
  });
}

Deno.test("tensor-views copies windows that begin inside of pictures, leave pixels out, and end anywhere", () => {
  const [weights, forward, plain] = [
    compileForms(weightsText("divided"), {}),
    compileForms(forwardText("nested"), {}),
    compileForms(plainText("products"), {}),
  ];
  const placed = fc.record({
    convolution: convolutions,
    pad: pair(-3, 4),
    out: pair(1, 9),
    dilation: pair(0, 3),
  }).map(({ convolution, ...others }) => ({ ...convolution, ...others }));
  fc.assert(
    fc.property(placed, (convolution) => {
      checkWeights(weights, convolution);
      checkForward(forward, convolution);
      checkForward(plain, convolution);
    }),
    { numRuns: 10 },
  );
});

Deno.test("forms with windows serve no launch that copies cannot do", () => {
  const { entries: [entry] } = compileForms(weightsText("divided"), {});
  const form = must(must(entry, "entry").forms?.[0], "form");
  const serving = (change: Partial<Convolution>): boolean => {
    const args: Arguments = {
      ...{ DY: new Uint8Array(16), X: new Uint8Array(16), DF: new Uint8Array(16) },
      ...scalarsOf({ ...PLAIN, ...change }),
    };
    return serves(form, { grid: [1, 1, 1], args });
  };
  assertEquals(serving({}), true);
  assertEquals(serving({ c: 72 }), false);
  assertEquals(serving({ x: [100, 100], dilation: [4, 49] }), true);
  assertEquals(serving({ x: [300, 300], dilation: [1, 128] }), false, "too far in a window");
  assertEquals(serving({ x: [600, 600], pad: [1, 129] }), false, "too far outside");
  assertEquals(serving({ x: [300, 300], f: [3, 132] }), false, "ends too far inside");
  assertEquals(serving({ step: [8, 8] }), true);
  assertEquals(serving({ step: [9, 1] }), false);
});

/** What the stage `views` says of the gathered tile. */
function viewOf(text: string): string {
  const views = inspect({ name: "k.tc", text }, { targets: ["sm_90a"] }, "views");
  return must(/ x = (.*)/.exec(views)?.[1], views);
}

/** The same text with other parts. */
function viewWith(from: string, to: string, text = weightsText("signed")): string {
  assertStringIncludes(text, from);
  return viewOf(text.replaceAll(from, to));
}

/** Each breaks one of the digits. */
const BROKEN = [
  ["Q - 32 % Q", "Q - 31 % Q"],
  ["32 % Q - Q", "32 % Q - P"],
  ["- Q : 32 % Q", "- Q : 32 % P"],
  ["32 / Q % P + 1", "32 / Q % P + 2"],
  ["isRowDone ? 32 / Q", "n >= P ? 32 / Q"],
  [": 32 / Q % P", ": 32 / P % Q"],
  ["p >= P", "p > P"],
  ["p -= isPictureDone ? P : 0", "p -= isPictureDone ? P : 1"],
  ["p -= isPictureDone ? P", "p -= isRowDone ? P"],
  ["n += isPictureDone", "n += isRowDone"],
  ["32 / Q / P + 1", "32 / Q / P"],
  ["begin % Q", "begin % P"],
  ["begin / Q / P", "begin / P / Q"],
] as const;

Deno.test("digits that loops do not count right make no views", () => {
  const text = weightsText("counted");
  for (const [from, to] of BROKEN) {
    assertStringIncludes(text, from);
    assertStringIncludes(viewOf(text.replace(from, to)), "[32, 128]: no view", to);
  }
});

Deno.test("numbers that do not make a comparison fail make no views", () => {
  const text = forwardText("chosen");
  for (
    const [from, to] of [
      ["-1073741824", "-1073741825"],
      ["-1073741824", "-1"],
      ["(unsigned)H : 0", "(unsigned)H : 1"],
      ["int h[64] = n < N", "int h[64] = rm < K"],
      ["h + fr * dilationh)", "h * 4 + fr * dilationh)"],
      ["h + fr * dilationh)", "fr * dilationh - h)"],
    ] as const
  ) {
    assertStringIncludes(text, from);
    assertStringIncludes(viewOf(text.replace(from, to)), "[64, 32]: no view", to);
  }
});

Deno.test("views of windows are found whichever way pictures are counted", () => {
  for (const pictures of ["row[:, newaxis] < pixels", "row[:, newaxis] < Q * N * P"]) {
    assertEquals(
      viewWith("n[:, newaxis] < N", pictures),
      "[32, 128] of float16 tensor at X, innermost axis first",
    );
  }
});

Deno.test("the stage views says why gathered windows are no copies", () => {
  const whys = {
    "its mask does not bound pictures": ["n[:, newaxis] < N && ", ""],
    "its mask does not bound places of pictures on both sides": ["h >= 0 && ", ""],
    "nothing bounds its channels": ["c[newaxis, :]", "c[newaxis, :] + 8"],
    "its columns do not begin at multiples of 64": ["tiles * 128", "tiles * 32"],
    "its mask divides numbers of pixels otherwise": [
      "n[:, newaxis] < N",
      "(n < N && row / W < H)[:, newaxis]",
    ],
  } as const;
  for (const [why, [from, to]] of Object.entries(whys)) {
    assertEquals(viewWith(from, to), `[32, 128]: no view: ${why}`);
  }
  const forward = forwardText("nested");
  const channels = viewWith("rc[newaxis, :] < C - fc;", "rc[newaxis, :] < fr + 8 - fc;", forward);
  assertStringIncludes(channels, "bounds channels by a number of the program");
  const short = forward.replace(
    "h + r * dilationh >= 0 && h + r * dilationh < H",
    "(unsigned short[64])(h + r * dilationh) < (unsigned short)H",
  );
  assert(short !== forward);
  assertStringIncludes(viewOf(short), "no view");
});

Deno.test("runs of columns and whole tiles are zero where a number of the program says so", () => {
  const condition = "rc[newaxis, :] < C - fc;";
  const text = forwardText("nested").replace(condition, `fr < R && ${condition}`);
  assertStringIncludes(viewOf(text), "of float16 tensor at X");
  checkForward(compileForms(text, {}), PLAIN);
});
