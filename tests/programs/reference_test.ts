/** The reference interpreter itself: what it computes is checked in constructs_test.ts, here what it leaves open. */
import fc from "../support/property.ts";
import { roundFloat } from "../../compiler/support/arith.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { checkText } from "../support/compiler/check.ts";
import { grainOf } from "../support/reference/formats.ts";
import {
  type FloatName,
  fromBits,
  roundInteger,
  roundTo,
  spacing,
  toBits,
} from "../support/reference/formats.ts";
import { mathCell } from "../support/reference/math.ts";
import {
  type Cell,
  exact,
  integer,
  interpret,
  type Memory,
  Misbehaved,
  pointerTo,
  Undecided,
} from "../support/reference/mod.ts";

const TYPES: readonly FloatName[] = ["float8e4", "float8e5", "float16", "bfloat16", "float32"];

/** Runs statements over `float *Y` of four elements, `n` being 3 and `f` 1.1 as a float. */
function run(body: string): readonly Cell[] {
  const unit = checkText(`__global__ void k(float *Y, int n, float f) { ${body} }`).unit;
  const memory: Memory = { name: "Y", element: "float32", cells: Array(4).fill(exact(0)) };
  const args = [pointerTo(memory), integer(3n), exact(Math.fround(1.1))];
  interpret(must(unit.kernels[0], "the kernel"), args, [1, 1, 1]);
  return memory.cells;
}

function errorOf(body: string): number {
  const [cell] = run(body);
  return cell?.kind === "float" ? cell.error : NaN;
}

Deno.test("roundTo() agrees with the compiler's rounding at values, between them and halfway", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...TYPES),
      fc.double(),
      fc.integer({ min: -2, max: 2 }),
      (type, x, q) => {
        const near = roundTo(x, type);
        const probe = Number.isFinite(near) ? near + q * spacing(near, type) / 4 : x;
        assertEquals(roundTo(x, type), roundFloat(x, type));
        assertEquals(roundTo(probe, type), roundFloat(probe, type));
      },
    ),
    { numRuns: 3000 },
  );
});

Deno.test("roundInteger() rounds once, however long the integer is", () => {
  assertEquals(roundInteger(2n ** 62n + 2n ** 54n + 1n, "bfloat16"), 2 ** 62 + 2 ** 55);
  assertEquals(roundInteger(2n ** 62n + 2n ** 54n, "bfloat16"), 2 ** 62);
  assertEquals(roundInteger(-(2n ** 24n) - 1n, "float32"), -(2 ** 24));
});

Deno.test("fromBits() and toBits() undo each other for every pattern of the small types", () => {
  for (const type of ["float8e4", "float8e5", "float16", "bfloat16"] as const) {
    const bits = type.startsWith("float8") ? 8 : 16;
    for (let pattern = 0; pattern < 2 ** bits; pattern++) {
      const value = fromBits(BigInt(pattern), type);
      if (!Number.isNaN(value)) assertEquals(toBits(value, type), BigInt(pattern));
    }
  }
});

Deno.test("grainOf() finds the lowest digit of any number", () => {
  fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (x) => {
    const grain = grainOf(x);
    if (x === 0) return assertEquals(grain, Infinity);
    assert(Number.isInteger(x / grain) || Math.abs(x / grain) === Infinity, `${x} / ${grain}`);
    assert(Math.abs(x / grain) % 2 === 1 || Math.abs(x / grain) === Infinity, `${x} / ${grain}`);
  }));
  assertEquals([12, 0.75, 5e-324, -(2 ** 80)].map(grainOf), [4, 0.25, 5e-324, 2 ** 80]);
});

Deno.test("interpret() leaves open whether a product is fused into a sum, and nothing else", () => {
  assertEquals(errorOf("Y[0] = f * f;"), 0);
  assertEquals(errorOf("Y[0] = f + f;"), 0);
  assertEquals(errorOf("Y[0] = f * 2.0f + 1.0f;"), 0);
  const fused = errorOf("Y[0] = f * f + 1.0f;");
  assert(fused > 0 && fused < 2 ** -20);
});

Deno.test("interpret() takes a sum as exact where every order gives the same", () => {
  assertEquals(errorOf("float x[8] = (0 ... 8) * 0.25f; Y[0] = x[+];"), 0);
  assert(errorOf("float x[8] = (0 ... 8) * f; Y[0] = x[+];") > 0);
});

Deno.test("interpret() lets each step of a dot round to the least number", () => {
  const tiny = "float a[4, 4] = (0 ... 4)[newaxis, :] * 1.5f + f; float b[4, 4] = 1.0e-44f;";
  assert(errorOf(`${tiny} Y[0] = (a @ b)[max, max];`) >= 4 * 2 ** -149);
});

Deno.test("interpret() stops where rounding decides the way, and where a program leaves its buffers", () => {
  assertThrows(() => run("float x = f * f + 1.0f; if (x == 2.21f) Y[0] = 1;"), Undecided);
  assertThrows(() => run("float x; if (x > 0) Y[0] = 1;"), Undecided);
  assertThrows(() => run("Y[n + 1] = 1;"), Misbehaved);
  assertThrows(() => run("while (n > 0) Y[0] = 1;"), Misbehaved);
});

Deno.test("mathCell() rounds a fused multiply-add once, also below the normal numbers", () => {
  const fma = (a: number, b: number, c: number, type: FloatName): number =>
    mathCell("fma", [a, b, c].map(exact), type).value;
  assertEquals(fma(1 + 2 ** -12, 1 + 2 ** -12, 2 ** -60, "float32"), 1 + 2 ** -11 + 2 ** -23);
  assertEquals(fma(2 ** -600, 2 ** -474, 0, "float64"), 2 ** -1074);
  assertEquals(fma(2 ** -600, -1.5 * 2 ** -474, 0, "float64"), -2 * 2 ** -1074);
});
