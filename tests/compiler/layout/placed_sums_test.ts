/**
 * Results of reductions that are read in the layout of their users, on the emulator, against double precision and whole
 * numbers: for all targets, along rows, of as many warps as make parts or more than are read.
 */
import { CompiledText, type Elements } from "../../support/compiler/value_run.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { freshRandom } from "../../support/random.ts";
import type { Scalar } from "../../support/typed_arrays.ts";

interface Case {
  readonly name: string;
  readonly from: Elements["type"];
  readonly to: Elements["type"];
  /** Types in the text, and what is stored of `x`, a tile of rows and columns. */
  readonly types: readonly [from: string, to: string];
  readonly text: string;
  readonly result: (column: readonly number[]) => number;
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

const CASES: readonly Case[] = [
  {
    name: "sums of halves, computed on",
    from: "float16",
    to: "float32",
    types: ["half", "float"],
    text: "((float[ROWS, COLS])x)[+, :] * 0.5 + 3",
    result: (column) => sum(column) * 0.5 + 3,
  },
  {
    name: "maxima",
    from: "float32",
    to: "float32",
    types: ["float", "float"],
    text: "x[max, :]",
    result: (column) => Math.max(...column),
  },
  {
    name: "places, of two words",
    from: "float32",
    to: "int32",
    types: ["float", "int"],
    text: "x[argmin, :]",
    result: (column) => column.indexOf(Math.min(...column)),
  },
  {
    name: "doubles, and quotients of two sums",
    from: "float64",
    to: "float64",
    types: ["double", "double"],
    text: "x[+, :] / (x * x)[+, :]",
    result: (column) => sum(column) / sum(column.map((x) => x * x)),
  },
  {
    name: "long integers as halves",
    from: "int64",
    to: "float16",
    types: ["long", "half"],
    text: "(half[COLS])x[max, :]",
    result: (column) => Math.max(...column),
  },
];

const textOf = (
  { types: [from, to], text }: Case,
  [rows, columns, warps]: readonly [number, number, number],
): string =>
  `#pragma tri num_warps=${warps}
#define ROWS ${rows}
#define COLS ${columns}
__global__ void k(${from} *X, ${to} *Y) {
  int r[ROWS] = 0 ... ROWS, c[COLS] = 0 ... COLS;
  ${from} x[ROWS, COLS] = *(multiple_of(X, 16) + r[:, newaxis] * COLS + c[newaxis, :]);
  *(multiple_of(Y, 16) + c) = ${text};
}`;

const SHAPES = [[64, 128, 8], [32, 64, 4], [64, 16, 2], [128, 32, 16], [8, 256, 4]] as const;

for (const one of CASES) {
  Deno.test(`place-sums: ${one.name}`, () => {
    const random = freshRandom();
    for (const shape of SHAPES) {
      const [rows, columns] = shape;
      for (const kernel of CompiledText.forAll(textOf(one, shape))) {
        const values = Array.from({ length: rows * columns }, () => 1 + random.below(1000));
        const x = one.from === "int64" ? values.map((value) => BigInt(value)) : values;
        const y = new Array<Scalar>(columns).fill(one.to === "int32" ? -7n : NaN);
        const [, found = []] = kernel.run([
          { type: one.from, values: x },
          { type: one.to, values: y },
        ]);
        found.forEach((value, c) => {
          const exact = one.result(values.filter((_, i) => i % columns === c));
          const isNear = Math.abs(Number(value) - exact) <= 2e-6 * Math.abs(exact);
          assert(isNear, `${shape}, column ${c}: ${value} for ${exact}`);
        });
      }
    }
  });
}

Deno.test("place-sums: one barrier is left of two, and none of the copies of what threads do not store", () => {
  const [first] = CASES;
  const text = first && textOf(first, [64, 128, 8]);
  const { ptx } = new CompiledText(text ?? "", "sm_90");
  assertEquals(ptx.match(/bar\.sync/g)?.length, 1);
  assertEquals(ptx.match(/ld\.shared/g)?.length, 8, "a part of each warp");
});
