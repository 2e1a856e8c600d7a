/** Conversions of every scalar type to every other on the emulator, against exact arithmetic. */
import { convertScalar } from "../../../../compiler/support/arith.ts";
import { floatFromBits } from "../../../../compiler/support/float.ts";
import { type ScalarName, SCALARS } from "../../../../compiler/support/scalar.ts";
import { bitcastScalar } from "../../../../compiler/support/arith.ts";
import { type TargetName, TARGETS } from "../../../../compiler/targets.ts";
import { assertEquals } from "../../../support/assert.ts";
import { freshRandom } from "../../../support/random.ts";
import { halfOf, testsInTurn } from "../../../support/sampled.ts";
import { CompiledText, zeros } from "../../../support/compiler/value_run.ts";
import { decode, firstDifference, type Scalar } from "../../../support/typed_arrays.ts";

const test = testsInTurn(2);

const TYPES = Object.keys(SCALARS) as ScalarName[];
const COUNT = 512;

/** Every pattern of narrow types; of wide ones edges, random patterns, and numbers near ties of narrower types. */
function operandsOf(type: ScalarName): Scalar[] {
  const { bits, class: kind } = SCALARS[type];
  if (bits === 1) return Array.from({ length: COUNT }, (_, i) => BigInt(i & 1));
  const random = freshRandom();
  const bytes = new Uint8Array(COUNT * bits / 8);
  random.fill(bytes);
  const values = decode(type, bytes);
  if (bits === 8) {
    return values.map((_, i) => decode(type, Uint8Array.of(i & 255))[0] ?? 0);
  }
  if (kind === "int") {
    const edges = [
      0n,
      1n,
      -1n,
      127n,
      128n,
      255n,
      256n,
      1n << 24n,
      (1n << 24n) + 1n,
      0x1010000n,
      0x1030000n,
    ];
    return values.map((value, i) =>
      i < edges.length
        ? convertScalar(edges[i] ?? 0n, type)
        : BigInt(value) >> BigInt(i % 3 * (bits / 4))
    );
  }
  const edges = [
    0,
    -0,
    Infinity,
    -Infinity,
    NaN,
    448,
    449,
    464,
    465,
    57344,
    61440,
    65504,
    65520,
    2 ** 31,
    -(2 ** 31),
    2 ** 63,
    300.5,
  ];
  const ties = [
    1 + 2 ** -4,
    1 + 3 * 2 ** -4,
    1 + 2 ** -8,
    1 + 2 ** -11,
    2 ** -10,
    3 * 2 ** -10,
    2 ** -17,
    2 ** -25,
    1 + 2 ** -24,
  ];
  const slight = [0, 2 ** -30, -(2 ** -30), 2 ** -50];
  return values.map((value, i) => {
    if (i < edges.length) return convertScalar(edges[i] ?? 0, type);
    if (i % 4 === 0) {
      return convertScalar((ties[i % ties.length] ?? 1) * (1 + (slight[(i >> 2) % 4] ?? 0)), type);
    }
    if (i % 4 === 1) return convertScalar((random.below(2 ** 20) - 2 ** 19) * 2 ** -(i % 24), type);
    return value;
  });
}

const isNumber = (value: Scalar): boolean => !Number.isNaN(value);

function checkConversions(from: ScalarName, target: TargetName): void {
  const source = SCALARS[from].spelling;
  const body = TYPES.map((to) =>
    `  *((${SCALARS[to].spelling} *)Y_${to} + 0 ... ${COUNT}) = (${
      SCALARS[to].spelling
    }[${COUNT}])x;`
  ).join("\n");
  const compiled = new CompiledText(
    `#pragma tri grid(1)
__global__ void k(${source} *X, ${
      TYPES.map((to) => `${SCALARS[to].spelling} *Y_${to}`).join(", ")
    }) {
  ${source} x[${COUNT}] = *(X + 0 ... ${COUNT});
${body}
}`,
    target,
  );
  const values = operandsOf(from);
  const [, ...results] = compiled.run([
    { type: from, values },
    ...TYPES.map((to) => zeros(to, COUNT)),
  ]);
  TYPES.forEach((to, i) =>
    assertEquals(
      firstDifference(
        results[i] ?? [],
        values.map((value) => from === to ? value : convertScalar(value, to)),
        values,
      ),
      undefined,
      `${from} to ${to}`,
    )
  );
}

for (
  const target of ["sm_70", "sm_80", "sm_89", "sm_90"] as const satisfies readonly TargetName[]
) {
  test(`convertScalar() computes what the language says for all pairs of types, on ${target}`, () => {
    for (const from of halfOf(TYPES, TARGETS[target].sm)) checkConversions(from, target);
  });
}

Deno.test("bitcast keeps all bits between types of one size", () => {
  for (const from of TYPES) {
    for (const to of TYPES) {
      if (from === to || SCALARS[from].bits !== SCALARS[to].bits || from === "bool") continue;
      const compiled = new CompiledText(`#pragma tri grid(1)
__global__ void k(${SCALARS[from].spelling} *X, ${SCALARS[to].spelling} *Y) {
  *(Y + 0 ... ${COUNT}) = bitcast<${SCALARS[to].spelling}[${COUNT}]>(*(X + 0 ... ${COUNT}));
}`);
      const values = operandsOf(from).filter(isNumber);
      while (values.length < COUNT) values.push(values[0] ?? 0);
      const [, result = []] = compiled.run([{ type: from, values }, zeros(to, COUNT)]);
      values.forEach((value, i) => {
        const expected = bitcastScalar(value, from, to);
        if (expected !== undefined) assertEquals(result[i], expected, `${from} to ${to}`);
      });
    }
  }
});

Deno.test("floatFromBits() agrees with the emulator about every float8", () => {
  for (const type of ["float8e4", "float8e5"] as const) {
    for (
      const compiled of CompiledText.forAll(
        `#pragma tri grid(1)
__global__ void k(${type} *X, float *Y) { *(Y + 0 ... 256) = (float[256])*(X + 0 ... 256); }`,
      )
    ) {
      const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
      const [result = []] = compiled.run([bytes, zeros("float32", 256)]);
      assertEquals(result, Array.from(bytes, (code) => floatFromBits(BigInt(code), type)));
    }
  }
});
