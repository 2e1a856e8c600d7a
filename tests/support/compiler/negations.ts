/**
 * Minima and maxima of negations, in any position, however the text spells them; and of a whole tile, of which each thread
 * has several elements. compiler/lower/arithmetic.ts describes the ptxas bug that they test for.
 */
import { must } from "../../../compiler/support/bug.ts";
import type { TargetName } from "../../../compiler/targets.ts";
import { assertEquals } from "../assert.ts";
import { compileFile } from "../compile.ts";
import type { Runner } from "../generate/compare.ts";
import { freshRandom } from "../random.ts";

const LENGTH = 512;
const SPELLINGS: readonly ((name: string) => string)[] = [
  (x) => `-${x}`,
  (x) => `(0 - ${x})`,
  (x) => `(${x} * -1)`,
  (x) => `-abs(${x})`,
];
type Of = readonly ["min" | "max", number, number];
/** The operation, which of three operands are negated, as bits, and the spelling. */
const CASES: readonly Of[] = (["min", "max"] as const).flatMap((name) =>
  SPELLINGS.flatMap((_, spelling) =>
    Array.from({ length: 8 }, (_, negated): Of => [name, negated, spelling])
  )
);

const statements = CASES.map(([name, negated, spelling], nth) => {
  const operands = ["a", "b", "c"].map((x, i) =>
    negated >> i & 1 ? must(SPELLINGS[spelling], "a spelling")(x) : x
  );
  return `  *(Y + ${nth * LENGTH} + r) = ${name}(${name}(${operands[0]}, ${operands[1]}), ${
    operands[2]
  });`;
});

const TEXT = `#pragma tri specialize(off)
#pragma tri num_warps=2
__global__ void k(const int *X, int *Y, int *Z) {
  int r[${LENGTH}] = 0 ... ${LENGTH};
  int a[${LENGTH}] = *(X + r); int b[${LENGTH}] = *(X + ${LENGTH} + r); int c[${LENGTH}] = *(X + ${
  2 * LENGTH
} + r);
${statements.join("\n")}
  *Z = (-a)[max]; *(Z + 1) = (-b)[min];
  short s[${LENGTH}] = (short[${LENGTH}])c;
  *(Z + 2) = (int)((-s)[max]);
}
`;

/** The PTX for a target. */
export function negationsFor(target: TargetName): string {
  const { kernels, diagnostics } = compileFile({ name: "k.tc", text: TEXT }, { targets: [target] });
  assertEquals(diagnostics.map(({ message }) => message), []);
  return must(kernels[0]?.modules[0], "a module").ptx;
}

const int32 = (value: number): number => value | 0;

/** Runs it and compares all that it stores. */
export function checkNegations(ptx: string, run: Runner): void {
  const random = freshRandom();
  const ends = [-(2 ** 31), 2 ** 31 - 1, 0, -1, 1];
  const x = Int32Array.from(
    { length: 3 * LENGTH },
    (_, i) => i % 16 === 0 ? ends[random.below(5)] ?? 0 : random.below(2001) - 1000,
  );
  const y = new Int32Array(CASES.length * LENGTH).fill(0x5a5a5a5a);
  const z = new Int32Array(3).fill(0x5a5a5a5a);
  const bytes = (data: Int32Array): Uint8Array => new Uint8Array(data.buffer);
  run(ptx, {
    kernel: "k",
    args: [bytes(x), bytes(y), bytes(z)],
    constants: {},
    grid: [1, 1, 1],
    block: [64, 1, 1],
    sharedBytes: 0,
  });
  const [a, b, c] = [0, 1, 2].map((nth) => x.subarray(nth * LENGTH, (nth + 1) * LENGTH));
  const expected = CASES.flatMap(([name, negated, spelling]) =>
    Array.from({ length: LENGTH }, (_, i) =>
      Math[name](...[a, b, c].map((operand, nth) => {
        const value = operand?.[i] ?? 0;
        if ((negated >> nth & 1) === 0) return value;
        return int32(-(spelling === 3 ? int32(Math.abs(value)) : value));
      })))
  );
  const seed = `seed ${random.seed}`;
  assertEquals([...y], expected, seed);
  const short = [...c ?? []].map((value) => -(value << 16 >> 16) << 16 >> 16);
  assertEquals(
    [...z],
    [
      Math.max(...[...a ?? []].map((value) => int32(-value))),
      Math.min(...[...b ?? []].map((value) => int32(-value))),
      Math.max(...short),
    ],
    seed,
  );
}
