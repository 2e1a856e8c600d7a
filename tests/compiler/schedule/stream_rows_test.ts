/**
 * Rows that several loops go over, on the emulator, against double precision: for all targets, where the last loop reads
 * what the one before has stored, also in place.
 */
import type { Scalar } from "../../support/typed_arrays.ts";
import { CompiledText, type Elements } from "../../support/compiler/value_run.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { int } from "../../support/emulate.ts";
import { freshRandom } from "../../support/random.ts";

const ROWS = 3;
const BLOCK = 256;

/** Softmax in three loops; the second one stores exponentials, which the third one divides where they are. */
const softmax = (params: string, result: string): string =>
  `#pragma tri grid(M)
#pragma tri num_warps=2
__global__ void k(${params}, int M, int N) {
  float *x0 = X + get_program_id(0) * N;
  float *y0 = ${result} + get_program_id(0) * N;
  float m = -F32_INFINITY;
  for (int c = 0; c < N; c += ${BLOCK}) {
    int k[${BLOCK}] = c + 0 ... ${BLOCK};
    float x[${BLOCK}] = load(x0 + k, k < N, -F32_INFINITY);
    m = max(m, x[max]);
  }
  float s = 0;
  for (int c = 0; c < N; c += ${BLOCK}) {
    int k[${BLOCK}] = c + 0 ... ${BLOCK};
    float x[${BLOCK}] = load(x0 + k, k < N, -F32_INFINITY);
    float e[${BLOCK}] = exp(x - m);
    *?(k < N) (y0 + k) = e;
    s += e[+];
  }
  for (int c = 0; c < N; c += ${BLOCK}) {
    int k[${BLOCK}] = c + 0 ... ${BLOCK};
    *?(k < N) (y0 + k) = *?(k < N) (y0 + k) / s;
  }
}`;

const exponentials = (row: readonly number[]): readonly number[] => {
  const top = Math.max(...row);
  const powers = row.map((x) => Math.exp(x - top));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
};

for (const isInPlace of [false, true]) {
  Deno.test(`stream-rows: softmax that is stored twice${isInPlace ? ", in place" : ""}`, () => {
    const random = freshRandom();
    const text = isInPlace ? softmax("float *X", "X") : softmax("float *X, float *Y", "Y");
    for (const kernel of CompiledText.forAll(text)) {
      for (const columns of [1, BLOCK, 3 * BLOCK - 5]) {
        const values = Array.from({ length: ROWS * columns }, () => (random.below(512) - 256) / 32);
        const x: Elements = { type: "float32", values };
        const poison = new Array<Scalar>(values.length).fill(NaN);
        const tensors = isInPlace ? [x] : [x, { type: "float32", values: poison } as const];
        const found = kernel.run([...tensors, int(ROWS), int(columns)], ROWS).at(-1) ?? [];
        for (let row = 0; row < ROWS; row++) {
          const at = row * columns;
          exponentials(values.slice(at, at + columns)).forEach((exact, i) => {
            const error = Math.abs(Number(found[at + i]) - exact);
            assert(error <= 1e-5 * exact + 1e-9, `${columns} columns, row ${row}, element ${i}`);
          });
        }
      }
    }
  });
}

Deno.test("stream-rows: each tensor streams in the loop that has it last", () => {
  const { ptx } = new CompiledText(softmax("float *X, float *Y", "Y"), "sm_90");
  const kinds = (access: string): readonly string[] =>
    [...new Set(ptx.match(new RegExp(`${access}\\.global(\\.cs)?`, "g")))].sort();
  // X in the second loop, whose stores are read again, and Y in the third one.
  assertEquals(kinds("ld"), ["ld.global", "ld.global.cs"]);
  assertEquals(kinds("st"), ["st.global", "st.global.cs"]);
});
