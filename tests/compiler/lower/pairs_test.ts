/** Bytes that are shifted and converted in pairs, on the emulator; half_pairs_test.ts computes with pairs. */
import { must } from "../../../compiler/support/bug.ts";
import { roundFloat } from "../../../compiler/support/float.ts";
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import type { TargetName } from "../../../compiler/targets.ts";
import { assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { type Argument, emulate } from "../../support/emulate.ts";
import { decode } from "../../support/typed_arrays.ts";

const COUNT = 256;
const TARGETS = ["sm_70", "sm_80", "sm_89", "sm_90a"] satisfies TargetName[];
const HALVES = ["float16", "bfloat16"] as const;
const nameOf = (type: ScalarName): string => type === "float16" ? "half" : type;

/** The PTX of a text. */
function run(text: string, target: TargetName, args: readonly Argument[]): string {
  const { kernels, diagnostics } = compileFile({ name: "k.tc", text }, { targets: [target] });
  assertEquals(diagnostics.map(({ message }) => message), []);
  const { ptx } = must(kernels[0]?.modules[0], "a module");
  emulate(ptx, {
    kernel: "k_a16",
    args,
    constants: {},
    grid: [1, 1, 1],
    block: [32, 1, 1],
    sharedBytes: 0,
  });
  return ptx;
}

for (const target of TARGETS) {
  for (const type of HALVES) {
    for (const byte of ["int8", "uint8", "float8e4", "float8e5"] as const) {
      Deno.test(`bytes of ${byte} become ${type} in pairs, for ${target}`, () => {
        const text = `
#pragma tri num_warps=1
__global__ void k(const ${byte} *X, ${nameOf(type)} *Y) {
  int r[${COUNT}] = 0 ... ${COUNT};
  *(Y + r) = (${nameOf(type)}[${COUNT}])*(X + r);
}
`;
        const x = Uint8Array.from({ length: COUNT }, (_, i) => i);
        const y = new Uint8Array(2 * COUNT).fill(0x55);
        run(text, target, [x, y]);
        const expected = decode(byte, x).map((value) => roundFloat(Number(value), type));
        assertEquals(decode(type, y).map(Number), expected);
      });
    }
  }
  Deno.test(`shiftedByte() shifts by any count, for ${target}`, () => {
    const text = `
#pragma tri num_warps=1
__global__ void k(const uint8 *X, const int *N, half *Y) {
  int r[${COUNT}] = 0 ... ${COUNT};
  *(Y + r) = (half[${COUNT}])(*(X + r) >> *N & 15);
}
`;
    for (const count of [0, 1, 4, 7, 8, 31, 32, 256, 2 ** 31 - 1]) {
      const x = Uint8Array.from({ length: COUNT }, (_, i) => i);
      const y = new Uint8Array(2 * COUNT).fill(0x55);
      run(text, target, [x, new Uint8Array(Int32Array.of(count).buffer), y]);
      const shifted = [...x].map((value) => count < 8 ? value >> count & 15 : 0);
      assertEquals(decode("float16", y).map(Number), shifted);
    }
  });
}
