/** Products whose operands are computed from loaded tiles, by warp groups on the emulator: compared with double precision. */
import { must } from "../../../../compiler/support/bug.ts";
import type { ScalarName } from "../../../../compiler/support/scalar.ts";
import { assert } from "../../../support/assert.ts";
import { type Arguments, compileForms, meets, runEntry } from "../../../support/forms/form_run.ts";
import { freshRandom } from "../../../support/random.ts";
import { testsInTurn } from "../../../support/sampled.ts";
import { decode, encode } from "../../../support/typed_arrays.ts";

const TEXT = `
#pragma tri config; num_warps=4
__global__ void product(LEFT_TYPE *A __noalias, RIGHT_TYPE *B __noalias, half *S __noalias, float *C __noalias, int M, int N, int K) {
  int rm[64] = get_program_id(0) * 64 + 0 ... 64;
  int rn[64] = get_program_id(1) * 64 + 0 ... 64;
  int rk[32] = 0 ... 32;
  float sum[64, 64] = 0;
  for (int k = 0; k < K; k += 32) {
    LEFT_TYPE a[64, 32] = *?(rm[:, newaxis] < M && k + rk[newaxis, :] < K) (A + rm[:, newaxis] * K + k + rk[newaxis, :]);
    RIGHT_TYPE b[32, 64] = *?(k + rk[:, newaxis] < K && rn[newaxis, :] < N) (B + (k + rk[:, newaxis]) * N + rn[newaxis, :]);
    half s[32] = *?(k + rk < K) (S + k + rk);
    sum += LEFT @ RIGHT;
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * N + rn[newaxis, :]) = sum;
}
`;

interface Case {
  readonly title: string;
  readonly left: string;
  readonly right: string;
  readonly types?: readonly [left: ScalarName, right: ScalarName];
  readonly ofLeft?: (a: number, s: number) => number;
  readonly ofRight?: (b: number, s: number) => number;
}

const CASES: readonly Case[] = [
  { title: "a vector", left: "(a * s[newaxis, :])", right: "b", ofLeft: (a, s) => a * s },
  { title: "a maximum", left: "max(a, 0.25h)", right: "b", ofLeft: (a) => Math.max(a, 0.25) },
  {
    title: "both operands",
    left: "(a + 1.0h)",
    right: "(b * s[:, newaxis])",
    ofLeft: (a) => a + 1,
    ofRight: (b, s) => b * s,
  },
  {
    title: "bytes on the right, float8 on the left",
    left: "(half[64, 32])a",
    right: "(half[32, 64])b",
    types: ["float8e4", "int8"],
  },
];

const test = testsInTurn(2);
const random = freshRandom();
/** Products of two of them are exact in half. */
const numbers = (count: number, type: ScalarName = "float16"): number[] =>
  Array.from({ length: count }, () => (random.below(16) - 8) / (type === "int8" ? 1 : 16));

const NAMES: Partial<Record<ScalarName, string>> = { float16: "half" };
const nameOf = (type: ScalarName): string => NAMES[type] ?? type;
const bytesOfNumbers = (type: ScalarName, values: readonly number[]): Uint8Array =>
  encode(type, type === "int8" ? values.map(BigInt) : values);

const same = (value: number): number => value;

const HALVES = ["float16", "float16"] as const;

for (const { title, left, right, ofLeft = same, ofRight = same, types = HALVES } of CASES) {
  test(`computedOperand() lets warp groups multiply what is computed in its slot: ${title}`, () => {
    const [typeA, typeB] = types;
    const text = TEXT.replaceAll("LEFT_TYPE", nameOf(typeA)).replaceAll("RIGHT_TYPE", nameOf(typeB))
      .replace("LEFT", left).replace("RIGHT", right);
    const compiled = compileForms(text, {});
    const entries = compiled.ptx.split(/(?=\.visible \.entry )/);
    assert(entries.some((code) => /wgmma\.mma/.test(code) && /_a16\(/.test(code)), "no wgmma");
    const [m, n, k] = [72, 96, 48];
    const [a, b, s] = [numbers(m * k, typeA), numbers(k * n, typeB), numbers(k)];
    for (const entry of compiled.entries) {
      const args: Arguments = {
        ...{ A: bytesOfNumbers(typeA, a), B: bytesOfNumbers(typeB, b) },
        ...{ S: encode("float16", s) },
        ...{ C: encode("float32", new Array<number>(m * n).fill(NaN)), M: m, N: n, K: k },
      };
      const launch = { grid: [2, 2, 1] as const, args };
      assert(meets(entry.conditions, launch), "an entry does not serve the launch");
      runEntry(compiled, entry, launch);
      decode("float32", args.C as Uint8Array).forEach((value, at) => {
        let sum = 0;
        for (let i = 0; i < k; i++) {
          const scale = must(s[i], "s");
          sum += ofLeft(must(a[Math.floor(at / n) * k + i], "a"), scale) *
            ofRight(must(b[i * n + at % n], "b"), scale);
        }
        assert(Number(value) === sum, `${value} at ${at} is not ${sum}`);
      });
    }
  });
}
