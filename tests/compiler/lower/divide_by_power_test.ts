/** Quotients and remainders by constant powers of two, on the emulator: compared with those of BigInt, which round towards zero. */
import { must } from "../../../compiler/support/bug.ts";
import { assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { emulate } from "../../support/emulate.ts";
import { freshRandom } from "../../support/random.ts";

const COUNT = 128;
const DIVISORS = [1n, 2n, 8n, 128n, 1n << 30n];
const TYPES = {
  int: [32, true],
  "unsigned int": [32, false],
  "long long": [64, true],
  "unsigned long long": [64, false],
  short: [16, true],
} as const;

const textOf = (type: string, divisors: readonly bigint[]): string => `
#pragma tri specialize(off)
#pragma tri num_warps=1
__global__ void k(const ${type} *X, ${type} *Y) {
  int r[${COUNT}] = 0 ... ${COUNT};
  ${type} x[${COUNT}] = *(X + r);
${
  divisors.map((divisor, nth) =>
    `  *(Y + ${2 * nth * COUNT} + r) = x / ${divisor}; *(Y + ${
      (2 * nth + 1) * COUNT
    } + r) = x % ${divisor};`
  ).join("\n")
}
}
`;

for (const [type, [bits, isSigned]] of Object.entries(TYPES)) {
  Deno.test(`divideByPower() rounds towards zero: ${type}`, () => {
    const divisors = DIVISORS.filter((divisor) => divisor < 1n << BigInt(bits - 1));
    const { kernels, diagnostics } = compileFile(
      { name: "k.tc", text: textOf(type, divisors) },
      { targets: ["sm_90a"] },
    );
    assertEquals(diagnostics.map(({ message }) => message), []);
    const { ptx } = must(kernels[0]?.modules[0], "a module");
    assertEquals(ptx.match(/\b(div|rem)\.\w+/g), null);
    const random = freshRandom();
    const cut = isSigned ? BigInt.asIntN : BigInt.asUintN;
    const ends = [0n, -1n, 1n, 1n << BigInt(bits - 1), (1n << BigInt(bits - 1)) - 1n, -128n, 127n];
    const values = Array.from({ length: COUNT }, (_, i) =>
      cut(
        bits,
        ends[i] ??
          (BigInt(random.below(2 ** 32)) << 32n | BigInt(random.below(2 ** 32))) >>
            BigInt(random.below(64)),
      ));
    const of = (list: readonly bigint[]): Uint8Array => {
      const array = bits === 64
        ? (isSigned ? BigInt64Array : BigUint64Array).from(list)
        : (bits === 16 ? Int16Array : isSigned ? Int32Array : Uint32Array).of(...list.map(Number));
      return new Uint8Array(array.buffer);
    };
    const results = of(new Array<bigint>(2 * divisors.length * COUNT).fill(85n));
    emulate(ptx, {
      kernel: "k",
      args: [of(values), results],
      constants: {},
      grid: [1, 1, 1],
      block: [32, 1, 1],
      sharedBytes: 0,
    });
    const expected = divisors.flatMap((divisor) => [
      ...values.map((value) => value / divisor),
      ...values.map((value) => value % divisor),
    ]);
    assertEquals([...results], [...of(expected)]);
  });
}
