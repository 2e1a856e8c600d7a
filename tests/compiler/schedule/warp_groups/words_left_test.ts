/** Operands that threads compute in registers from boxes of words with several elements each, on the emulator: compared with double precision. */
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

/** W has PARTS elements in a word; S and Z have numbers for each column of it and each GROUP rows. */
const TEXT = `
#pragma tri config; num_warps=WARPS
__global__ void product(HALF *X __readonly __noalias, WORD *W __readonly __noalias, HALF *S __readonly __noalias, int *Z __readonly __noalias, float *C __noalias, int M, int N, int K) {
  int rm[MB] = get_program_id(0) * MB + 0 ... MB, rn[NB] = get_program_id(1) * NB + 0 ... NB, rk[64] = 0 ... 64;
  float sum[EXTENTS] = 0;
  BEFORE
  for (int k = 0; k < K; k += 64) {
    HALF x[MB, 64] = *?(rm[:, newaxis] < M) (X + rm[:, newaxis] * K + k + rk[newaxis, :]);
    WORD w[WEIGHTS] = *?(WITHIN) (PLACE);
    HALF s[NB] = *?(rn < N) (S + k / GROUP * N + rn);
    int z[NB] = *?(rn < N) (Z + k / GROUP * N + rn) & 15;
    HALF b[WEIGHTS] = COMPUTED;
    sum += PRODUCT;
    AFTER
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * N + rn[newaxis, :]) = RESULT;
}
`;

/** How W lies. */
type Way = "across" | "carried" | "along" | "columns";
const WAYS: Readonly<
  Record<Way, { readonly place: string; readonly isByRows: boolean; readonly shift: string }>
> = {
  across: {
    place: "W + (k / PARTS + rk[:, newaxis] / PARTS) * N + rn[newaxis, :]",
    isByRows: true,
    shift: "(rk % PARTS * BITS)[:, newaxis]",
  },
  carried: { place: "p", isByRows: true, shift: "(rk % PARTS * BITS)[:, newaxis]" },
  along: {
    place: "W + rn[:, newaxis] * (K / PARTS) + k / PARTS + rk[newaxis, :] / PARTS",
    isByRows: false,
    shift: "(rk % PARTS * BITS)[newaxis, :]",
  },
  columns: {
    place: "W + (k + rk[:, newaxis]) * (N / PARTS) + rn[newaxis, :] / PARTS",
    isByRows: true,
    shift: "(rn % PARTS * BITS)[newaxis, :]",
  },
};

interface Case {
  readonly title: string;
  readonly half: "float16" | "bfloat16";
  readonly word: "int32" | "uint32";
  readonly way: Way;
  readonly side: "left" | "right";
  readonly parts: 4 | 8;
  readonly tile: readonly [m: number, n: number, warps: number];
  /** Of an element, its scale and its zero: how the text has them, and their value. */
  readonly text: string;
  readonly of: (element: number, s: number, z: number) => number;
}

const CASES: readonly Case[] = [
  {
    title: "as GPTQ has them, zeros and scales of groups, addresses that a loop carries",
    half: "float16",
    word: "int32",
    way: "carried",
    side: "right",
    parts: 8,
    tile: [64, 128, 4],
    text: "(HALF[WEIGHTS])(FIELD - (z + 1)SPREAD) * sSPREAD",
    of: (w, s, z) => (w - z - 1) * s,
  },
  {
    title: "across k, less a number, programs in turn",
    half: "float16",
    word: "uint32",
    way: "across",
    side: "right",
    parts: 8,
    tile: [128, 256, 8],
    text: "((HALF[WEIGHTS])FIELD - 8) * sSPREAD",
    of: (w, s) => (w - 8) * s,
  },
  {
    title: "bytes of words as bfloat16, too large to be converted in pairs",
    half: "bfloat16",
    word: "int32",
    way: "across",
    side: "left",
    parts: 4,
    tile: [16, 64, 4],
    text: "(HALF[WEIGHTS])(FIELD - zSPREAD)",
    of: (w, _, z) => w - z,
  },
  {
    title: "along k, as bfloat16",
    half: "bfloat16",
    word: "int32",
    way: "along",
    side: "right",
    parts: 8,
    tile: [64, 128, 4],
    text: "(HALF[WEIGHTS])(FIELD - zSPREAD) * sSPREAD",
    of: (w, s, z) => (w - z) * s,
  },
  {
    title: "along k, of a left operand",
    half: "float16",
    word: "uint32",
    way: "along",
    side: "left",
    parts: 4,
    tile: [64, 64, 4],
    text: "(HALF[WEIGHTS])FIELD + sSPREAD",
    of: (w, s) => w + s,
  },
  {
    title: "elements of a row, as AWQ has them",
    half: "float16",
    word: "int32",
    way: "columns",
    side: "right",
    parts: 8,
    tile: [64, 128, 4],
    text: "(HALF[WEIGHTS])(FIELD - zSPREAD) * sSPREAD",
    of: (w, s, z) => (w - z) * s,
  },
];

const test = testsInTurn(3);
const random = freshRandom();
const halves = (count: number): number[] =>
  Array.from({ length: count }, () => (random.below(65) - 32) / 16);
const at = (values: readonly number[], index: number): number => must(values[index], "number");
const GROUP = 128;
const K = 192;

function textOf({ half, word, way, side, parts, tile: [mb, nb, warps], text }: Case): string {
  const { place, isByRows, shift } = WAYS[way];
  const isLeft = side === "left";
  const b = isByRows === isLeft ? "^b" : "b";
  return TEXT.replace("COMPUTED", text)
    .replaceAll("FIELD", `(w >> ${shift} & MASK)`)
    .replaceAll("SPREAD", isByRows ? "[newaxis, :]" : "[:, newaxis]")
    .replace("PLACE", place)
    .replace("WITHIN", isByRows ? "rn[newaxis, :] < N" : "rn[:, newaxis] < N")
    .replaceAll("WEIGHTS", isByRows ? "64, NB" : "NB, 64")
    .replace(
      "BEFORE",
      way === "carried" ? "WORD *p[64, NB] = W + rk[:, newaxis] / PARTS * N + rn[newaxis, :];" : "",
    )
    .replace("AFTER", way === "carried" ? "p += 64 / PARTS * N;" : "")
    .replace("PRODUCT", isLeft ? `${b} @ ^x` : `x @ ${isByRows ? "b" : "^b"}`)
    .replace("EXTENTS", isLeft ? "NB, MB" : "MB, NB").replace("RESULT", isLeft ? "^sum" : "sum")
    .replaceAll("HALF", half === "float16" ? "half" : half)
    .replaceAll("WORD", word === "int32" ? "int" : "unsigned")
    .replaceAll("MB", `${mb}`).replaceAll("NB", `${nb}`).replaceAll("WARPS", `${warps}`)
    .replaceAll("PARTS", `${parts}`).replaceAll("BITS", `${32 / parts}`)
    .replaceAll("MASK", `${2 ** (32 / parts) - 1}`).replaceAll("GROUP", `${GROUP}`);
}

for (const one of CASES) {
  const { title, half, word, way, parts, tile: [mb, nb], of } = one;
  test(`loadOnce() loads words of several elements: ${title}`, () => {
    const [m, n] = [mb + 8, nb + 32];
    const compiled = compileForms(textOf(one), {});
    const x = halves(m * K);
    const groups = Math.ceil(K / GROUP);
    const s = halves(groups * n);
    const z = Array.from({ length: groups * n }, () => random.below(1 << 20));
    const w = Array.from({ length: n * K / parts }, () => random.below(2 ** 32));
    const bits = 32 / parts;
    /** Element of W of a column at a row. */
    const element = (column: number, i: number): number => {
      const index = way === "along"
        ? column * (K / parts) + Math.floor(i / parts)
        : way === "columns"
        ? i * (n / parts) + Math.floor(column / parts)
        : Math.floor(i / parts) * n + column;
      const part = way === "columns" ? column % parts : i % parts;
      return (at(w, index) >>> part * bits) & (2 ** bits - 1);
    };
    let isTried = false;
    for (const entry of compiled.entries) {
      const args: Arguments = {
        X: encode(half, x),
        W: encode("uint32", w.map(BigInt)),
        S: encode(half, s),
        Z: encode("int32", z.map(BigInt)),
        C: encode("float32", new Array<number>(m * n).fill(NaN)),
        ...{ M: m, N: n, K },
      };
      const launch = { grid: [2, 2, 1] as const, args };
      if (!meets(entry.conditions, launch)) continue;
      isTried ||= entry.forms?.some((form) =>
        serves(form, launch) && form.maps.some((map) =>
          map.element === word
        )
      ) === true;
      runEntry(compiled, entry, launch);
      const found = decode("float32", args.C as Uint8Array).map(Number);
      for (const [index, value] of found.entries()) {
        const [row, column] = [Math.floor(index / n), index % n];
        let [sum, size] = [0, 0];
        for (let i = 0; i < K; i++) {
          const group = Math.floor(i / GROUP) * n + column;
          const number = of(element(column, i), at(s, group), at(z, group) & 15);
          const term = at(x, row * K + i) * roundFloat(number, half);
          sum += term;
          size += Math.abs(term);
        }
        assert(
          Math.abs(value - sum) <= size * 2 ** -20,
          `${entry.symbol}: ${value} at ${row}, ${column}, not ${sum}`,
        );
      }
    }
    assert(isTried, "no form with tensor copies of words");
  });
}
