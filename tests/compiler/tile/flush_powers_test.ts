/**
 * Powers that flush, on the emulator: results have the bits that they have without, whatever is in the rows; where the sum is in
 * another order, they are within one unit of the last place. Maxima of texts that do not show a power are found, others are not.
 */
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { type Compiled, compileForms, runEntry } from "../../support/forms/form_run.ts";
import { runCase } from "../../passes/pass_file.ts";
import { freshRandom } from "../../support/random.ts";
import { decode, encode } from "../../support/typed_arrays.ts";

const ROWS = 16;
const BLOCKS = 4;
const COLUMNS = 16 * BLOCKS;

/** What is summed and multiplied comes from memory, so that a test says which powers there are. */
const textOf = (body: string, start = "-INFINITY", first = "0"): string => `
#pragma tri config; num_warps=1
__global__ void f(float *X, half *V, half *O, float *L, float c) {
  int i[16] = 0 ... 16;
  float top[16] = ${start};
  float l[16] = ${first};
  float acc[16, 16] = 0;
  for (int n = 0; n < ${COLUMNS}; n += 16) {
    float x[16, 16] = *(X + i[:, newaxis] * ${COLUMNS} + (n + i)[newaxis, :]);
    half v[16, 16] = *(V + (n + i)[:, newaxis] * 16 + i[newaxis, :]);
    ${body}
    acc += (half[16, 16])p @ v;
    top = newer;
  }
  *(O + i[:, newaxis] * 16 + i[newaxis, :]) = (half[16, 16])acc;
  *(L + i) = l;
}
`;

const PLAIN = `
    float newer[16] = max(top, x[:, max]);
    float p[16, 16] = exp(x - newer[:, newaxis]);
    float alpha[16] = exp(top - newer);
    l = l * alpha + p[:, +];
    acc *= alpha[:, newaxis];`;
const IN_TWO = PLAIN.replaceAll("exp(", "exp2(");
/** Sums that are normalised in each iteration. */
const NORMAL = `
    float newer[16] = max(x[:, max], top);
    l *= exp(top - newer);
    float p[16, 16] = exp(x - newer[:, newaxis]);
    float sum[16] = p[:, +] + l;
    float r[16] = 1. / sum;
    p *= r[:, newaxis];
    acc *= (l * r)[:, newaxis];
    l = sum;`;
/** Maxima of blocks. */
const OWN = `
    float here[16] = x[:, max];
    float p[16, 16] = exp(x - here[:, newaxis]);
    float newer[16] = max(top, here);
    float alpha[16] = exp(top - newer);
    float beta[16] = exp(here - newer);
    float sum[16] = alpha * l + beta * p[:, +];
    p = p * (beta / sum)[:, newaxis];
    acc = acc * (l / sum * alpha)[:, newaxis];
    l = sum;`;

/** The same with a first block before the loop. */
const AFTER_ONE = textOf(PLAIN)
  .replace(
    /float top[^]*?for \(int n = 0/,
    `float x0[16, 16] = *(X + i[:, newaxis] * ${COLUMNS} + i[newaxis, :]);
  half v0[16, 16] = *(V + i[:, newaxis] * 16 + i[newaxis, :]);
  float top[16] = x0[:, max];
  float p0[16, 16] = exp(x0 - top[:, newaxis]);
  float l[16] = p0[:, +];
  float acc[16, 16] = (half[16, 16])p0 @ v0;
  for (int n = 16`,
  );

/** Where powers flush. */
const FLUSHED: Readonly<Record<string, string>> = {
  "from minus infinity": textOf(PLAIN),
  "powers of 2, from a finite number": textOf(IN_TWO, "-1e30f", "1"),
  "from the least number": textOf(PLAIN, "-3.402823466e38f"),
  "from a number whose neighbours have normal powers": textOf(PLAIN, "-1e9f"),
  "of a scaled maximum": textOf(
    IN_TWO.replace("x[:, max]", "x[:, max] * c").replace("exp2(x -", "exp2(x * c -"),
  ),
  "of scaled differences": textOf(
    IN_TWO.replace("exp2(x - newer[:, newaxis]", "exp2(x * c - newer[:, newaxis] * c")
      .replace("top - newer", "(top - newer) * c"),
  ),
  "with rows that are masked as a whole": textOf(
    PLAIN.replaceAll("- newer", "- safe")
      .replace("float p[", "float safe[16] = newer == -INFINITY ? 0.0f : newer;\n    float p["),
  ),
  "normalised in each iteration": textOf(NORMAL),
  "of blocks": textOf(OWN),
  "after a block before the loop": AFTER_ONE,
  "of logarithms": textOf(
    PLAIN.replace("l = l * alpha", "l = alpha").replace("top - newer", "l - newer")
      .replace("max(top,", "max(l,") + "\n    l = newer + log(l);",
    "-INFINITY",
    "-INFINITY",
  ),
};

/** Where they must not. */
const KEPT: Readonly<Record<string, string>> = {
  "from zero": textOf(PLAIN, "0"),
  "from a number with near neighbours": textOf(PLAIN, "-1e6f"),
  "from a sum that cancels": textOf(PLAIN, "-1e30f", "-1"),
  "of other numbers than the maximum's": textOf(
    PLAIN.replace("exp(x -", "exp((x > c ? x : -INFINITY) -"),
  ),
  "of a maximum along the other axis": textOf(PLAIN.replace("x[:, max]", "x[max, :]")),
  "less the maximum of columns": textOf(PLAIN.replace("newer[:, newaxis]", "newer[newaxis, :]")),
  "with an fma": textOf(
    IN_TWO.replace("x[:, max]", "x[:, max] * c")
      .replace("x - newer[:, newaxis]", "fma(x, c, -newer[:, newaxis])"),
  ),
  "with a sum that shrinks more": textOf(PLAIN.replace("exp(top - newer)", "exp(top - newer - 1)")),
  "with a sum that is stored": textOf(`${PLAIN}\n    *(L + i) = p[:, +];`),
  "with powers that are stored": textOf(
    `${PLAIN}\n    *(X + i[:, newaxis] * ${COLUMNS} + (n + i)[newaxis, :]) = p;`,
  ),
  "with products of bfloat16": textOf(PLAIN).replace(
    "(half[16, 16])p @ v",
    "(bfloat16[16, 16])p @ (bfloat16[16, 16])v",
  ),
  "with a maximum that is carried alone": textOf(PLAIN.replace("l = l * alpha + p", "l = p")),
  "with a maximum that is changed": textOf(`${PLAIN}\n    newer = newer + c;`),
};

/** The entry whose sums of powers flush; what is left of the others' is `alpha`. */
const flushes = ({ ptx }: Compiled): boolean => ptx.includes("ex2.approx.ftz.f32");

for (const [title, text] of Object.entries(KEPT)) {
  Deno.test(`flushPowers() keeps subnormal powers ${title}`, () =>
    assertEquals(flushes(compileForms(text, {})), false));
}

/** Rows of blocks, of which each has scores of its own kind: differences in the whole range of powers, and what has none. */
function scores(scale: number): readonly number[] {
  const random = freshRandom();
  const near = (size: number): number => (random.unit() - 0.5) * size;
  const kinds: readonly (() => number)[] = [
    () => near(4),
    () => -87.5 - random.unit() * 17,
    () => -random.unit() * 104,
    () => random.below(3) === 0 ? -Infinity : -80 - random.unit() * 30,
    () => -Infinity,
    () => -1e30,
    () => 1e30 + near(1e25),
    () => (random.below(2) === 0 ? 3e38 : -3e38),
    () => -3.4028234663852886e38,
    () => random.below(16) === 0 ? Infinity : near(300),
    () => random.below(16) === 0 ? NaN : near(300),
    () => -1e9 - 64 * random.below(4),
    () => random.below(16) === 0 ? 0 : -0,
  ];
  return Array.from({ length: ROWS }, (_, row) => {
    const base = row < 8 ? near(200) : 0;
    return Array.from({ length: BLOCKS }, () => {
      const kind = must(kinds[row < 4 ? random.below(4) : random.below(kinds.length)], "kind");
      const first = random.below(2) === 0 ? base / scale : undefined;
      return Array.from(
        { length: 16 },
        (_, at) => at === 5 && first !== undefined ? first : (base + kind()) / scale,
      );
    });
  }).flat(2);
}

interface Results {
  readonly halves: Uint8Array;
  readonly sums: Uint8Array;
}

function run(compiled: Compiled, x: readonly number[], v: readonly number[], c: number): Results {
  const halves = encode("float16", new Array<number>(ROWS * 16).fill(7));
  const sums = encode("float32", new Array<number>(ROWS).fill(7));
  const args = {
    ...{ X: encode("float32", x), V: encode("float16", v), O: halves, L: sums },
    c: must(new Int32Array(Float32Array.of(c).buffer)[0], "bits"),
  };
  runEntry(compiled, must(compiled.entries[0], "entry"), { grid: [1, 1, 1], args });
  return { halves, sums };
}

const withSubnormals = (compiled: Compiled): Compiled => ({
  ...compiled,
  ptx: compiled.ptx.replaceAll("ex2.approx.ftz.f32", "ex2.approx.f32"),
});

for (const [title, text] of Object.entries(FLUSHED)) {
  Deno.test(`flushPowers() changes no bit of sums and products ${title}`, () => {
    const compiled = compileForms(text, {});
    assert(flushes(compiled), "no power flushes");
    for (const c of [1, 0.125, -3, 1e25, Infinity]) {
      const x = scores(Math.abs(c) < 10 ? c : 1);
      const v = x.map((_, at) => at % 7 === 0 ? 65504 : at % 13 / 4 - 1);
      const flushed = run(compiled, x, v, c);
      assertEquals(flushed, run(withSubnormals(compiled), x, v, c));
    }
  });
}

Deno.test("flushPowers() would show powers that flush where it keeps them", () => {
  const compiled = compileForms(must(KEPT["from zero"], "text"), {});
  const flushed = {
    ...compiled,
    ptx: compiled.ptx.replaceAll("ex2.approx.f32", "ex2.approx.ftz.f32"),
  };
  const x = new Array<number>(ROWS * COLUMNS).fill(-88);
  const v = new Array<number>(COLUMNS * 16).fill(1);
  const sumsOf = (one: Compiled): Uint8Array => run(one, x, v, 1).sums;
  assert(decode("float32", sumsOf(compiled)).every((sum) => Number(sum) > 0), "no sum");
  assert(decode("float32", sumsOf(flushed)).every((sum) => Number(sum) === 0), "a sum");
});

/** Unrolled iterations. */
const inTurn = (count: number, of: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => of(n)).join("\n");

Deno.test("flushPowers() looks at few operations of a long program", () => {
  const text = `func @f(%0 X: float32*[16], %1 Y: float16*[16], %2 c: bool[16]) {
    %3: float32[16] = load %0
    %10: float32[16] = math %3 {function = "exp"}
    ${inTurn(20_000, (n) => `%${n + 11}: float32[16] = select %2, %${n + 10}, %3`)}
    %20011: float16[16] = convert %20010
    store %1, %20011
    return
  }`;
  assert(runCase(["flush-powers"], text).isSame, "it flushes");
  const sums = `func @f(%0 X: float32*[16], %1 Y: float32*, %2 c: bool) {
    %3: float32[16] = load %0
    %4: float32 = constant -inf
    %5: float32 = constant 0.0
    %6: float32 = reduce %3 {axis = 0, operator = "max"}
    ${
    inTurn(1000, (n) => {
      const [top, sum, at] = n === 0 ? [4, 5, 10] : [10 * n + 8, 10 * n + 9, 10 * n + 10];
      return `%${at}: float32 = max %${top}, %6
    %${at + 1}: float32[16] = splat %${at}
    %${at + 2}: float32[16] = sub %3, %${at + 1}
    %${at + 3}: float32[16] = math %${at + 2} {function = "exp"}
    %${at + 4}: float32 = reduce %${at + 3} {axis = 0, operator = "add"}
    %${at + 5}: float32 = sub %${top}, %${at}
    %${at + 6}: float32 = math %${at + 5} {function = "exp"}
    %${at + 7}: float32 = math %${sum}, %${at + 6}, %${at + 4} {function = "fma"}
    %${at + 8}: float32, %${at + 9}: float32 = if %2 {
      yield %${at}, %${at + 7}
    } {
      yield %${top}, %${sum}
    }`;
    })
  }
    store %1, %10009
    return
  }`;
  const { after } = runCase(["flush-powers"], sums);
  const flushed = after.match(/flushes = true/g)?.length ?? 0;
  assert(flushed > 10 && flushed < 400, `${flushed} flush`);
});

Deno.test("flushPowers() adds flushed powers last: ties one above the other give another last bit, no more", () => {
  const compiled = compileForms(
    `
#pragma tri config; num_warps=1
__global__ void f(float *X, half *Y, float *L) {
  int i[64] = 0 ... 64;
  float x[64] = *(X + i);
  float p[64] = exp2(x - x[max]);
  *(Y + i) = (half)p;
  *L = p[+];
}`,
    {},
  );
  // Each power is half a unit of the last place of the next one, and the first one decides whether it is more, in an order in
  // which neighbours are added first.
  const places = [0, 32, 1, 2, 4, 8, 16];
  const powers = [-143.4, -120, -96, -72, -48, -24, 0];
  const x = Array.from({ length: 64 }, (_, at) => powers[places.indexOf(at)] ?? -Infinity);
  const sumOf = (one: Compiled): number => {
    const L = encode("float32", [7]);
    const args = {
      X: encode("float32", x),
      Y: encode("float16", new Array<number>(64).fill(7)),
      L,
    };
    runEntry(one, must(one.entries[0], "entry"), { grid: [1, 1, 1], args });
    return Number(decode("float32", L)[0]);
  };
  assertEquals(sumOf(compiled), 1);
  assert(Math.abs(sumOf(withSubnormals(compiled)) - 1) <= 2 ** -23, "another sum");
});
