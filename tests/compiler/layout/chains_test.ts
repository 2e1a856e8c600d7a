/** Chained products: who they are, that what lies between them stays in registers, and that sums are right. */
import { assert, assertEquals } from "../../support/assert.ts";
import { emulate } from "../../support/emulate.ts";
import {
  type LoweredInstance,
  lowerGeneral,
  opsNamed,
  printEntry,
} from "../../support/compiler/lowering.ts";
import { ROUNDING } from "../../support/bounds.ts";
import { randomNumbers } from "../../support/numbers.ts";
import { testsInTurn } from "../../support/sampled.ts";
import { encode } from "../../support/typed_arrays.ts";
import { conversionOf, hasBlockBarrier } from "../../../compiler/layout/exchanges.ts";
import { must } from "../../../compiler/support/bug.ts";
import { ALL_TARGETS, type TargetName, TARGETS } from "../../../compiler/targets.ts";

const test = testsInTurn(3);

type Type = "float16" | "bfloat16" | "float32";
const SPELLED = { float16: "half", bfloat16: "bfloat16", float32: "float" } as const;
const [M, K, N, P] = [64, 16, 32, 64];

/** D = f(A @ B) @ C, whole tiles; `between` makes p of s. */
const chainText = (type: Type, numWarps: number, between: string): string => `
#pragma tri config ; num_warps=${numWarps}
__global__ void k(${SPELLED[type]} *A __noalias, ${SPELLED[type]} *B __noalias, ${
  SPELLED[type]
} *C __noalias, float *D __noalias, bool flag) {
  int rm[${M}] = 0 ... ${M};
  int rk[${K}] = 0 ... ${K};
  int rn[${N}] = 0 ... ${N};
  int rp[${P}] = 0 ... ${P};
  float s[${M}, ${N}] = *(A + rm[:, newaxis] * ${K} + rk[newaxis, :]) @ *(B + rk[:, newaxis] * ${N} + rn[newaxis, :]);
  ${between}
  float d[${M}, ${P}] = (${
  SPELLED[type]
}[${M}, ${N}])p @ *(C + rn[:, newaxis] * ${P} + rp[newaxis, :]);
  *(D + rm[:, newaxis] * ${P} + rp[newaxis, :]) = d;
}
`;

const HALVED = "float p[64, 32] = s * 0.5f;";

/** What an operand comes from, without changes of layout that cost nothing. */
function leftOfSecond({ laidOut }: LoweredInstance): string {
  const [, second] = opsNamed(laidOut, "dot");
  let value = must(must(second, "second product").operands[0], "left operand");
  while (value.def?.name === "convert_layout" && conversionOf(value.def).kind !== "shared") {
    value = must(value.def.operands[0], "operand");
  }
  return must(value.def, "definition").name;
}

for (const target of Object.keys(TARGETS) as TargetName[]) {
  test(`chainedDots() keeps the operand of the second in registers, on ${target}`, () => {
    for (const type of ["float16", "bfloat16"] as const) {
      if (!ALL_TARGETS[target].mma.some((name) => /m16n8k(8|16)$/.test(name) && isOf(name, type))) {
        continue;
      }
      for (const numWarps of [1, 2, 4]) {
        const lowered = lowerGeneral(chainText(type, numWarps, HALVED), target);
        assertEquals(leftOfSecond(lowered), "convert", `${type}, ${numWarps} warps`);
      }
    }
  });

  test(`chainedDots() keeps sums right, on ${target}`, () => {
    for (const type of ["float16", "bfloat16", "float32"] as const) {
      checkChain(type, 4, target);
    }
  });
}

const isOf = (name: string, type: Type): boolean =>
  name.startsWith(type === "float16" ? "f16." : "bf16.");

function checkChain(type: Type, numWarps: number, target: TargetName): void {
  const lowered = lowerGeneral(chainText(type, numWarps, HALVED), target);
  const [a, b, c] = [M * K, K * N, N * P].map((count) => randomNumbers(type, count, 1));
  const buffers = [a, b, c].map((values) => encode(type, must(values, "values")));
  const d = new Float32Array(M * P).fill(NaN);
  emulate(printEntry(lowered.kernel, target), {
    block: [lowered.threads, 1, 1],
    sharedBytes: lowered.sharedBytes,
    args: [...buffers, d, { bytes: 1, value: 1 }],
    budget: 100_000_000,
  });
  const times = (x: readonly number[], y: readonly number[], inner: number): number[] => {
    const [rows, columns] = [x.length / inner, y.length / inner];
    return Array.from({ length: rows * columns }, (_, at) => {
      const [i, j] = [Math.floor(at / columns), at % columns];
      let sum = 0;
      for (let q = 0; q < inner; q++) {
        sum += must(x[i * inner + q], "x") * must(y[q * columns + j], "y");
      }
      return sum;
    });
  };
  const p = times(must(a, "a"), must(b, "b"), K).map((sum) => sum / 2);
  const expected = times(p, must(c, "c"), N);
  // Each element of p is rounded to the type; it is at most K / 2.
  const tolerance = N * (K / 2) * 2 * must(ROUNDING[type], "a float type");
  expected.forEach((value, i) => {
    const is = must(d[i], "element");
    assert(
      Math.abs(is - value) <= tolerance,
      `${type}, ${numWarps} warps, [${i}]: ${is}, ${value}`,
    );
  });
}

Deno.test("chainedDots() follows values through branches", () => {
  const text = chainText("float16", 4, "float p[64, 32] = s; if (flag) p = s < 0 ? 0.0f : s;");
  assertEquals(leftOfSecond(lowerGeneral(text)), "convert");
});

Deno.test("chainedDots() keeps reductions along rows within a warp", () => {
  const text = chainText("float16", 4, "float p[64, 32] = exp2(s - (s[:, max])[:, newaxis]);");
  const { laidOut } = lowerGeneral(text);
  assertEquals(leftOfSecond(lowerGeneral(text)), "convert");
  const reductions = opsNamed(laidOut, "reduce");
  assertEquals(reductions.length, 1);
  assert(!reductions.some(hasBlockBarrier));
});

Deno.test("chainedDots() leaves dots alone whose result is a right operand", () => {
  const text = `
__global__ void k(half *A __noalias, half *B __noalias, float *D __noalias) {
  int r[64] = 0 ... 64;
  int at[64, 64] = r[:, newaxis] * 64 + r[newaxis, :];
  half s[64, 64] = *(A + at) @ *(B + at);
  *(D + at) = *(A + at) @ s;
}
`;
  const [first] = opsNamed(lowerGeneral(text).laidOut, "dot");
  const layout = must(must(first, "product").results[0]?.type.layout, "layout");
  // Two warps along either axis.
  assertEquals(layout.warp.filter((basis) => basis >= 64).length, 1);
});
