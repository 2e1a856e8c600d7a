/** Operands that threads compute in registers from boxes of tensors, on the emulator: compared with double precision. */
import { inspect } from "../../../../compiler/mod.ts";
import { must } from "../../../../compiler/support/bug.ts";
import { roundFloat } from "../../../../compiler/support/float.ts";
import type { ScalarName } from "../../../../compiler/support/scalar.ts";
import { assert } from "../../../support/assert.ts";
import {
  type Arguments,
  compileForms,
  meets,
  runEntry,
  serves,
} from "../../../support/forms/form_run.ts";
import { freshRandom } from "../../../support/random.ts";
import { testsInTurn } from "../../../support/sampled.ts";
import { decode, encode } from "../../../support/typed_arrays.ts";

/** W is of narrow elements; S has a number for each row of it and each 64 along k. */
const TEXT = `
#pragma tri config; num_warps=WARPS
__global__ void product(HALF *X __readonly __noalias, NARROW *W __readonly __noalias, HALF *S __readonly __noalias, float *C __noalias, int shift, int M, int N, int K) {
  int rm[MB] = get_program_id(0) * MB + 0 ... MB, rn[NB] = get_program_id(1) * NB + 0 ... NB, rk[64] = 0 ... 64;
  float sum[EXTENTS] = 0;
  for (int k = 0; k < K; k += 64) {
    HALF x[MB, 64] = *?(rm[:, newaxis] < M && k + rk[newaxis, :] < K) (X + rm[:, newaxis] * K + k + rk[newaxis, :]);
    NARROW w[NB, 64] = *?(rn[:, newaxis] < N && k + rk[newaxis, :] < K) (W + PLACE);
    HALF s[NB] = *?(rn < N) (S + k / 64 * N + rn);
    HALF b[NB, 64] = COMPUTED;
    sum += PRODUCT;
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * N + rn[newaxis, :]) = RESULT;
}
`;

interface Case {
  readonly title: string;
  readonly half: "float16" | "bfloat16";
  readonly narrow: "int8" | "uint8" | "float8e4" | "float8e5";
  readonly tile: readonly [m: number, n: number, warps: number];
  /** Of w and s. */
  readonly text: string;
  readonly of: (w: number, s: number) => number;
}

const SHIFT = 4;
const scaled = (w: number, s: number): number => w * s;
const CASES: readonly Case[] = [
  {
    title: "signed bytes with scales of groups, 128 rows of W for each group of warps",
    half: "float16",
    narrow: "int8",
    tile: [128, 128, 4],
    text: "(HALF[NB, 64])w * s[:, newaxis]",
    of: scaled,
  },
  {
    title: "nibbles, and 16 rows of X",
    half: "float16",
    narrow: "uint8",
    tile: [16, 64, 4],
    text: "((HALF[NB, 64])(w >> shift & 15) - 8) * s[:, newaxis]",
    of: (w, s) => ((w >> SHIFT) - 8) * s,
  },
  {
    title: "unsigned bytes, nothing spread over them",
    half: "bfloat16",
    narrow: "uint8",
    tile: [64, 64, 4],
    text: "(HALF[NB, 64])w",
    of: (w) => w,
  },
  {
    title: "signed bytes as bfloat16, blocks that do programs in turn",
    half: "bfloat16",
    narrow: "int8",
    tile: [256, 128, 8],
    text: "(HALF[NB, 64])w + s[:, newaxis]",
    of: (w, s) => w + s,
  },
  {
    title: "float8e4 as bfloat16, columns of X for each group",
    half: "bfloat16",
    narrow: "float8e4",
    tile: [128, 64, 8],
    text: "s[:, newaxis] * (HALF[NB, 64])w",
    of: scaled,
  },
  {
    title: "the larger of float8e5 and a number",
    half: "float16",
    narrow: "float8e5",
    tile: [32, 64, 4],
    text: "max((HALF[NB, 64])w, 0) * s[:, newaxis]",
    of: (w, s) => Math.max(w, 0) * s,
  },
];

const test = testsInTurn(3);
const random = freshRandom();
const halves = (count: number): number[] =>
  Array.from({ length: count }, () => (random.below(65) - 32) / 16);
const at = (values: readonly number[], index: number): number => must(values[index], "number");

function narrowNumbers(type: Case["narrow"], count: number): readonly [number[], Uint8Array] {
  const values = Array.from(
    { length: count },
    () => type.startsWith("float") ? (random.below(33) - 16) / 8 : random.below(256),
  );
  const signed = type === "int8" ? values.map((value) => value - 128) : values;
  const encoded = type.startsWith("float")
    ? encode(type, signed)
    : encode(type, signed.map(BigInt));
  return [decode(type, encoded).map(Number), encoded];
}

const nameOf = (type: ScalarName): string => type === "float16" ? "half" : type;

const PLACES = {
  along: "rn[:, newaxis] * K + k + rk[newaxis, :]",
  across: "rn[:, newaxis] + (k + rk[newaxis, :]) * N",
} as const;
const WAYS = [[false, "along"], [true, "along"], [false, "across"], [true, "across"]] as const;

for (const [isLeft, way] of WAYS) {
  for (const { title, half, narrow, tile: [mb, nb, warps], text, of } of CASES) {
    // The rows of the result are those of the operand: 64 at least.
    const side = isLeft ? "left" : "right";
    test(`planComputedLeft() has threads compute a ${side} operand ${way} k of ${title}`, () => {
      const [m, n, k] = [mb + 8, nb + 16, 208];
      const compiled = compileForms(
        TEXT.replace("COMPUTED", text).replace("PLACE", PLACES[way]).replaceAll(
          "HALF",
          nameOf(half),
        ).replaceAll("NARROW", narrow)
          .replace("PRODUCT", isLeft ? "b @ ^x" : "x @ ^b")
          .replace("EXTENTS", isLeft ? "NB, MB" : "MB, NB").replace(
            "RESULT",
            isLeft ? "^sum" : "sum",
          )
          .replaceAll("MB", `${mb}`).replaceAll("NB", `${nb}`).replaceAll("WARPS", `${warps}`),
        {},
      );
      const x = halves(m * k);
      const s = halves(Math.ceil(k / 64) * n);
      const [w, encoded] = narrowNumbers(narrow, n * k);
      let isTried = false;
      for (const entry of compiled.entries) {
        const args: Arguments = {
          X: encode(half, x),
          W: encoded,
          S: encode(half, s),
          C: encode("float32", new Array<number>(m * n).fill(NaN)),
          shift: SHIFT,
          ...{ M: m, N: n, K: k },
        };
        const launch = { grid: [2, 2, 1] as const, args };
        if (!meets(entry.conditions, launch)) continue;
        isTried ||= entry.forms?.some((form) => serves(form, launch)) === true;
        runEntry(compiled, entry, launch);
        const found = decode("float32", args.C as Uint8Array).map(Number);
        for (const [index, value] of found.entries()) {
          const [row, column] = [Math.floor(index / n), index % n];
          let [sum, size] = [0, 0];
          for (let i = 0; i < k; i++) {
            const scale = at(s, Math.floor(i / 64) * n + column);
            const computed = roundFloat(
              of(at(w, way === "along" ? column * k + i : i * n + column), scale),
              half,
            );
            sum += at(x, row * k + i) * computed;
            size += Math.abs(at(x, row * k + i) * computed);
          }
          assert(
            Math.abs(value - sum) <= size * 2 ** -20,
            `${entry.symbol}: ${value} at ${row}, ${column}, not ${sum}`,
          );
        }
      }
      assert(isTried, "no form with tensor copies");
    });
  }
}

/** A loop with a product of halves, and one with two products of bytes. */
const TWO_LOOPS = `
#pragma tri config; num_warps=8
__global__ void two(half *X __readonly __noalias, int8 *W __readonly __noalias, half *V __readonly __noalias, float *C __noalias, float *D __noalias, int M, int N, int K) {
  int rm[128] = get_program_id(0) * 128 + 0 ... 128, rn[128] = get_program_id(1) * 128 + 0 ... 128, rk[64] = 0 ... 64;
  float sum[128, 128] = 0, a[128, 128] = 0, b[128, 128] = 0;
  for (int k = 0; k < K; k += 64) {
    half x[128, 64] = *?(rm[:, newaxis] < M && k + rk[newaxis, :] < K) (X + rm[:, newaxis] * K + k + rk[newaxis, :]);
    half v[128, 64] = *?(rn[:, newaxis] < N && k + rk[newaxis, :] < K) (V + rn[:, newaxis] * K + k + rk[newaxis, :]);
    sum += x @ ^v;
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * N + rn[newaxis, :]) = sum;
  for (int k = 0; k < K; k += 64) {
    half y[128, 64] = *?(rm[:, newaxis] < M && k + rk[newaxis, :] < K) (X + rm[:, newaxis] * K + k + rk[newaxis, :]);
    int8 w[128, 64] = *?(rn[:, newaxis] < N && k + rk[newaxis, :] < K) (W + rn[:, newaxis] * K + k + rk[newaxis, :]);
    int8 u[128, 64] = *?(rn[:, newaxis] < N && k + rk[newaxis, :] < K) (W + rn[:, newaxis] * K + k + rk[newaxis, :] + N * K);
    a += y @ ^(half[128, 64])w;
    b += y @ ^(half[128, 64])u;
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (D + rm[:, newaxis] * N + rn[newaxis, :]) = a * b;
}
`;

test("planComputedLeft() is asked for loops of one dot only, so that others keep their tensor copies", () => {
  const plan = inspect({ name: "k.tc", text: TWO_LOOPS }, { targets: ["sm_90a"] }, "plan");
  for (const tile of ["x", "v"]) assert(plan.includes(`${tile} = [128, 64]: tensor copy`), plan);
  for (const tile of ["y", "w", "u"]) {
    assert(plan.includes(`${tile} = [128, 64]: no tensor copy`), plan);
  }
});
