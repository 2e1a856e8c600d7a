/** Attention as it was published in 2022, which masks every block, on the emulator: compared with double precision. */
import { must } from "../../../compiler/support/bug.ts";
import { assert } from "../../support/assert.ts";
import { ROUNDING } from "../../support/bounds.ts";
import { compileForms, runEntry, serves } from "../../support/forms/form_run.ts";
import { attentionReference } from "../../support/kernels/attention.ts";
import { randomNumbers } from "../../support/numbers.ts";
import { testsInTurn } from "../../support/sampled.ts";
import { decode, encode } from "../../support/typed_arrays.ts";

const TEXT = `
#pragma tri config; num_warps=4
__global__ void attend(half *Q __noalias, half *K __noalias, half *V __noalias, half *O __noalias,
                       float scale, int M, int N) {
  int rm[64] = get_program_id(0) * 64 + 0 ... 64;
  int rd[64] = 0 ... 64;
  half q[64, 64] = *?(rm[:, newaxis] < M) (Q + rm[:, newaxis] * 64 + rd[newaxis, :]);
  float top[64] = -INFINITY;
  float sum[64] = 0;
  float o[64, 64] = 0;
  for (int n = 0; n < N; n += 32) {
    int rn[32] = n + 0 ... 32;
    half k[32, 64] = *?(rn[:, newaxis] < N) (K + rn[:, newaxis] * 64 + rd[newaxis, :]);
    half v[32, 64] = *?(rn[:, newaxis] < N) (V + rn[:, newaxis] * 64 + rd[newaxis, :]);
    float s[64, 32] = q @ ^k;
    s = s * scale;
    s = MASK;
    float newer[64] = max(top, s[:, max]);
    float p[64, 32] = exp(s - newer[:, newaxis]);
    float shrink[64] = exp(top - newer);
    sum = sum * shrink + p[:, +];
    o = o * shrink[:, newaxis];
    o += (half[64, 32])p @ v;
    top = newer;
  }
  *?(rm[:, newaxis] < M) (O + rm[:, newaxis] * 64 + rd[newaxis, :]) = o / sum[:, newaxis];
}
`;

const CASES = [
  { title: "columns that there are", mask: "rn[newaxis, :] < N ? s : -INFINITY", causal: false },
  {
    title: "columns that rows see",
    mask: "(rm[:, newaxis] >= rn[newaxis, :] && rn[newaxis, :] < N) ? s : -INFINITY",
    causal: true,
  },
  {
    title: "columns that they do not see",
    mask: "rm[:, newaxis] < rn[newaxis, :] ? -INFINITY : s",
    causal: true,
  },
];

const test = testsInTurn(2);

for (const { title, mask, causal } of CASES) {
  test(`wholeMasks() keeps the results of attention: ${title}`, () => {
    const compiled = compileForms(TEXT.replace("MASK", mask), {});
    for (const rows of [1, 31, 100, 160]) {
      const draw = (): readonly number[] => randomNumbers("float16", rows * 64, 1);
      const [q, k, v] = [draw(), draw(), draw()];
      const scale = 0.125;
      const size = { batches: 1, heads: 1, m: rows, n: rows, d: 64 };
      const expected = attentionReference(size, { q, k, v, scale, causal });
      const entry = must(compiled.entries[0], "entry");
      const text = must(compiled.ptx.split(/(?=\.visible \.entry )/)[1], "code");
      assert(/@%p\d+ bra/.test(text), "no branch");
      for (const code of [entry, ...entry.forms ?? []]) {
        const args = {
          ...{ Q: encode("float16", q), K: encode("float16", k), V: encode("float16", v) },
          ...{ O: encode("float16", new Array<number>(rows * 64).fill(NaN)), M: rows, N: rows },
          scale: must(new Int32Array(Float32Array.of(scale).buffer)[0], "bits"),
        };
        const launch = { grid: [Math.ceil(rows / 64), 1, 1] as const, args };
        if ("maps" in code) assert(serves(code, launch), "the form does not serve the launch");
        runEntry(compiled, code, launch);
        decode("float16", args.O).forEach((value, i) => {
          const error = Math.abs(Number(value) - must(expected.o[i], "element"));
          assert(
            error <= 3 * must(ROUNDING.float16, "") + 1e-5,
            `${value} at ${i} of ${rows} rows`,
          );
        });
      }
    }
  });
}
