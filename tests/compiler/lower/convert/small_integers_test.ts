/** Small integers as halves: the bits of a conversion of each, for all numbers that fit and around where they no longer do. */
import { floatBits, roundFloat } from "../../../../compiler/support/float.ts";
import { must } from "../../../../compiler/support/bug.ts";
import type { TargetName } from "../../../../compiler/targets.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { compileFile } from "../../../support/compile.ts";
import { emulate } from "../../../support/emulate.ts";
import { freshRandom } from "../../../support/random.ts";

interface Case {
  readonly text: string;
  readonly of: (x: number, y: number) => number;
}

const CASES: readonly Case[] = [
  { text: "x & 15", of: (x) => x & 15 },
  { text: "x & 127", of: (x) => x & 127 },
  { text: "x & 255", of: (x) => x & 255 },
  { text: "x & 1023", of: (x) => x & 1023 },
  { text: "x & 1024", of: (x) => x & 1024 },
  { text: "x & 2047", of: (x) => x & 2047 },
  { text: "x & -2", of: (x) => x & -2 },
  { text: "(x & 15) - (y & 15)", of: (x, y) => (x & 15) - (y & 15) },
  { text: "(x & 15) - ((y & 15) + 1)", of: (x, y) => (x & 15) - ((y & 15) + 1) },
  { text: "(x & 1023) - (y & 1023)", of: (x, y) => (x & 1023) - (y & 1023) },
  { text: "(x & 511) + (y & 512)", of: (x, y) => (x & 511) + (y & 512) },
  { text: "(x & 1023) + (y & 1)", of: (x, y) => (x & 1023) + (y & 1) },
  { text: "(x & 63) - 8", of: (x) => (x & 63) - 8 },
  { text: "8 - (x & 63)", of: (x) => 8 - (x & 63) },
  { text: "x - (y & 15)", of: (x, y) => (x - (y & 15)) | 0 },
  { text: "(x >> 4 & 15) - (x & 15)", of: (x) => (x >> 4 & 15) - (x & 15) },
];
const COUNT = 1024;

for (const [half, target] of [["half", "sm_80"], ["bfloat16", "sm_90"]] as const) {
  const type = half === "half" ? "float16" : "bfloat16";
  Deno.test(`small integers as ${half} have the bits of each alone`, () => {
    const text = `#pragma tri num_warps=4
__global__ void k(const int *X, const int *Y, ${half} *Z) {
  int r[${COUNT}] = 0 ... ${COUNT};
  int x[${COUNT}] = *(X + r), y[${COUNT}] = *(Y + r);
${
      CASES.map(({ text }, nth) => `  *(Z + ${nth * COUNT} + r) = (${half}[${COUNT}])(${text});`)
        .join("\n")
    }
}
`;
    const targets: readonly TargetName[] = [target];
    const { kernels, diagnostics } = compileFile({ name: "k.tc", text }, { targets });
    assertEquals(diagnostics.map(({ message }) => message), []);
    const { ptx } = must(kernels[0]?.modules[0], "a module");
    const random = freshRandom();
    const x = Int32Array.from({ length: COUNT }, (_, i) => i < 512 ? random.below(2 ** 32) : i);
    const y = Int32Array.from({ length: COUNT }, () => random.below(2 ** 32));
    const z = new Uint16Array(CASES.length * COUNT).fill(0x5a5a);
    emulate(ptx, {
      kernel: "k_a16",
      args: [x, y, z],
      constants: {},
      grid: [1, 1, 1],
      block: [128, 1, 1],
      sharedBytes: 0,
    });
    CASES.forEach(({ text, of }, nth) => {
      for (let i = 0; i < COUNT; i++) {
        const number = of(must(x[i], "x"), must(y[i], "y"));
        const wanted = Number(floatBits(roundFloat(number, type), type));
        const found = must(z[nth * COUNT + i], "bits");
        assert(
          found === wanted,
          `${text} is ${number}: ${found.toString(16)}, not ${wanted.toString(16)}`,
        );
      }
    });
    assert(ptx.includes(half === "half" ? "sub.rn.f16x2" : "sub.rn.bf16x2"), ptx);
  });
}

Deno.test("remainders of ranges are bits of threads and registers", () => {
  const powers = [1, 2, 8, 64, 256, 1024, 4096];
  const text = `#pragma tri num_warps=4
__global__ void k(int *Z) {
  int r[${COUNT}] = 0 ... ${COUNT};
${powers.map((power, nth) => `  *(Z + ${nth * COUNT} + r) = r % ${power};`).join("\n")}
}
`;
  const { kernels, diagnostics } = compileFile({ name: "k.tc", text }, { targets: ["sm_80"] });
  assertEquals(diagnostics.map(({ message }) => message), []);
  const { ptx } = must(kernels[0]?.modules[0], "a module");
  const z = new Int32Array(powers.length * COUNT).fill(-1);
  emulate(ptx, {
    kernel: "k_a16",
    args: [z],
    constants: {},
    grid: [1, 1, 1],
    block: [128, 1, 1],
    sharedBytes: 0,
  });
  powers.forEach((power, nth) => {
    for (let i = 0; i < COUNT; i++) assertEquals(z[nth * COUNT + i], i % power);
  });
});
