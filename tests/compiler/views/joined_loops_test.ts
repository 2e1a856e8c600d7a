/** Attention in two loops, of which only the second one masks, on the emulator: compared with double precision. */
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import {
  type Arguments,
  compileForms,
  meets,
  runEntry,
  serves,
} from "../../support/forms/form_run.ts";
import { freshRandom } from "../../support/random.ts";
import { decode, encode } from "../../support/typed_arrays.ts";

const D = 64;

/** What differs from causal attention, in which the second loop begins where the first one ends. */
interface Change {
  readonly middle?: string;
  readonly begin?: string;
  readonly end?: string;
  /** Rows before the first one that the program has, as a part of 64. */
  readonly shift?: string;
  /** In the first loop alone. */
  readonly scale?: string;
  readonly between?: string;
}

const iteration = (scale: string, mask: string): string => `
    half k[64, ${D}] = *?(j + rn[:, newaxis] < T) (K + (j + rn[:, newaxis]) * ${D} + rd[newaxis, :]);
    float s[64, 64] = (q @ ^k) * ${scale};
    ${mask}
    float next[64] = max(m, s[:, max]);
    float p[64, 64] = exp2(s - next[:, newaxis]);
    float less[64] = exp2(m - next);
    half v[64, ${D}] = *?(j + rn[:, newaxis] < T) (V + (j + rn[:, newaxis]) * ${D} + rd[newaxis, :]);
    o = o * less[:, newaxis] + (half[64, 64])p @ v;
    l = l * less + p[:, +];
    m = next;
`;

const textOf = ({
  middle = "start",
  begin = "start",
  end = "start + 64",
  shift = "0",
  scale = "scale",
  between = "",
}: Change): string => `
#pragma tri config; num_warps=4
__global__ void k(half *Q __noalias __readonly, half *K __noalias __readonly, half *V __noalias __readonly,
                  float *O __noalias, int *L __noalias, int T, float scale) {
  int start = get_program_id(0) * 64 + ${shift};
  int rm[64] = start + 0 ... 64;
  int rn[64] = 0 ... 64;
  int rd[${D}] = 0 ... ${D};
  half q[64, ${D}] = *?(rm[:, newaxis] < T) (Q + rm[:, newaxis] * ${D} + rd[newaxis, :]);
  float m[64] = -1e30;
  float l[64] = 0;
  float o[64, ${D}] = 0;
  for (int j = 0; j < ${middle}; j += 64) {${iteration(scale, "")}}
  ${between}
  for (int j = ${begin}; j < ${end}; j += 64) {
${iteration("scale", "s = rm[:, newaxis] >= j + rn[newaxis, :] ? s : -1e30;")}}
  *?(rm[:, newaxis] < T) (O + rm[:, newaxis] * ${D} + rd[newaxis, :]) = o / l[:, newaxis];
}
`;

const random = freshRandom();
const numbers = (count: number): number[] =>
  Array.from({ length: count }, () => (random.below(64) - 32) / 32);

function expected(
  [q, k, v]: readonly (readonly number[])[],
  rows: number,
  scale: number,
): number[] {
  const at = (list: readonly number[] | undefined, i: number): number => must(list?.[i], "number");
  return Array.from({ length: rows * D }, (_, index) => {
    const [row, column] = [Math.floor(index / D), index % D];
    const scores = Array.from({ length: row + 1 }, (_, j) => {
      let sum = 0;
      for (let d = 0; d < D; d++) sum += at(q, row * D + d) * at(k, j * D + d);
      return sum * scale;
    });
    const most = Math.max(...scores);
    const powers = scores.map((one) => 2 ** (one - most));
    const all = powers.reduce((sum, one) => sum + one, 0);
    return powers.reduce((sum, one, j) => sum + one * at(v, j * D + column), 0) / all;
  });
}

Deno.test("joinLoops() makes one loop of blocks that all rows see and those on the diagonal", () => {
  const compiled = compileForms(textOf({}), {});
  for (const rows of [1, 64, 77, 130, 257]) {
    const inputs = [0, 0, 0].map(() => numbers(rows * D));
    const exact = expected(inputs, rows, 0.125);
    const [q, k, v] = inputs.map((list) => encode("float16", list));
    const served = compiled.entries.flatMap((entry) => {
      const args: Arguments = {
        ...{ Q: must(q, "q"), K: must(k, "k"), V: must(v, "v"), L: new Uint8Array(4) },
        O: encode("float32", new Array<number>(rows * D).fill(NaN)),
        T: rows,
        scale: { bytes: 4, value: 0x3e000000 },
      };
      const launch = { grid: [Math.ceil(rows / 64), 1, 1] as const, args };
      if (!meets(entry.conditions, launch)) return [];
      return [entry, ...(entry.forms ?? []).filter((form) => serves(form, launch))].map((code) => {
        (args.O as Uint8Array).fill(255);
        runEntry(compiled, code, launch);
        const found = decode("float32", args.O as Uint8Array).map(Number);
        const wrong = found.findIndex((one, i) => !(Math.abs(one - must(exact[i], "o")) < 2e-3));
        assertEquals(wrong, -1, `${code.symbol}, ${rows} rows`);
        return code.symbol;
      });
    });
    assert(served.some((symbol) => symbol.includes("_tensor")), "no form with tensor copies");
  }
});

for (
  const [title, change] of [
    ["begins before the first one ends", { begin: "start - 64" }],
    ["begins after the first one ends", { begin: "start + 64" }],
    ["begins where the first one may not end", { shift: "16" }],
    ["may begin before the first one does", { shift: "-64" }],
    ["ends before the first one", { middle: "start", end: "start - 64" }],
    ["multiplies by something else", { scale: "(2 * scale)" }],
    ["comes after a store", { between: "*L = 1;" }],
  ] as const
) {
  Deno.test(`joinLoops() leaves a loop that ${title}`, () => {
    const { entries } = compileForms(textOf(change), {});
    assertEquals(entries.flatMap(({ forms = [] }) => forms), []);
  });
}
