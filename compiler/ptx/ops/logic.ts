/** Rows of PTX_OPS: comparison, selection, logic, shifts (PTX ISA 9.0, 9.7.6 to 9.7.8). */
import type { PtxForm, PtxOpRow, Since } from "../form.ts";

const HALF: Since = { ptx: 42, sm: 53 };
const BFLOAT: Since = { ptx: 78, sm: 90 };
const WORDS = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64";

/** set with half-precision operands or results. */
const halfSets: readonly PtxForm[] = [
  { compare: ".CMPI", T: "f16", U: "s16 s32 s64", since: HALF },
  { compare: ".CMPU", T: "f16", U: "u16 u32 u64", since: HALF },
  { compare: ".eq|ne", T: "f16", U: "b16 b32 b64", since: HALF },
  { compare: ".CMPF", ftz: ".ftz?", T: "f16", U: "f16 f32", since: HALF },
  { compare: ".CMPF", T: "f16", U: "f64", since: HALF },
  { compare: ".CMPF", ftz: ".ftz?", T: "u16 s16 u32 s32", U: "f16", since: { ptx: 65, sm: 53 } },
  { compare: ".CMPF", ftz: ".ftz?", T: "f16x2", U: "f16x2", since: HALF },
  { compare: ".CMPF", ftz: ".ftz?", T: "u32 s32", U: "f16x2", since: { ptx: 65, sm: 53 } },
  { compare: ".CMPI", T: "bf16", U: "s16 s32 s64", since: BFLOAT },
  { compare: ".CMPU", T: "bf16", U: "u16 u32 u64", since: BFLOAT },
  { compare: ".eq|ne", T: "bf16", U: "b16 b32 b64", since: BFLOAT },
  { compare: ".CMPF", T: "bf16", U: "f16 f32 f64", since: BFLOAT },
  { compare: ".CMPF", T: "bf16 u16 s16 u32 s32", U: "bf16", since: BFLOAT },
  { compare: ".CMPF", T: "bf16x2 u32 s32", U: "bf16x2", since: BFLOAT },
].flatMap(({ compare, ftz = "", T, U, since }): PtxForm[] => [
  { form: `${compare}${ftz}.T.U d, a:U, b:U`, T, U, since },
  { form: `${compare}.BOOL${ftz}.T.U d, a:U, b:U, !c`, T, U, since },
]);

// deno-fmt-ignore: a row per instruction
export const LOGIC_OPS = {
  // ---- 9.7.6 comparison and selection, with 9.7.7 half precision
  set: { doc: "all ones or 1.0 where a and b compare, else 0", isa: "9.7.6.1, 9.7.7.1", effect: "pure", forms: [
    { form: ".CMPI.T.U d, a:U, b:U", T: "u32 s32 f32", U: "s16 s32 s64" },
    { form: ".CMPU.T.U d, a:U, b:U", T: "u32 s32 f32", U: "u16 u32 u64" },
    { form: ".eq|ne.T.U d, a:U, b:U", T: "u32 s32 f32", U: "b16 b32 b64" },
    { form: ".CMPF.ftz?.T.U d, a:U, b:U", T: "u32 s32 f32", U: "f32" },
    { form: ".CMPF.T.U d, a:U, b:U", T: "u32 s32 f32", U: "f64" },
    { form: ".CMPI.BOOL.T.U d, a:U, b:U, !c", T: "u32 s32 f32", U: "s16 s32 s64" },
    { form: ".CMPU.BOOL.T.U d, a:U, b:U, !c", T: "u32 s32 f32", U: "u16 u32 u64" },
    { form: ".eq|ne.BOOL.T.U d, a:U, b:U, !c", T: "u32 s32 f32", U: "b16 b32 b64" },
    { form: ".CMPF.BOOL.ftz?.T.U d, a:U, b:U, !c", T: "u32 s32 f32", U: "f32" },
    { form: ".CMPF.BOOL.T.U d, a:U, b:U, !c", T: "u32 s32 f32", U: "f64" },
    ...halfSets,
  ] },
  setp: { doc: "whether a and b compare, perhaps combined with c; the second predicate gets the opposite", isa: "9.7.6.2, 9.7.7.2", effect: "pure", forms: [
    { form: ".CMPI.T d:pred|dq:pred?, a, b", T: "s16 s32 s64" },
    { form: ".CMPU.T d:pred|dq:pred?, a, b", T: "u16 u32 u64" },
    { form: ".eq|ne.T d:pred|dq:pred?, a, b", T: "b16 b32 b64" },
    { form: ".CMPF.ftz?.T d:pred|dq:pred?, a, b", T: "f32" },
    { form: ".CMPF.T d:pred|dq:pred?, a, b", T: "f64" },
    { form: ".CMPI.BOOL.T d:pred|dq:pred?, a, b, !c", T: "s16 s32 s64" },
    { form: ".CMPU.BOOL.T d:pred|dq:pred?, a, b, !c", T: "u16 u32 u64" },
    { form: ".eq|ne.BOOL.T d:pred|dq:pred?, a, b, !c", T: "b16 b32 b64" },
    { form: ".CMPF.BOOL.ftz?.T d:pred|dq:pred?, a, b, !c", T: "f32" },
    { form: ".CMPF.BOOL.T d:pred|dq:pred?, a, b, !c", T: "f64" },
    { form: ".CMPF.ftz?.f16 d:pred, a, b", since: HALF },
    { form: ".CMPF.BOOL.ftz?.f16 d:pred, a, b, !c", since: HALF },
    { form: ".CMPF.ftz?.f16x2 d:pred|dq:pred, a, b", since: HALF },
    { form: ".CMPF.BOOL.ftz?.f16x2 d:pred|dq:pred, a, b, !c", since: HALF },
    { form: ".CMPF.bf16 d:pred, a, b", since: BFLOAT },
    { form: ".CMPF.BOOL.bf16 d:pred, a, b, !c", since: BFLOAT },
    { form: ".CMPF.bf16x2 d:pred|dq:pred, a, b", since: BFLOAT },
    { form: ".CMPF.BOOL.bf16x2 d:pred|dq:pred, a, b, !c", since: BFLOAT },
  ] },
  selp: { doc: "c ? a : b", isa: "9.7.6.3", effect: "pure", forms: [{ form: ".T d, a, b, !c", T: WORDS }] },
  slct: { doc: "c >= 0 ? a : b", isa: "9.7.6.4", effect: "pure", forms: [
    { form: ".T.s32 d, a, b, c:s32", T: WORDS },
    { form: ".ftz?.T.f32 d, a, b, c:f32", T: WORDS },
  ] },

  // ---- 9.7.8 logic and shifts
  and: { doc: "a & b", isa: "9.7.8.1", effect: "pure", forms: [{ form: ".T d, a, b", T: "pred b16 b32 b64" }] },
  or: { doc: "a | b", isa: "9.7.8.2", effect: "pure", forms: [{ form: ".T d, a, b", T: "pred b16 b32 b64" }] },
  xor: { doc: "a ^ b", isa: "9.7.8.3", effect: "pure", forms: [{ form: ".T d, a, b", T: "pred b16 b32 b64" }] },
  not: { doc: "~a", isa: "9.7.8.4", effect: "pure", forms: [{ form: ".T d, a", T: "pred b16 b32 b64" }] },
  cnot: { doc: "a == 0 ? 1 : 0", isa: "9.7.8.5", effect: "pure", forms: [{ form: ".T d, a", T: "b16 b32 b64" }] },
  lop3: { doc: "any function of the bits of a, b and c, by its truth table", isa: "9.7.8.6", effect: "pure", since: { ptx: 43, sm: 50 }, forms: [
    { form: ".b32 d, a, b, c, #lut" },
    { form: ".or|and.b32 d|dp:pred, a, b, c, #lut, !q", since: { ptx: 82, sm: 70 } },
  ] },
  shf: { doc: "the upper or lower word of b:a shifted by c", isa: "9.7.8.7", effect: "pure", since: { ptx: 31, sm: 32 }, forms: [{ form: ".l|r.clamp|wrap.b32 d, a, b, c:u32" }] },
  shl: { doc: "a << b; 0 for counts of the width or more", isa: "9.7.8.8", effect: "pure", forms: [{ form: ".T d, a, b:u32", T: "b16 b32 b64" }] },
  shr: { doc: "a >> b; 0 or the sign for counts of the width or more", isa: "9.7.8.9", effect: "pure", forms: [{ form: ".T d, a, b:u32", T: "b16 b32 b64 u16 u32 u64 s16 s32 s64" }] },
} as const satisfies Record<string, PtxOpRow>;
