/**
 * float8: by `cvt` where the target has it (sm_89), by integers elsewhere; the same bits either way. Results round to
 * nearest even and saturate to the largest finite value; NaN is 0x7f.
 */
import type { Operand } from "../../ptx/func.ts";
import { bug } from "../../support/bug.ts";
import { floatFormat } from "../../support/float.ts";
import type { ScalarName } from "../../support/scalar.ts";
import { type Emitter, int } from "../emitter.ts";

export type Float8 = "float8e4" | "float8e5";

export const isFloat8 = (name: ScalarName): name is Float8 =>
  name === "float8e4" || name === "float8e5";

export const cvtName = (type: Float8): string => type === "float8e4" ? "e4m3x2" : "e5m2x2";
const f32 = (bits: number): Operand => ({ kind: "float", type: "f32", bits: BigInt(bits) });

/** Bits of a power of two in float. */
const powerBits = (exponent: number): number => (exponent + 127) * 2 ** 23;

/** The value in float, exactly. */
export function float8ToFloat(e: Emitter, value: Operand, type: Float8): Operand {
  const source = e.inRegister(value, "b32");
  if (e.target.float8) {
    const pair = e.pure("cvt.u16.u32", "b16", [source]);
    const halves = e.pure(`cvt.rn.f16x2.${cvtName(type)}`, "b32", [pair]);
    return e.pure("cvt.f32.f16", "b32", [e.pure("cvt.u16.u32", "b16", [halves])]);
  }
  const half = (bits: Operand): Operand =>
    e.pure("cvt.f32.f16", "b32", [e.pure("cvt.u16.u32", "b16", [bits])]);
  // E5M2 is the upper half of a binary16.
  if (type === "float8e5") return half(e.pure("shl.b32", "b32", [source, int(8)]));
  // E4M3 in the bits of a binary16 is 2^8 too small, subnormal or not.
  const size = e.pure("and.b32", "b32", [source, int(0x7f)]);
  const scaled = e.pure("mul.rn.f32", "b32", [
    half(e.pure("shl.b32", "b32", [size, int(7)])),
    f32(powerBits(8)),
  ]);
  const sign = e.pure("shl.b32", "b32", [e.pure("and.b32", "b32", [source, int(0x80)]), int(24)]);
  const signed = e.pure("or.b32", "b32", [scaled, sign]);
  const isNan = e.pure("setp.eq.s32", "pred", [size, int(0x7f)]);
  return e.pure("selp.b32", "b32", [int(0x7fffffff), signed, isNan]);
}

/** The nearest float8 of a float. */
export function floatToFloat8(e: Emitter, value: Operand, type: Float8): Operand {
  const source = e.inRegister(value, "b32");
  if (e.target.float8) {
    const pair = e.pure(`cvt.rn.satfinite.${cvtName(type)}.f32`, "b16", [
      e.inRegister(f32(0), "b32"),
      source,
    ]);
    return e.pure("cvt.u32.u16", "b32", [pair]);
  }
  const { precision, minExponent, max } = floatFormat(type);
  const dropped = 24 - precision;
  const size = e.pure("and.b32", "b32", [source, int(0x7fffffff)]);
  const odd = e.pure("bfe.u32", "b32", [size, int(dropped), int(1)]);
  const rounded = e.pure("add.s32", "b32", [
    e.pure("add.s32", "b32", [size, int(2 ** (dropped - 1) - 1)]),
    odd,
  ]);
  // The exponent field of a normal number starts at 1 for the smallest exponent.
  const bias = (127 + minExponent - 1) * 2 ** (precision - 1);
  const normal = e.add(
    "b32",
    e.pure("shr.u32", "b32", [rounded, int(dropped)]),
    int(-bias),
  );
  // Subnormal numbers count their smallest step.
  const steps = e.pure("mul.rn.f32", "b32", [size, f32(powerBits(precision - 1 - minExponent))]);
  const subnormal = e.pure("cvt.rni.u32.f32", "b32", [steps]);
  const isSmall = e.pure("setp.lt.u32", "pred", [size, int(powerBits(minExponent))]);
  const code = e.pure("selp.b32", "b32", [subnormal, normal, isSmall]);
  const most = LARGEST[type];
  if (max !== most.value) bug(`${type} has another largest value`);
  const limited = e.pure("min.u32", "b32", [code, int(most.code)]);
  const isNan = e.pure("setp.gt.u32", "pred", [size, int(0x7f800000)]);
  const number = e.pure("or.b32", "b32", [
    limited,
    e.pure("and.b32", "b32", [e.pure("shr.u32", "b32", [source, int(24)]), int(0x80)]),
  ]);
  return e.pure("selp.b32", "b32", [int(0x7f), number, isNan]);
}

const LARGEST: Readonly<Record<Float8, { readonly code: number; readonly value: number }>> = {
  float8e4: { code: 0x7e, value: 448 },
  float8e5: { code: 0x7b, value: 57344 },
};

/** A double as a float for one more rounding: towards zero, and odd if anything was lost, so that no tie is faked. */
export function doubleToOddFloat(e: Emitter, value: Operand): Operand {
  const source = e.inRegister(value, "b64");
  const cut = e.pure("cvt.rz.f32.f64", "b32", [source]);
  const back = e.pure("cvt.f64.f32", "b64", [cut]);
  const lost = e.pure("setp.neu.f64", "pred", [back, source]);
  return e.pure("selp.b32", "b32", [e.pure("or.b32", "b32", [cut, int(1)]), cut, lost]);
}
