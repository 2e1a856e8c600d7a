/** Halves of bytes less a number: the bits of a conversion and a subtraction, for all bytes. */
import { floatBits, roundFloat } from "../../../../compiler/support/float.ts";
import { must } from "../../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { compileFile } from "../../../support/compile.ts";
import { emulate } from "../../../support/emulate.ts";

/** Those in one subtraction, and others: not whole, negative, or too large for it. */
const LESS = [0, 1, 8, 127, 128, 511, 512, 513, 1024, 2047, 3000, 0.5, -1, -128];
const COUNT = 256;

for (const byte of ["int8", "uint8"] as const) {
  Deno.test(`halves of ${byte} less a number have the bits of both operations`, () => {
    const text = `#pragma tri num_warps=1
__global__ void k(const ${byte} *X, half *Y) {
  int r[${COUNT}] = 0 ... ${COUNT};
  ${byte} x[${COUNT}] = *(X + r);
${
      LESS.map((less, nth) => `  *(Y + ${nth * COUNT} + r) = (half[${COUNT}])x - (half)(${less});`)
        .join("\n")
    }
}
`;
    const { kernels, diagnostics } = compileFile({ name: "k.tc", text }, { targets: ["sm_80"] });
    assertEquals(diagnostics.map(({ message }) => message), []);
    const { ptx } = must(kernels[0]?.modules[0], "a module");
    const x = Uint8Array.from({ length: COUNT }, (_, i) => i);
    const y = new Uint16Array(LESS.length * COUNT).fill(0x5a5a);
    emulate(ptx, {
      kernel: "k_a16",
      args: [x, y],
      constants: {},
      grid: [1, 1, 1],
      block: [32, 1, 1],
      sharedBytes: 0,
    });
    LESS.forEach((less, nth) => {
      for (let i = 0; i < COUNT; i++) {
        const value = byte === "int8" && i > 127 ? i - 256 : i;
        const wanted = Number(floatBits(roundFloat(value - less, "float16"), "float16"));
        const found = must(y[nth * COUNT + i], "bits");
        assert(
          found === wanted,
          `${value} less ${less}: ${found.toString(16)}, not ${wanted.toString(16)}`,
        );
      }
    });
    // 1032 twice, or 1160: 8 beyond what bytes are above.
    assert(ptx.includes(byte === "int8" ? "1686660232" : "1678271496"), ptx);
  });
}
