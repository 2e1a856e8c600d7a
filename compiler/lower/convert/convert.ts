/** Conversions between scalar types, as language.md 9.2 defines them. */
import type { Operand } from "../../ptx/func.ts";
import { type ScalarName, SCALARS } from "../../support/scalar.ts";
import { type Emitter, int, isInteger } from "../emitter.ts";
import { bankOf } from "../element.ts";
import { doubleToOddFloat, float8ToFloat, floatToFloat8, isFloat8 } from "./float8.ts";

const isInt = (name: ScalarName): boolean => SCALARS[name].class === "int";

/** PTX type of the register form: narrow integers are 32 bits wide there. */
function ptxType(name: ScalarName): string {
  const { class: kind, bits, signed } = SCALARS[name];
  if (kind === "float") return name === "bfloat16" ? "bf16" : `f${bits}`;
  return `${signed ? "s" : "u"}${bits === 64 ? 64 : 32}`;
}

export function convertScalar(
  e: Emitter,
  value: Operand,
  from: ScalarName,
  to: ScalarName,
): Operand {
  if (from === to) return value;
  if (isFloat8(from)) return convertScalar(e, float8ToFloat(e, value, from), "float32", to);
  if (isFloat8(to)) {
    const float = from === "float64"
      ? doubleToOddFloat(e, value)
      : convertScalar(e, value, from, "float32");
    return floatToFloat8(e, float, to);
  }
  if (to === "bool") return toBool(e, value, from);
  if (from === "bool") {
    const word = isInteger(value) ? value : e.pure("selp.b32", "b32", [int(1), int(0), value]);
    return convertScalar(e, word, "int32", to);
  }
  if (isInt(from) && isInt(to)) return intToInt(e, value, from, to);
  if (from === "bfloat16") return convertScalar(e, bfloat16ToFloat(e, value), "float32", to);
  if (to === "bfloat16") {
    const float = from === "float64"
      ? doubleToOddFloat(e, value)
      : isInt(from) && SCALARS[from].bits >= 32
      ? integerToOddFloat(e, value, from)
      : convertScalar(e, value, from, "float32");
    return floatToBfloat16(e, float);
  }
  const source = e.inRegister(value, bankOf(from));
  const [s, d] = [ptxType(from), ptxType(to)];
  if (isInt(to)) return floatToInt(e, source, s, to);
  if (from === "float32" && to === "float16") return e.rounded("float16", source);
  const exact = !isInt(from) && SCALARS[to].bits > SCALARS[from].bits;
  return e.pure(`cvt${exact ? "" : ".rn"}.${d}.${s}`, bankOf(to), [source]);
}

function toBool(e: Emitter, value: Operand, from: ScalarName): Operand {
  if (isInteger(value) && isInt(from)) return int(value.value === 0n ? 0 : 1);
  if (from === "float16" || from === "bfloat16") {
    // All but the sign decides; NaN is true.
    const bits = e.pure("and.b16", "b16", [e.inRegister(value, "b16"), int(0x7fff)]);
    return e.pure("setp.ne.s16", "pred", [bits, int(0)]);
  }
  const bank = bankOf(from);
  if (!isInt(from)) {
    const zero: Operand = from === "float64"
      ? { kind: "float", type: "f64", bits: 0n }
      : { kind: "float", type: "f32", bits: 0n };
    return e.pure(`setp.neu.${ptxType(from)}`, "pred", [e.inRegister(value, bank), zero]);
  }
  return e.pure(`setp.ne.${ptxType(from)}`, "pred", [value, int(0)]);
}

function intToInt(e: Emitter, value: Operand, from: ScalarName, to: ScalarName): Operand {
  const [source, target] = [SCALARS[from], SCALARS[to]];
  if (isInteger(value)) {
    return int(
      target.signed
        ? BigInt.asIntN(target.bits, value.value)
        : BigInt.asUintN(target.bits, value.value),
    );
  }
  if (target.bits === 64) {
    return source.bits === 64
      ? value
      : e.pure(`cvt.${source.signed ? "s64.s32" : "u64.u32"}`, "b64", [value]);
  }
  const word = source.bits === 64 ? e.pure("cvt.u32.u64", "b32", [value]) : value;
  // The value's range already fits: nothing to cut off.
  const fits = target.bits === 32 ||
    (source.bits < target.bits && (!source.signed || target.signed)) ||
    (source.bits === target.bits && source.signed === target.signed);
  return fits
    ? word
    : e.pure(target.signed ? "bfe.s32" : "bfe.u32", "b32", [word, int(0), int(target.bits)]);
}

/** Truncates and saturates; NaN gives 0, which cvt gives for 32-bit results (PTX ISA, cvt). */
function floatToInt(e: Emitter, source: Operand, from: string, to: ScalarName): Operand {
  const { bits, signed } = SCALARS[to];
  if (bits === 64) {
    const result = e.pure(`cvt.rzi.${signed ? "s64" : "u64"}.${from}`, "b64", [source]);
    // For 64-bit results NaN is not specified to give 0.
    const number = e.pure(`setp.num.${from}`, "pred", [source, source]);
    return e.pure("selp.b64", "b64", [result, int(0), number]);
  }
  const word = e.pure(`cvt.rzi.${signed ? "s32" : "u32"}.${from}`, "b32", [source]);
  const safe = from === "f64" || from === "f16"
    ? e.pure("selp.b32", "b32", [
      word,
      int(0),
      e.pure(`setp.num.${from}`, "pred", [source, source]),
    ])
    : word;
  if (bits === 32) return safe;
  const hi = int(signed ? 2 ** (bits - 1) - 1 : 2 ** bits - 1);
  const capped = e.pure(`min.${signed ? "s32" : "u32"}`, "b32", [safe, hi]);
  return signed ? e.pure("max.s32", "b32", [capped, int(-(2 ** (bits - 1)))]) : capped;
}

/** An integer as a float for one more rounding: towards zero, and odd if anything was lost. */
function integerToOddFloat(e: Emitter, value: Operand, from: ScalarName): Operand {
  const [bank, type] = [bankOf(from), ptxType(from)];
  const source = e.inRegister(value, bank);
  const cut = e.pure(`cvt.rz.f32.${type}`, "b32", [source]);
  const back = e.pure(`cvt.rzi.${type}.f32`, bank, [cut]);
  const lost = e.pure(`setp.ne.${type}`, "pred", [back, source]);
  return e.pure("selp.b32", "b32", [e.pure("or.b32", "b32", [cut, int(1)]), cut, lost]);
}

function bfloat16ToFloat(e: Emitter, value: Operand): Operand {
  return e.pure("mov.b32", "b32", [{
    kind: "vector",
    elements: [e.inRegister(int(0), "b16"), e.inRegister(value, "b16")],
  }]);
}

/** Round to nearest even by integer arithmetic where cvt.rn.bf16.f32 (sm_80) is not there. */
function floatToBfloat16(e: Emitter, value: Operand): Operand {
  const source = e.inRegister(value, "b32");
  if (e.target.bfloat16) return e.rounded("bfloat16", source);
  const odd = e.pure("bfe.u32", "b32", [source, int(16), int(1)]);
  const rounded = e.pure("add.s32", "b32", [e.pure("add.s32", "b32", [source, int(0x7fff)]), odd]);
  const number = e.pure("setp.num.f32", "pred", [source, source]);
  const bits = e.pure("selp.b32", "b32", [rounded, int(0x7fff0000), number]);
  return e.pure("cvt.u16.u32", "b16", [e.pure("shr.u32", "b32", [bits, int(16)])]);
}
