/** What NaN becomes: the ISA leaves most of it open, these are the results of an H200. */
import { assertEquals } from "../../support/assert.ts";
import { instruction } from "../../support/emulator/float_run.ts";

Deno.test("floatOperation() has one NaN for single and half precision", () => {
  const cases = [
    ["add.f32", [0xff800001n, 0x3f800000n], 0x7fffffffn],
    ["mul.f32", [0n, 0x7f800000n], 0x7fffffffn],
    ["sqrt.rn.f32", [0xbf800000n], 0x7fffffffn],
    ["neg.f32", [0x7fffffffn], 0x7fffffffn],
    ["abs.f32", [0xff800001n], 0x7fffffffn],
    ["min.f32", [0x7fc00000n, 0xffc00000n], 0x7fffffffn],
    ["fma.rn.f16", [0x7c00n, 0n, 0n], 0x7fffn],
    ["neg.f16", [0xfc01n], 0x7fffn],
    ["add.bf16", [0x7f80n, 0xff80n], 0x7fffn],
    ["cvt.rn.f16.f32", [0xff800001n], 0x7fffn],
    ["cvt.rn.relu.bf16.f32", [0xffc00000n], 0x7fffn],
    ["cvt.f32.f16", [0xfc01n], 0x7fffffffn],
    ["cvt.rn.satfinite.e4m3x2.f32", [0x7fc00000n, 0x3f800000n], 0x7f38n],
  ] as const;
  for (const [name, sources, result] of cases) {
    assertEquals(instruction(name)(...sources), result, name);
  }
});

Deno.test("floatOperation() passes on the payloads of doubles, made quiet", () => {
  const [one, invalid] = [0x3ff0000000000000n, 0xfff8000000000000n];
  const [a, b, c] = [0x7ff0000000000001n, 0xfff0000000000002n, 0x7ff8000000000003n];
  const [quietA, quietB] = [0x7ff8000000000001n, 0xfff8000000000002n];
  const infinity = 0x7ff0000000000000n;
  const cases = [
    ["add.rn.f64", [a, one], quietA],
    ["add.rz.f64", [a, b], quietB],
    ["mul.rn.f64", [a, b], quietB],
    ["fma.rn.f64", [a, b, c], quietB],
    ["fma.rn.f64", [a, one, c], c],
    ["div.rn.f64", [a, b], quietA],
    ["min.f64", [a, b], quietB],
    ["min.f64", [a, one], one],
    ["neg.f64", [b], quietB],
    ["sub.rn.f64", [infinity, infinity], invalid],
    ["sqrt.rn.f64", [one | 1n << 63n], invalid],
    ["cvt.f64.f64", [a], a],
  ] as const;
  for (const [name, sources, result] of cases) {
    assertEquals(instruction(name)(...sources), result, name);
  }
});

Deno.test("cvt between doubles and narrower floats keeps the sign and the upper payload of NaN", () => {
  const cases = [
    ["cvt.f64.f32", 0xff800001n, 0xfff8000020000000n],
    ["cvt.f64.f16", 0x7c01n, 0x7ff8040000000000n],
    ["cvt.rn.f32.f64", 0xfff0000020000000n, 0xffc00001n],
    ["cvt.rn.f16.f64", 0x7ff0000000000001n, 0x7e00n],
    ["cvt.rn.bf16.f64", 0xfff8000000000000n, 0xffc0n],
    ["cvt.f32.bf16", 0xff81n, 0xff810000n],
    ["cvt.f32.f32", 0xff800001n, 0xff800001n],
    ["cvt.rna.tf32.f32", 0x7fc00001n, 0x7fc00000n],
    ["cvt.rna.tf32.f32", 0xff800001n, 0xff800000n],
    ["cvt.rna.satfinite.tf32.f32", 0xff800001n, 0xff7fe000n],
    ["cvt.rna.satfinite.tf32.f32", 0xff8027fdn, 0xff800000n],
  ] as const;
  for (const [name, source, result] of cases) assertEquals(instruction(name)(source), result, name);
});

Deno.test("cvt to integers makes NaN 0, or the highest bit where either side has 64 bits", () => {
  const cases = [
    ["cvt.rzi.s32.f32", 0x7fc00000n, 0n],
    ["cvt.rzi.u16.f16", 0x7e00n, 0n],
    ["cvt.rzi.s64.f32", 0x7fc00000n, 1n << 63n],
    ["cvt.rzi.u64.f16", 0x7e00n, 1n << 63n],
    ["cvt.rzi.s32.f64", 0x7ff8000000000000n, 0x80000000n],
    ["cvt.rzi.u32.f64", 0x7ff8000000000000n, 0x80000000n],
  ] as const;
  for (const [name, source, result] of cases) assertEquals(instruction(name)(source), result, name);
});

Deno.test("fma.oob makes products with elements out of bounds 0", () => {
  const fma = instruction("fma.rn.oob.f16");
  assertEquals(fma(0x7ff7n, 0x3c00n, 0x3c00n), 0n);
  assertEquals(fma(0x3c00n, 0xfff7n, 0x3c00n), 0n);
  assertEquals(fma(0x3c00n, 0x3c00n, 0x7ff7n), 0x7fffn);
  assertEquals(fma(0x7ff6n, 0x3c00n, 0x3c00n), 0x7fffn);
  assertEquals(instruction("fma.rn.oob.bf16x2")(0x7ff73f80n, 0x3f803f80n, 0n), 0x00003f80n);
});
