/** Attention that normalises its sums in each iteration, by warp groups on the emulator, compared with double precision. */
import { must } from "../../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { ROUNDING } from "../../../support/bounds.ts";
import { compileForms, runEntry, serves } from "../../../support/forms/form_run.ts";
import { attentionReference } from "../../../support/kernels/attention.ts";
import { randomNumbers } from "../../../support/numbers.ts";
import { decode, encode } from "../../../support/typed_arrays.ts";

const textOf = (columns: number, update: string): string => `
#pragma tri config; num_warps=4
__global__ void attend(half *Q __noalias, half *K __noalias, half *V __noalias, half *O __noalias,
                       float scale, int M, int N) {
  int rm[64] = get_program_id(0) * 64 + 0 ... 64;
  int rd[64] = 0 ... 64;
  half q[64, 64] = *?(rm[:, newaxis] < M) (Q + rm[:, newaxis] * 64 + rd[newaxis, :]);
  float top[64] = -INFINITY;
  float sum[64] = 0;
  float o[64, 64] = 0;
  for (int n = 0; n < N; n += ${columns}) {
    int rn[${columns}] = n + 0 ... ${columns};
    half k[${columns}, 64] = *?(rn[:, newaxis] < N) (K + rn[:, newaxis] * 64 + rd[newaxis, :]);
    half v[${columns}, 64] = *?(rn[:, newaxis] < N) (V + rn[:, newaxis] * 64 + rd[newaxis, :]);
    float s[64, ${columns}] = q @ ^k;
    s = s * scale;
    s = rn[newaxis, :] < N ? s : -INFINITY;
    float newer[64] = max(top, s[:, max]);
    float p[64, ${columns}] = exp(s - newer[:, newaxis]);
    float shrink[64] = exp(top - newer);
    ${update}
    o += (half[64, ${columns}])p @ v;
    top = newer;
  }
  *?(rm[:, newaxis] < M) (O + rm[:, newaxis] * 64 + rd[newaxis, :]) = o RESULT;
}
`;

const NORMAL = `sum = sum * shrink;
    float newest[64] = sum + p[:, +];
    p = p * (1 / newest)[:, newaxis];
    o = o * (sum / newest)[:, newaxis];
    sum = newest;`;
const AT_LAST = `sum = sum * shrink + p[:, +];
    o = o * shrink[:, newaxis];`;

const CASES = [
  { title: "sums of wide tiles are", columns: 128, update: NORMAL, result: "", waits: true },
  { title: "sums of narrow tiles are not", columns: 64, update: NORMAL, result: "", waits: false },
  {
    title: "maxima alone are not",
    columns: 128,
    update: AT_LAST,
    result: "/ sum[:, newaxis]",
    waits: false,
  },
];

/** From the wait for the first dot of a round to that for the last one. */
const ROUND =
  /wgmma\.wait_group\.sync\.aligned 1;(?:(?!wgmma).)*wgmma\.wait_group\.sync\.aligned 0;/gs;

for (const { title, columns, update, result, waits } of CASES) {
  Deno.test(`powersComeFirst(): powers that lead to ${title} done before the wait`, () => {
    const compiled = compileForms(textOf(columns, update).replace("RESULT", result), {});
    const rounds = compiled.ptx.match(ROUND) ?? [];
    assert(rounds.length > 0, "no round");
    assertEquals(rounds.map((text) => text.includes("mbarrier.try_wait")), rounds.map(() => waits));
    for (const rows of [100, 400]) {
      const draw = (): readonly number[] => randomNumbers("float16", rows * 64, 1);
      const [q, k, v] = [draw(), draw(), draw()];
      const scale = 0.125;
      const size = { batches: 1, heads: 1, m: rows, n: rows, d: 64 };
      const expected = attentionReference(size, { q, k, v, scale, causal: false });
      const entry = must(compiled.entries[0], "entry");
      for (const code of entry.forms ?? []) {
        const args = {
          ...{ Q: encode("float16", q), K: encode("float16", k), V: encode("float16", v) },
          ...{ O: encode("float16", new Array<number>(rows * 64).fill(NaN)), M: rows, N: rows },
          scale: must(new Int32Array(Float32Array.of(scale).buffer)[0], "bits"),
        };
        const launch = { grid: [Math.ceil(rows / 64), 1, 1] as const, args };
        if (!serves(code, launch)) continue;
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
