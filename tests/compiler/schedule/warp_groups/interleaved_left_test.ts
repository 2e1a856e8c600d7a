/** Operands that threads compute in registers from boxes of bytes with two elements each, on the emulator: compared with double precision. */
import { inspect } from "../../../../compiler/mod.ts";
import { must } from "../../../../compiler/support/bug.ts";
import { roundFloat } from "../../../../compiler/support/float.ts";
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

/** W has two elements of a row in a byte; S has a number for each row of it and each GROUP along k. */
const TEXT = `
#pragma tri config; num_warps=WARPS
__global__ void product(HALF *X __readonly __noalias, BYTE *W __readonly __noalias, HALF *S __readonly __noalias, float *C __noalias, int M, int N, int K) {
  int rm[MB] = get_program_id(0) * MB + 0 ... MB, rn[NB] = get_program_id(1) * NB + 0 ... NB, rk[KB] = 0 ... KB, rp[PB] = 0 ... PB;
  float sum[EXTENTS] = 0;
  for (int k = 0; k < K; k += KB) {
    HALF x[MB, KB] = *?(rm[:, newaxis] < M && k + rk[newaxis, :] < K) (X + rm[:, newaxis] * K + k + rk[newaxis, :]);
    BYTE w[NB, PB] = *?(rn[:, newaxis] < N && k / 2 + rp[newaxis, :] < K / 2) (W + rn[:, newaxis] * (K / 2) + k / 2 + rp[newaxis, :]);
    HALF s[NB] = *?(rn < N) (S + k / GROUP * N + rn);
    HALF b[NB, KB] = COMPUTED;
    sum += PRODUCT;
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * N + rn[newaxis, :]) = RESULT;
}
`;

interface Case {
  readonly title: string;
  readonly half: "float16" | "bfloat16";
  readonly byte: "int8" | "uint8";
  /** What W is of: the left operand of the product, or the right one. */
  readonly side: "left" | "right";
  readonly tile: readonly [m: number, n: number, k: number, warps: number];
  /** Of w and s. */
  readonly text: string;
  readonly of: (nibble: number, s: number, isHigh: boolean) => number;
}

const NIBBLES = "(HALF[NB, PB])(w & 15) - 8, (HALF[NB, PB])(w >> 4) - 8";
const signed = (nibble: number): number => nibble < 8 ? nibble : nibble - 16;
const CASES: readonly Case[] = [
  {
    title: "nibbles times scales of groups",
    half: "float16",
    byte: "uint8",
    side: "right",
    tile: [128, 128, 64, 4],
    text: `interleave(${NIBBLES}) * s[:, newaxis]`,
    of: (w, s) => (w - 8) * s,
  },
  {
    title: "signed nibbles, each half with a scale of its own, of a left operand",
    half: "float16",
    byte: "int8",
    side: "left",
    tile: [64, 64, 128, 4],
    text:
      "interleave(((HALF[NB, PB])(w & 15 ^ 8) - 8) * s[:, newaxis], (HALF[NB, PB])(w >> 4) + s[:, newaxis])",
    of: (w, s, isHigh) => isHigh ? signed(w) + s : signed(w) * s,
  },
  {
    title: "nibbles as bfloat16, blocks that do programs in turn",
    half: "bfloat16",
    byte: "uint8",
    side: "right",
    tile: [128, 256, 64, 8],
    text: `s[:, newaxis] * interleave(${NIBBLES})`,
    of: (w, s) => (w - 8) * s,
  },
  {
    title: "a byte and its high half, few rows of X",
    half: "float16",
    byte: "uint8",
    side: "right",
    tile: [16, 64, 64, 4],
    text: "interleave((HALF[NB, PB])w, (HALF[NB, PB])(w >> 4)) - 512 + s[:, newaxis]",
    of: () => NaN,
  },
];

const test = testsInTurn(2);
const random = freshRandom();
const halves = (count: number): number[] =>
  Array.from({ length: count }, () => (random.below(65) - 32) / 16);
const at = (values: readonly number[], index: number): number => must(values[index], "number");
const GROUP = 128;

function textOf({ half, byte, side, tile: [mb, nb, kb, warps], text }: Case): string {
  const isLeft = side === "left";
  return TEXT.replace("COMPUTED", text)
    .replace("PRODUCT", isLeft ? "b @ ^x" : "x @ ^b").replace(
      "EXTENTS",
      isLeft ? "NB, MB" : "MB, NB",
    )
    .replace("RESULT", isLeft ? "^sum" : "sum")
    .replaceAll("HALF", half === "float16" ? "half" : half).replaceAll("BYTE", byte)
    .replaceAll("MB", `${mb}`).replaceAll("NB", `${nb}`).replaceAll("KB", `${kb}`)
    .replaceAll("PB", `${kb / 2}`).replaceAll("WARPS", `${warps}`).replaceAll("GROUP", `${GROUP}`);
}

for (const one of CASES) {
  const { title, half, byte, tile: [mb, nb], of } = one;
  test(`computedTile() finds bytes of two elements: ${title}`, () => {
    const [m, n, k] = [mb + 8, nb + 16, 224];
    const compiled = compileForms(textOf(one), {});
    const x = halves(m * k);
    const s = halves(Math.ceil(k / GROUP) * n);
    const w = Array.from({ length: n * k / 2 }, () => random.below(256));
    const bytes = w.map((value) => BigInt(byte === "int8" && value > 127 ? value - 256 : value));
    /** Element of W at a row and along k, computed. */
    const computed = (row: number, i: number): number => {
      const value = at(w, (row * k + i) >> 1);
      const isHigh = i % 2 === 1;
      const scale = at(s, Math.floor(i / GROUP) * n + row);
      const wide = (isHigh ? value >> 4 : value) - 512 + scale;
      const number = of(isHigh ? value >> 4 : value & 15, scale, isHigh);
      return roundFloat(Number.isNaN(number) ? wide : number, half);
    };
    let isTried = false;
    for (const entry of compiled.entries) {
      const args: Arguments = {
        X: encode(half, x),
        W: encode(byte, bytes),
        S: encode(half, s),
        C: encode("float32", new Array<number>(m * n).fill(NaN)),
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
          const term = at(x, row * k + i) * computed(column, i);
          sum += term;
          size += Math.abs(term);
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

test("computedTile() finds nothing where elements of two tiles are interleaved", () => {
  const [first] = CASES;
  const text = textOf(must(first, "case"))
    .replace("(w >> 4)", "(v >> 4)")
    .replace(
      "half s[",
      "uint8 v[128, 32] = *(W + N * (K / 2) + rn[:, newaxis] * (K / 2) + k / 2 + rp[newaxis, :]);\nhalf s[",
    );
  const plan = inspect({ name: "k.tc", text }, { targets: ["sm_90a"] }, "plan");
  for (const tile of ["w", "v"]) assert(!plan.includes(`${tile} = [128, 32]: tensor copy`), plan);
});
