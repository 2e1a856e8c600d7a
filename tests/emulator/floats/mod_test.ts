import fc from "../../support/property.ts";
import { must } from "../../../compiler/support/bug.ts";
import { floatOperation } from "../../../emulator/floats/mod.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { SEED } from "../../support/seed.ts";
import { sampled, TAKES_ALL } from "../../support/sampled.ts";
import { allFloatForms, type FloatForm } from "../../support/emulator/float_forms.ts";
import { operand } from "../../support/emulator/float_operands.ts";
import { agrees, referenceOf } from "../../support/emulator/float_reference.ts";
import { instruction, runOperation } from "../../support/emulator/float_run.ts";

const forms = allFloatForms();
const isApproximate = ({ name }: FloatForm): boolean => /\.(?:approx|full)\b/.test(name);

const hex = (values: readonly (bigint | string)[]): string =>
  values.map((value) => value.toString(16)).join(" ");

/** Tries an instruction on operands, special and random. */
function check(form: FloatForm, runs: number): void {
  const operation = must(floatOperation(form.match), form.name);
  fc.assert(
    fc.property(fc.tuple(...form.sources.map(operand)), (sources) => {
      const expected = referenceOf(form, sources);
      const result = runOperation(operation, sources);
      assert(
        agrees(expected, result),
        `${form.name} ${hex(sources)} gives ${hex([result])}, not ${hex(expected.values)}`,
      );
    }),
    { numRuns: runs },
  );
}

Deno.test("floatOperation() has every form of every instruction that computes with floats", () => {
  assert(forms.length > 1000);
  const missing = forms.filter(({ match }) => floatOperation(match) === undefined);
  assertEquals(missing.map(({ name }) => name), []);
});

Deno.test("floatOperation() has the widths of all operands", () => {
  for (const form of forms) {
    const { sources, result } = must(floatOperation(form.match), form.name);
    assertEquals(sources.length, form.sources.length, form.name);
    const names = form.instruction.operands
      .flatMap((each) => each.kind === "vector" ? each.elements : [each])
      .map((each) => each.kind === "register" ? each.type : "");
    const widths = [result, ...sources].map((width) => width === 1 ? "pred" : `b${width}`);
    assertEquals(widths, names, form.name);
  }
});

for (const opcode of new Set(forms.map(({ match }) => match.opcode))) {
  const own = forms.filter((form) => form.match.opcode === opcode && !isApproximate(form));
  if (own.length === 0) continue;
  Deno.test(`floatOperation() computes ${opcode} as exact arithmetic rounded once does`, () => {
    for (const form of own) {
      // Few random operands of stochastic conversions are within the range of the result.
      check(form, /\.rs\./.test(form.name) ? 400 : opcode === "cvt" ? 60 : 150);
    }
  });
}

Deno.test("floatOperation() is right about all values of narrow formats", () => {
  const unary = [
    "cvt.f32.f16",
    "cvt.f64.f16",
    "cvt.f32.bf16",
    "cvt.rn.bf16.f16",
    "cvt.rm.bf16.f16",
    "cvt.rn.f16.bf16",
    "cvt.rp.f16.bf16",
    "cvt.rni.f16.f16",
    "cvt.rmi.bf16.bf16",
    "cvt.rzi.s16.f16",
    "cvt.rn.f16x2.e4m3x2",
    "cvt.rn.relu.f16x2.e5m2x2",
    "cvt.rn.satfinite.e4m3x2.f16x2",
    "cvt.rn.satfinite.relu.e5m2x2.f16x2",
  ];
  for (const name of sampled(unary, 1)) {
    const form = must(forms.find((each) => each.name === name), name);
    const run = instruction(name);
    const step = TAKES_ALL ? 1 : 4;
    for (let bits = BigInt(SEED % step); bits < 65536n; bits += BigInt(step)) {
      // In pairs the other half is another number.
      const source = form.sources[0] === "b32" ? bits << 16n | bits ^ 0x8055n : bits;
      const expected = referenceOf(form, [source]);
      assert(agrees(expected, run(source)), `${name} ${hex([source, run(source)])}`);
    }
  }
});

Deno.test("floatOperation() rounds both halves of every pair of f16 as the halves alone", () => {
  const pair = instruction("fma.rn.f16x2");
  const single = instruction("fma.rn.f16");
  const sources = operand("f16x2");
  fc.assert(
    fc.property(sources, sources, sources, (a, b, c) => {
      const high = single(a >> 16n, b >> 16n, c >> 16n);
      assertEquals(pair(a, b, c), high << 16n | single(a & 0xffffn, b & 0xffffn, c & 0xffffn));
    }),
  );
});

Deno.test("floatOperation() sees factors that nearly cancel the summand of fma", () => {
  for (const type of ["f32", "f64"] as const) {
    const fma = `fma.rn.${type}`;
    const form = must(forms.find((each) => each.name === fma), fma);
    const [product, run] = [instruction(`mul.rn.${type}`), instruction(fma)];
    const sources = operand(type);
    fc.assert(
      fc.property(sources, sources, fc.bigInt({ min: -3n, max: 3n }), (a, b, ulps) => {
        const sign = type === "f64" ? 1n << 63n : 1n << 31n;
        const near = BigInt.asUintN(type === "f64" ? 64 : 32, (product(a, b) ^ sign) + ulps);
        const result = run(a, b, near);
        assert(agrees(referenceOf(form, [a, b, near]), result), hex([a, b, near, result]));
      }),
      { numRuns: 2000 },
    );
  }
});
