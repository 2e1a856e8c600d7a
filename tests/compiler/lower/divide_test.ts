/** Quotients of floats: bit by bit those of double precision, rounded once. */
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { emulate, int } from "../../support/emulate.ts";
import { freshRandom, type Random } from "../../support/random.ts";

/** Quotients that a thread of a warp makes. */
const EACH = 16;
const COUNT = 32 * EACH;

/** A product, whose result nothing stores as long as n is not negative. */
const PRODUCT = `int i[16] = 0 ... 16;
  half h[16, 16] = i[:, newaxis] + 3 * i[newaxis, :];
  float d[16, 16] = 0;
  d += h @ h;
  *?(i[:, newaxis] + n + i[newaxis, :] < 0) (Y + i[:, newaxis] * 16 + i[newaxis, :]) = d;`;

/** Statements that store to Y what they make of `a` and `b`, elements of X, in one warp; a function with dots or without. */
function ptxOf(
  body: string,
  pragmas: readonly string[] = [],
  count = COUNT,
  product = PRODUCT,
): string {
  const text = `${pragmas.map((one) => `#pragma tri ${one}\n`).join("")}#pragma tri specialize(off)
#pragma tri num_warps=1
__global__ void k(const float *X, float *Y, int n) {
  int r[${count}] = 0 ... ${count};
  float a[${count}] = *(X + r); float b[${count}] = *(X + ${count} + r);
  ${product}
  ${body}
}
`;
  const { kernels, diagnostics } = compileFile({ name: "k.tc", text }, { targets: ["sm_80"] });
  assertEquals(diagnostics.map(({ message }) => message), []);
  return must(kernels[0]?.modules[0], "a module").ptx;
}

const countOf = (ptx: string, what: RegExp): number => [...ptx.matchAll(what)].length;

const VIEW = new DataView(new ArrayBuffer(4));
function bitsOf(value: number): number {
  VIEW.setFloat32(0, value);
  return VIEW.getUint32(0);
}
function floatOf(bits: number): number {
  VIEW.setUint32(0, bits);
  return VIEW.getFloat32(0);
}

/** A float whose exponent field is in an interval. */
const floatWithin = (random: Random, lo: number, hi: number): number =>
  floatOf(
    (random.below(2) << 31 | lo + random.below(hi - lo + 1) << 23 | random.below(2 ** 23)) >>> 0,
  );

const pick = (random: Random, values: readonly number[]): number =>
  must(values[random.below(values.length)], "a value");

/** Around the ends of what is done without a branch, and what no sequence gets right. */
const NUMERATORS = [-64, -63, 64, 65, -126, 127];
const DIVISORS = [-32, -31, 32, 33, -126, 127];
const SPECIAL = [0, -0, Infinity, -Infinity, NaN, 2 ** -149, -(2 ** -127), 3.4028234e38, 1, -1];

type Draw = (random: Random) => readonly [a: number, b: number];

function nearPower(random: Random, exponents: readonly number[]): number {
  const bits = bitsOf(2 ** pick(random, exponents));
  return floatOf(Math.max(0, bits + random.below(5) - 2));
}

const anyBits: Draw = (random) => [floatWithin(random, 0, 255), floatWithin(random, 0, 255)];
const ordinary: Draw = (random) => [floatWithin(random, 64, 191), floatWithin(random, 96, 159)];
/** What the lanes of a case divide. */
const DRAWS: Readonly<Record<string, Draw>> = {
  "any bits": anyBits,
  "ordinary numbers": ordinary,
  "ends of windows": (random) => [nearPower(random, NUMERATORS), nearPower(random, DIVISORS)],
  "special values": (random) => [
    random.below(4) > 0 ? pick(random, SPECIAL) : floatWithin(random, 64, 191),
    random.below(4) > 0 ? pick(random, SPECIAL) : floatWithin(random, 96, 159),
  ],
  "one exception in a warp": (random) => [
    random.below(100) === 0 ? 0 : floatWithin(random, 120, 130),
    random.below(100) === 0 ? floatWithin(random, 0, 255) : floatWithin(random, 120, 130),
  ],
  "overflow and underflow": (random) =>
    random.below(2) === 0
      ? [floatWithin(random, 240, 254), floatWithin(random, 112, 128)]
      : [floatWithin(random, 1, 40), floatWithin(random, 126, 160)],
  // The float nearest to a divisor times 25 bits, which lie between two floats.
  "midpoints": (random) => {
    const b = 2 ** 23 + random.below(2 ** 23);
    const between = 2 ** 24 + 2 * random.below(2 ** 23) + 1;
    return [Math.fround(b * between * 2 ** -40), b * 2 ** -20];
  },
  // Fractions that are all ones, or nearly.
  "largest fractions": (random) => [
    (2 ** 24 - random.below(8)) * 2 ** -random.below(40),
    (2 ** 24 - 1 - random.below(8)) * 2 ** -(12 + random.below(20)),
  ],
};

/** Fails where an element is not the quotient, flushed if so. */
function check(ptx: string, name: string, draw: Draw, seed: Random, flush = false): void {
  const x = new Float32Array(2 * COUNT);
  for (let i = 0; i < COUNT; i++) [x[i], x[COUNT + i]] = draw(seed);
  const y = new Float32Array(COUNT).fill(NaN);
  emulate(ptx, { args: [x, y, int(0)], block: [32, 1, 1] });
  const flushed = (value: number): number =>
    flush && Math.abs(value) < 2 ** -126 ? 0 * value : value;
  y.forEach((got, i) => {
    const [a, b] = [must(x[i], "a"), must(x[COUNT + i], "b")];
    // Twice the bits and two more: rounding to double precision first changes nothing.
    const wanted = flushed(Math.fround(flushed(a) / flushed(b)));
    // What only rounding makes the smallest normal number may be flushed before that.
    if (flush && Math.abs(wanted) === 2 ** -126 && Object.is(got, 0 * wanted)) return;
    assert(Object.is(got, wanted), `${name}, seed ${seed.seed}: ${a} / ${b} = ${wanted}: ${got}`);
  });
}

Deno.test("lowerQuotients() rounds quotients of all floats correctly", () => {
  const random = freshRandom();
  for (const [pragmas, flush] of [[[], false], [["ftz(on)"], true]] as const) {
    const ptx = ptxOf("*(Y + r) = a / b;", pragmas);
    assertEquals(countOf(ptx, /rcp\.approx\.ftz\.f32/g), EACH);
    assertEquals(countOf(ptx, /^\s+@.*bra/gm), EACH / 8);
    for (const [name, draw] of Object.entries(DRAWS)) check(ptx, name, draw, random, flush);
  }
  // The sequence alone: the branch is not taken.
  const alone = ptxOf("*(Y + r) = a / b;").replaceAll("div.rn.f32", "sub.rn.f32");
  check(alone, "no exceptions", ordinary, random);
  const function_ = ptxOf("*(Y + r) = div_rn(a, b);", ["fast_div(on)"]);
  assertEquals(countOf(function_, /rcp\.approx\.ftz\.f32/g), EACH);
  check(function_, "div_rn", ordinary, random);
  // A divisor or a numerator that all elements have in common.
  for (const draw of [ordinary, anyBits]) {
    check(ptxOf("*(Y + r) = 1 / b;"), "1 / b", (from) => [1, draw(from)[1]], random);
    check(ptxOf("*(Y + r) = a / 3;"), "a / 3", (from) => [draw(from)[0], 3], random);
    check(ptxOf("*(Y + r) = a / -4;"), "a / -4", (from) => [draw(from)[0], -4], random);
    check(ptxOf("*(Y + r) = a / 1e-40f;"), "a / 1e-40", (from) => [draw(from)[0], 1e-40], random);
    const b = draw(random)[1];
    check(ptxOf(`*(Y + r) = a / *(X + ${COUNT});`), "uniform", (from) => [
      draw(from)[0],
      b,
    ], random);
  }
});

Deno.test("lowerQuotients() rounds quotients of narrow floats correctly", () => {
  const random = freshRandom();
  const ptx = ptxOf("*(Y + r) = (half[512])a / (half[512])b;");
  assertEquals(countOf(ptx, /rcp\.approx\.ftz\.f32/g), EACH);
  const x = new Float32Array(2 * COUNT).map(() => floatWithin(random, 100, 145));
  const y = new Float32Array(COUNT);
  emulate(ptx, { args: [x, y, int(0)], block: [32, 1, 1] });
  const halves = new Float16Array(x);
  y.forEach((got, i) => {
    const quotient = must(halves[i], "a") / must(halves[COUNT + i], "b");
    assert(Object.is(got, Math.f16round(quotient)), `seed ${random.seed}: ${got} for ${quotient}`);
  });
});

Deno.test("computeTogether() gives functions the bits that they have one by one", () => {
  const random = freshRandom();
  const draws = [floatWithin(random, 110, 135), 0, -0, 1e-30, -100, 100, Infinity, -Infinity, NaN];
  const x = new Float32Array(2 * COUNT).map(() =>
    random.below(20) === 0 ? pick(random, draws) : floatWithin(random, 60, 133)
  );
  for (const body of ["sigmoid(a)", "tanh(a)", "(float[N])sigmoid((bfloat16[N])a)"]) {
    const store = (count: number): string => `*(Y + r) = ${body.replaceAll("N", `${count}`)};`;
    const together = ptxOf(store(COUNT));
    assertEquals(countOf(together, /rcp\.approx/g), EACH, body);
    const got = new Uint32Array(COUNT);
    emulate(together, { args: [x, got, int(0)], block: [32, 1, 1] });
    const alone = ptxOf(store(32), [], 32);
    assert(!alone.includes("rcp."), body);
    for (let i = 0; i < COUNT; i += 32) {
      const wanted = new Uint32Array(32);
      emulate(alone, { args: [x.slice(i, i + 64), wanted, int(0)], block: [32, 1, 1] });
      assertEquals(got.slice(i, i + 32), wanted, `${body}, seed ${random.seed}`);
    }
  }
});

Deno.test("lowerQuotients() leaves the instruction where a sequence does not pay", () => {
  // Few elements in a thread, products by powers of two, constants beyond the windows, and scalars.
  for (
    const [body, count] of [
      ["*(Y + r) = a / b;", 64],
      ["*(Y + r) = a / 4;", COUNT],
      ["*(Y + r) = 1e-30f / b;", COUNT],
      ["*(Y + r) = a / 1e20f;", COUNT],
      ["*(Y + r) = a * (*X / *(X + 1));", COUNT],
    ] as const
  ) {
    const ptx = ptxOf(body, [], count);
    assert(ptx.includes("div.rn.f32") && !ptx.includes("rcp."), body);
  }
  const withoutDots = ptxOf("*(Y + r) = a / b;", [], COUNT, "");
  assertEquals(countOf(withoutDots, /div\.rn\.f32/g), EACH);
  assert(!withoutDots.includes("rcp."));
  const constant = ptxOf("*(Y + r) = a / 3;");
  assert(!constant.includes("rcp.") && countOf(constant, /^\s+@.*bra/gm) === EACH / 8);
  // What elements have in common is made once: the reciprocal of a divisor, the quotient of a row.
  assertEquals(countOf(ptxOf("*(Y + r) = a / *(X + n);"), /rcp\./g), 1);
  // A quotient that a loop does not change is made before it.
  const loop = ptxOf("for (int i = 0; i < n; i++) *(Y + r + i) = a / b;");
  assert(!loop.includes("rcp."));
  assert(loop.lastIndexOf("div.rn.f32") < loop.search(/^\w+:$/m));
});

/** `numerator / 2^bits`, rounded to nearest, ties to even. */
function shifted(numerator: bigint, bits: bigint): bigint {
  const [down, half] = [numerator >> bits, 1n << (bits - 1n)];
  const rest = numerator - (down << bits);
  return rest > half || (rest === half && (down & 1n) === 1n) ? down + 1n : down;
}

/** A number of any size rounded to 24 bits. */
function rounded(value: bigint): bigint {
  const excess = value.toString(2).replace("-", "").length - 24;
  return excess <= 0 ? value : shifted(value, BigInt(excess)) << BigInt(excess);
}

/** a / b by the sequence from an approximation of 2^47 / b; the result is times 2^scale. */
function sequence(a: bigint, b: bigint, near: bigint, scale: bigint): bigint {
  // 1 - by is exact: its last bit is that of the product, and it has no more than 24.
  const error = rounded((1n << 47n) - b * near);
  const y = shifted((near << 47n) + near * error, 47n);
  const q = rounded(shifted(a * y, 47n - scale));
  const rest = rounded((a << scale) - b * q);
  return rounded(shifted((q << 47n) + y * rest, 47n));
}

Deno.test("the sequence of lowerQuotients() is exact from any reciprocal within a unit", () => {
  const random = freshRandom();
  const fraction = (): bigint =>
    BigInt(2 ** 23 + (random.below(3) > 0 ? random.below(2 ** 23) : 2 ** 23 - 1 - random.below(9)));
  for (let i = 0; i < 4000; i++) {
    const b = fraction();
    const between = BigInt(2 * random.below(2 ** 23)) + (1n << 24n) + 1n;
    const near = (b * between) >> 25n;
    const a = random.below(2) === 0 || near < 1n << 23n
      ? fraction()
      : near + BigInt(random.below(2));
    const scale = a < b ? 24n : 23n;
    const [down, rest] = [(a << scale) / b, (a << scale) % b];
    const wanted = 2n * rest > b || (2n * rest === b && (down & 1n) === 1n) ? down + 1n : down;
    const below = (1n << 47n) / b;
    // With this divisor and numerator the float below the reciprocal is 1/2, and stays it. The hardware's is the one above:
    // `div.rn.f32` is the same sequence (ptxas 11.8 to 13.0, sm_80 and sm_90).
    const isTie = b === (1n << 24n) - 1n && a === 1n << 23n;
    for (const y of isTie ? [below + 1n] : [below, below + 1n]) {
      if (y > 1n << 24n) continue;
      const got = sequence(a, b, y, scale);
      assert(got === wanted, `seed ${random.seed}: ${a} / ${b} from ${y}: ${got}, not ${wanted}`);
    }
  }
});

/** Numerators around the ends of what is done without a branch, zeros among them. */
const OVER_ONE: Readonly<Record<string, (random: Random) => number>> = {
  "any bits": (random) => floatWithin(random, 0, 255),
  "ordinary numbers": (random) => floatWithin(random, 30, 190),
  "ends": (random) => nearPower(random, [-103, -102, -101, -79, -78, -77, 96, 97, -126, 127]),
  "special values": (random) => pick(random, SPECIAL),
  "zeros": (random) => pick(random, [0, -0, 1e-20, -3, 2 ** -100, NaN]),
};

Deno.test("divideByOne() rounds quotients of all floats by one of them correctly, without dots", () => {
  const random = freshRandom();
  for (const [pragmas, flush] of [[[], false], [["ftz(on)"], true]] as const) {
    const ptx = ptxOf(`*(Y + r) = a / *(X + ${COUNT});`, pragmas, COUNT, "");
    assertEquals(countOf(ptx, /rcp\.approx\.ftz\.f32/g), 1);
    for (const [name, draw] of Object.entries(OVER_ONE)) {
      for (let i = 0; i < 12; i++) {
        const near = nearPower(random, [-25, -24, -23, 21, 22, 23]);
        const b = pick(random, [
          floatWithin(random, 104, 147),
          near,
          -near,
          pick(random, SPECIAL),
          (2 ** 24 - random.below(8)) * 2 ** -20,
        ]);
        check(ptx, `${name} over one`, (from) => [draw(from), b], random, flush);
      }
    }
  }
  // The sequence alone: zeros of both signs, and what rounds to few bits.
  const alone = ptxOf(`*(Y + r) = a / *(X + ${COUNT});`, [], COUNT, "")
    .replaceAll("div.rn.f32", "sub.rn.f32");
  for (let i = 0; i < 20; i++) {
    const b = Math.abs(floatWithin(random, 104, 147));
    check(alone, "no exceptions", (from) => [
      pick(from, [0, -0, NaN, floatWithin(from, 26, 222), floatWithin(from, 26, 222)]),
      b,
    ], random);
  }
});

Deno.test("divideByOne() divides rows of a tile by numbers of their own", () => {
  const ptx = ptxOf(
    `float s[16] = reshape(b, 16, 32)[:, +];
  float q[16, 32] = reshape(a, 16, 32) / s[:, newaxis];
  *(Y + r) = reshape(q, 512);`,
    [],
    COUNT,
    "",
  );
  const random = freshRandom();
  const x = new Float32Array(2 * COUNT).map(() => random.below(64) - 8);
  const y = new Float32Array(COUNT);
  emulate(ptx, { args: [x, y, int(0)], block: [32, 1, 1] });
  y.forEach((got, i) => {
    let sum = 0;
    for (let j = 0; j < 32; j++) sum += x[COUNT + i - i % 32 + j] ?? NaN;
    const wanted = Math.fround((x[i] ?? NaN) / sum);
    assert(Object.is(got, wanted), `seed ${random.seed}: ${i} ${got} for ${wanted}`);
  });
});
