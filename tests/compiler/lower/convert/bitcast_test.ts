/** The same bits as another type of 16 bits, several elements an access. */
import { must } from "../../../../compiler/support/bug.ts";
import { assertEquals } from "../../../support/assert.ts";
import { compileFile } from "../../../support/compile.ts";
import { emulate } from "../../../support/emulate.ts";
import { TARGET_NAMES } from "../../../support/targets.ts";

/** Numbers that both types have, and their bits as half and as bfloat16. */
const NUMBERS = [
  [1, 0x3c00, 0x3f80],
  [-2.5, 0xc100, 0xc020],
  [0.375, 0x3600, 0x3ec0],
  [96, 0x5600, 0x42c0],
] as const;
const COUNT = 512;

Deno.test("bitcastElement() keeps the bits of what was rounded to the other type of 16 bits", () => {
  const numbers = Float32Array.from({ length: COUNT }, (_, i) => NUMBERS[i % 4]?.[0] ?? 0);
  for (const [from, to, nth] of [["half", "bfloat16", 1], ["bfloat16", "half", 2]] as const) {
    const text = `#pragma tri specialize(off)
__global__ void k(const float *X __aligned(16), ${to} *Y __aligned(16)) {
  int r[${COUNT}] = 0 ... ${COUNT};
  ${from} rounded[${COUNT}] = *(X + r);
  *(Y + r) = bitcast<${to}[${COUNT}]>(rounded);
}
`;
    const { kernels, diagnostics } = compileFile({ name: "k.tc", text }, { targets: TARGET_NAMES });
    assertEquals(diagnostics.map(({ message }) => message), []);
    for (const { target, ptx } of must(kernels[0], "a kernel").modules) {
      const found = new Uint16Array(COUNT).fill(0xffff);
      emulate(ptx, { args: [numbers, found], block: [128, 1, 1] });
      const wanted = Uint16Array.from({ length: COUNT }, (_, i) => NUMBERS[i % 4]?.[nth] ?? 0);
      assertEquals(found, wanted, `${from} as ${to}, ${target}`);
    }
  }
});
