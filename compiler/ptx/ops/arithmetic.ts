/** Rows of PTX_OPS: arithmetic on integers and floats (PTX ISA 9.0, 9.7.1 to 9.7.5). */
import type { PtxForm, PtxOpRow, Since } from "../form.ts";

const HALF: Since = { ptx: 42, sm: 53 };
const BFLOAT: Since = { ptx: 78, sm: 90 };
const AMPERE: Since = { ptx: 70, sm: 80 };
const BLACKWELL: Since = { ptx: 86, sm: 100 };
const ADA: Since = { ptx: 80, sm: 90 };

const INTS = "u16 u32 u64 s16 s32 s64";

/** add, sub, mul on floats. */
const floatForms: readonly PtxForm[] = [
  { form: ".RND?.ftz?.sat?.f32 d, a, b" },
  { form: ".RND?.f64 d, a, b", since: { ptx: 10, sm: 13 } },
  { form: ".rn?.ftz?.sat?.T d, a, b", T: "f16 f16x2", since: HALF },
  { form: ".rn?.T d, a, b", T: "bf16 bf16x2", since: BFLOAT },
  { form: ".RND?.ftz?.f32x2 d, a, b", since: BLACKWELL },
];

/** add and sub of a narrow float to single precision. */
const mixedForms: readonly PtxForm[] = [
  { form: ".RND?.sat?.f32.U d:f32, a:U, c:f32", U: "f16 bf16", since: BLACKWELL },
];

/** min and max. */
const extremeForms: readonly PtxForm[] = [
  { form: ".T d, a, b", T: INTS },
  { form: ".T d, a, b", T: "u16x2 s16x2", since: ADA },
  { form: ".relu.T d, a, b", T: "s16x2 s32", since: ADA },
  { form: ".ftz?.f32 d, a, b" },
  { form: ".ftz?.NaN.f32 d, a, b", since: AMPERE },
  { form: ".ftz?.NaN?.xorsign.abs.f32 d, a, b", since: { ptx: 72, sm: 86 } },
  { form: ".f64 d, a, b", since: { ptx: 10, sm: 13 } },
  { form: ".ftz?.NaN?.T d, a, b", T: "f16 f16x2", since: AMPERE },
  { form: ".ftz?.NaN?.xorsign.abs.T d, a, b", T: "f16 f16x2", since: { ptx: 72, sm: 86 } },
  { form: ".NaN?.T d, a, b", T: "bf16 bf16x2", since: AMPERE },
  { form: ".NaN?.xorsign.abs.T d, a, b", T: "bf16 bf16x2", since: { ptx: 72, sm: 86 } },
];

/** rcp and sqrt. */
const rootForms: readonly PtxForm[] = [
  { form: ".approx.ftz?.f32 d, a" },
  { form: ".RND.ftz?.f32 d, a", since: { ptx: 14, sm: 20 } },
  { form: ".RND.f64 d, a", since: { ptx: 14, sm: 13 } },
];

// deno-fmt-ignore: a row per instruction
export const ARITHMETIC_OPS = {
  // ---- 9.7.1 integers, with 9.7.3 to 9.7.5 floats under the same names
  add: { doc: "a + b", isa: "9.7.1.1, 9.7.3.3, 9.7.4.1, 9.7.5.1", effect: "pure", forms: [
    { form: ".T d, a, b", T: INTS },
    { form: ".T d, a, b", T: "u16x2 s16x2", since: ADA },
    { form: ".sat.s32 d, a, b" },
    ...floatForms, ...mixedForms,
  ] },
  sub: { doc: "a - b", isa: "9.7.1.2, 9.7.3.4, 9.7.4.2, 9.7.5.2", effect: "pure", forms: [
    { form: ".T d, a, b", T: INTS },
    { form: ".sat.s32 d, a, b" },
    ...floatForms, ...mixedForms,
  ] },
  mul: { doc: "a * b; of integers the low or high half, or all", isa: "9.7.1.3, 9.7.3.5, 9.7.4.3", effect: "pure", forms: [
    { form: ".lo|hi.T d, a, b", T: INTS },
    { form: ".wide.T d:W, a, b", T: "u16 u32 s16 s32" },
    ...floatForms,
  ] },
  mad: { doc: "a * b + c; of integers the low or high half of the product, or all", isa: "9.7.1.4, 9.7.3.7", effect: "pure", forms: [
    { form: ".lo|hi.T d, a, b, c", T: INTS },
    { form: ".hi.sat.s32 d, a, b, c" },
    { form: ".wide.T d:W, a, b, c:W", T: "u16 u32 s16 s32" },
    { form: ".RND.ftz?.sat?.f32 d, a, b, c", since: { ptx: 14, sm: 20 } },
    { form: ".RND.f64 d, a, b, c", since: { ptx: 14, sm: 13 } },
  ] },
  fma: { doc: "a * b + c, rounded once", isa: "9.7.3.6, 9.7.4.4, 9.7.5.3", effect: "pure", forms: [
    { form: ".RND.ftz?.sat?.f32 d, a, b, c", since: { ptx: 20, sm: 20 } },
    { form: ".RND.f64 d, a, b, c", since: { ptx: 14, sm: 13 } },
    { form: ".rn.ftz?.sat?.T d, a, b, c", T: "f16 f16x2", since: HALF },
    { form: ".rn.ftz?.relu.T d, a, b, c", T: "f16 f16x2", since: AMPERE },
    { form: ".rn.relu?.T d, a, b, c", T: "bf16 bf16x2", since: AMPERE },
    { form: ".rn.oob.relu?.T d, a, b, c", T: "f16 f16x2 bf16 bf16x2", since: { ptx: 81, sm: 90 } },
    { form: ".RND.ftz?.f32x2 d, a, b, c", since: BLACKWELL },
    { form: ".RND.sat?.f32.U d:f32, a:U, b:U, c:f32", U: "f16 bf16", since: BLACKWELL },
  ] },
  mul24: { doc: "low or high half of the product of 24-bit integers", isa: "9.7.1.5", effect: "pure", forms: [{ form: ".lo|hi.T d, a, b", T: "u32 s32" }] },
  mad24: { doc: "a * b + c of 24-bit integers", isa: "9.7.1.6", effect: "pure", forms: [
    { form: ".lo|hi.T d, a, b, c", T: "u32 s32" },
    { form: ".hi.sat.s32 d, a, b, c" },
  ] },
  sad: { doc: "|a - b| + c", isa: "9.7.1.7", effect: "pure", forms: [{ form: ".T d, a, b, c", T: INTS }] },
  div: { doc: "a / b; integers towards zero", isa: "9.7.1.8, 9.7.3.8", effect: "pure", forms: [
    { form: ".T d, a, b", T: INTS },
    { form: ".approx|full.ftz?.f32 d, a, b" },
    { form: ".RND.ftz?.f32 d, a, b", since: { ptx: 14, sm: 20 } },
    { form: ".RND.f64 d, a, b", since: { ptx: 14, sm: 13 } },
  ] },
  rem: { doc: "a % b with the sign of a", isa: "9.7.1.9", effect: "pure", forms: [{ form: ".T d, a, b", T: INTS }] },
  abs: { doc: "|a|", isa: "9.7.1.10, 9.7.3.9, 9.7.4.6", effect: "pure", forms: [
    { form: ".T d, a", T: "s16 s32 s64" },
    { form: ".ftz?.f32 d, a" },
    { form: ".f64 d, a", since: { ptx: 10, sm: 13 } },
    { form: ".ftz?.T d, a", T: "f16 f16x2", since: { ptx: 65, sm: 53 } },
    { form: ".T d, a", T: "bf16 bf16x2", since: AMPERE },
  ] },
  neg: { doc: "-a", isa: "9.7.1.11, 9.7.3.10, 9.7.4.5", effect: "pure", forms: [
    { form: ".T d, a", T: "s16 s32 s64" },
    { form: ".ftz?.f32 d, a" },
    { form: ".f64 d, a", since: { ptx: 10, sm: 13 } },
    { form: ".ftz?.T d, a", T: "f16 f16x2", since: { ptx: 60, sm: 53 } },
    { form: ".T d, a", T: "bf16 bf16x2", since: AMPERE },
  ] },
  min: { doc: "the smaller; numbers win over NaN unless .NaN", isa: "9.7.1.12, 9.7.3.11, 9.7.4.7", effect: "pure", forms: extremeForms },
  max: { doc: "the larger; numbers win over NaN unless .NaN", isa: "9.7.1.13, 9.7.3.12, 9.7.4.8", effect: "pure", forms: extremeForms },
  popc: { doc: "number of ones", isa: "9.7.1.14", effect: "pure", since: { ptx: 20, sm: 20 }, forms: [{ form: ".T d:u32, a", T: "b32 b64" }] },
  clz: { doc: "number of leading zeros", isa: "9.7.1.15", effect: "pure", since: { ptx: 20, sm: 20 }, forms: [{ form: ".T d:u32, a", T: "b32 b64" }] },
  bfind: { doc: "position of the highest bit that is not the sign", isa: "9.7.1.16", effect: "pure", since: { ptx: 20, sm: 20 }, forms: [{ form: ".shiftamt?.T d:u32, a", T: "u32 u64 s32 s64" }] },
  fns: { doc: "position of the n-th one from a base", isa: "9.7.1.17", effect: "pure", since: { ptx: 60, sm: 30 }, forms: [{ form: ".b32 d, a, b, c:s32" }] },
  brev: { doc: "bits in reverse order", isa: "9.7.1.18", effect: "pure", since: { ptx: 20, sm: 20 }, forms: [{ form: ".T d, a", T: "b32 b64" }] },
  bfe: { doc: "c bits of a from bit b, extended", isa: "9.7.1.19", effect: "pure", since: { ptx: 20, sm: 20 }, forms: [{ form: ".T d, a, b:u32, c:u32", T: "u32 u64 s32 s64" }] },
  bfi: { doc: "b with its bits from c on, e of them, replaced by those of a", isa: "9.7.1.20", effect: "pure", since: { ptx: 20, sm: 20 }, forms: [{ form: ".T d, a, b, c:u32, e:u32", T: "b32 b64" }] },
  szext: { doc: "the low b bits of a, extended", isa: "9.7.1.21", effect: "pure", since: { ptx: 76, sm: 70 }, forms: [{ form: ".clamp|wrap.T d, a, b:u32", T: "u32 s32" }] },
  bmsk: { doc: "b ones from bit a on", isa: "9.7.1.22", effect: "pure", since: { ptx: 76, sm: 70 }, forms: [{ form: ".clamp|wrap.b32 d, a, b" }] },
  dp4a: { doc: "c plus the inner product of four bytes", isa: "9.7.1.23", effect: "pure", since: { ptx: 50, sm: 61 }, forms: [{ form: ".T.U d:b32, a:b32, b:b32, c:b32", T: "u32 s32", U: "u32 s32" }] },
  dp2a: { doc: "c plus the inner product of two 16-bit numbers and two bytes", isa: "9.7.1.24", effect: "pure", since: { ptx: 50, sm: 61 }, forms: [{ form: ".lo|hi.T.U d:b32, a:b32, b:b32, c:b32", T: "u32 s32", U: "u32 s32" }] },

  // ---- 9.7.2 extended precision; the condition code is an effect
  "add.cc": { doc: "a + b, carry to the condition code", isa: "9.7.2.1", effect: "write", forms: [{ form: ".T d, a, b", T: "u32 s32" }, { form: ".T d, a, b", T: "u64 s64", since: { ptx: 43, sm: 10 } }] },
  addc: { doc: "a + b + carry", isa: "9.7.2.2", effect: "write", forms: [{ form: ".cc?.T d, a, b", T: "u32 s32" }, { form: ".cc?.T d, a, b", T: "u64 s64", since: { ptx: 43, sm: 10 } }] },
  "sub.cc": { doc: "a - b, borrow to the condition code", isa: "9.7.2.3", effect: "write", forms: [{ form: ".T d, a, b", T: "u32 s32" }, { form: ".T d, a, b", T: "u64 s64", since: { ptx: 43, sm: 10 } }] },
  subc: { doc: "a - b - borrow", isa: "9.7.2.4", effect: "write", forms: [{ form: ".cc?.T d, a, b", T: "u32 s32" }, { form: ".cc?.T d, a, b", T: "u64 s64", since: { ptx: 43, sm: 10 } }] },
  "mad.lo.cc": { doc: "low half of a * b, plus c, carry to the condition code", isa: "9.7.2.5", effect: "write", forms: [{ form: ".T d, a, b, c", T: "u32 s32", since: { ptx: 30, sm: 20 } }, { form: ".T d, a, b, c", T: "u64 s64", since: { ptx: 43, sm: 20 } }] },
  "mad.hi.cc": { doc: "high half of a * b, plus c, carry to the condition code", isa: "9.7.2.5", effect: "write", forms: [{ form: ".T d, a, b, c", T: "u32 s32", since: { ptx: 30, sm: 20 } }, { form: ".T d, a, b, c", T: "u64 s64", since: { ptx: 43, sm: 20 } }] },
  madc: { doc: "half of a * b, plus c, plus carry", isa: "9.7.2.6", effect: "write", forms: [{ form: ".lo|hi.cc?.T d, a, b, c", T: "u32 s32", since: { ptx: 30, sm: 20 } }, { form: ".lo|hi.cc?.T d, a, b, c", T: "u64 s64", since: { ptx: 43, sm: 20 } }] },

  // ---- 9.7.3 floats only, with 9.7.4 half precision
  testp: { doc: "whether a is finite, infinite, a number, NaN, normal or subnormal", isa: "9.7.3.1", effect: "pure", since: { ptx: 20, sm: 20 }, forms: [{ form: ".finite|infinite|number|notanumber|normal|subnormal.T d:pred, a", T: "f32 f64" }] },
  copysign: { doc: "b with the sign of a", isa: "9.7.3.2", effect: "pure", since: { ptx: 20, sm: 20 }, forms: [{ form: ".T d, a, b", T: "f32 f64" }] },
  rcp: { doc: "1 / a", isa: "9.7.3.13, 9.7.3.14", effect: "pure", forms: [...rootForms, { form: ".approx.ftz.f64 d, a", since: { ptx: 21, sm: 20 } }] },
  sqrt: { doc: "square root", isa: "9.7.3.15", effect: "pure", forms: rootForms },
  rsqrt: { doc: "1 / square root", isa: "9.7.3.16, 9.7.3.17", effect: "pure", forms: [
    { form: ".approx.ftz?.f32 d, a" },
    { form: ".approx.f64 d, a", since: { ptx: 10, sm: 13 } },
    { form: ".approx.ftz.f64 d, a", since: { ptx: 40, sm: 20 } },
  ] },
  sin: { doc: "sine", isa: "9.7.3.18", effect: "pure", forms: [{ form: ".approx.ftz?.f32 d, a" }] },
  cos: { doc: "cosine", isa: "9.7.3.19", effect: "pure", forms: [{ form: ".approx.ftz?.f32 d, a" }] },
  lg2: { doc: "logarithm to base 2", isa: "9.7.3.20", effect: "pure", forms: [{ form: ".approx.ftz?.f32 d, a" }] },
  ex2: { doc: "2 to the power of a", isa: "9.7.3.21, 9.7.4.10", effect: "pure", forms: [
    { form: ".approx.ftz?.f32 d, a" },
    { form: ".approx.T d, a", T: "f16 f16x2", since: { ptx: 70, sm: 75 } },
    { form: ".approx.ftz.T d, a", T: "bf16 bf16x2", since: BFLOAT },
  ] },
  tanh: { doc: "hyperbolic tangent", isa: "9.7.3.22, 9.7.4.9", effect: "pure", forms: [
    { form: ".approx.f32 d, a", since: { ptx: 70, sm: 75 } },
    { form: ".approx.T d, a", T: "f16 f16x2", since: { ptx: 70, sm: 75 } },
    { form: ".approx.T d, a", T: "bf16 bf16x2", since: BFLOAT },
  ] },
} as const satisfies Record<string, PtxOpRow>;
