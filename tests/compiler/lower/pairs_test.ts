/** Halves that are computed in pairs, and bytes that are shifted and converted so, on the emulator. */
import { must } from "../../../compiler/support/bug.ts";
import { roundFloat } from "../../../compiler/support/float.ts";
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import type { TargetName } from "../../../compiler/targets.ts";
import { assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { type Argument, emulate } from "../../support/emulate.ts";
import { freshRandom } from "../../support/random.ts";
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

const OPERATIONS = {
  "+": (x: number, y: number) => x + y,
  "-": (x: number, y: number) => x - y,
  "*": (x: number, y: number) => x * y,
} as const;

for (const target of TARGETS) {
  for (const type of HALVES) {
    Deno.test(`inPairs() computes what single elements are, of ${type} for ${target}`, () => {
      const text = `
#pragma tri num_warps=1
__global__ void k(const T *X, const T *Y, T *Z) {
  int r[${COUNT}] = 0 ... ${COUNT};
  T x[${COUNT}] = *(X + r), y[${COUNT}] = *(Y + r), s = *Y;
${
        Object.keys(OPERATIONS).map((sign, nth) =>
          `  *(Z + ${2 * nth * COUNT} + r) = x ${sign} y; *(Z + ${
            (2 * nth + 1) * COUNT
          } + r) = s ${sign} x;`
        ).join("\n")
      }
}
`.replaceAll("T ", `${nameOf(type)} `);
      const random = freshRandom();
      const bits = (): Uint8Array =>
        new Uint8Array(Uint16Array.from({ length: COUNT }, () => random.below(65536)).buffer);
      const [x, y] = [bits(), bits()];
      const z = new Uint8Array(2 * 6 * COUNT).fill(0x55);
      const ptx = run(text, target, [x, y, z]);
      const hasPairs = type === "float16" || target === "sm_90a";
      assertEquals(/mul\.rn\.b?f16x2/.test(ptx), hasPairs);
      const [a, b] = [x, y].map((data) => decode(type, data).map(Number));
      const found = decode(type, z).map(Number);
      const first = must(b?.[0], "number");
      const expected = Object.values(OPERATIONS).flatMap((of) => [
        ...must(a, "numbers").map((one, i) => of(one, must(b?.[i], "number"))),
        ...must(a, "numbers").map((one) => of(first, one)),
      ]);
      // Sums and products of two halves are doubles, or rounded far below the last bit of a half.
      assertEquals(found, expected.map((value) => roundFloat(value, type)));
    });
  }
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
