/** cvt between two single values, at least one of which is a float. */
import type { Match } from "../../compiler/ptx/match.ts";
import { must } from "../../compiler/support/bug.ts";
import type { Bits, LaneOperation } from "../machine.ts";
import { decoder } from "./decode.ts";
import { encodeExact } from "./exact.ts";
import { finisher } from "./finish.ts";
import type { Format } from "./formats.ts";
import { integerEncoder, integerOf, type IntegerType, integerType, INTEGRALS } from "./integral.ts";
import { convertNan } from "./nan.ts";
import { bitsOfDouble, doubleOf } from "./pun.ts";
import { integerToOdd } from "./rounding.ts";
import { laneOperation, long, packedOf, type Spelling, widthOf } from "./spelling.ts";

type Evaluate = (a: Bits) => Bits;

/** The value in the low bits of a register. */
function lowBits({ bits }: Format): (register: Bits) => number {
  const mask = bits === 32 ? 0xffffffff : 2 ** bits - 1;
  return (register) => {
    const low = typeof register === "number" ? register : Number(register & 0xffffffffn);
    return (low & mask) >>> 0;
  };
}

/** The number in the low bits of a register. */
function numberOf(format: Format, spelling: Spelling): (register: Bits) => number {
  if (format.bits === 64) return (register) => doubleOf(long(register));
  const low = lowBits(format);
  const decode = decoder(format, flushes(format, spelling));
  return (register) => decode(low(register));
}

/** `.ftz` is about singles only. */
function flushes({ name }: Format, { modifiers }: Spelling): boolean {
  return name === "f32" && modifiers.has("ftz");
}

/** The end of a conversion to a float, of a number that is not NaN. */
function finish(to: Format, spelling: Spelling): (value: number) => Bits {
  const { modifiers, rounding } = spelling;
  const sat = modifiers.has("sat");
  if (to.bits === 64) {
    return sat
      ? (value) => value > 0 ? bitsOfDouble(Math.min(value, 1)) : 0n
      : (value) => bitsOfDouble(value);
  }
  return finisher(to, {
    rounding,
    ftz: flushes(to, spelling),
    sat,
    relu: modifiers.has("relu"),
    satfinite: modifiers.has("satfinite"),
  });
}

/** What NaN becomes. */
function nanOf(to: Format, from: Format, spelling: Spelling): Evaluate {
  const low = lowBits(from);
  const { modifiers } = spelling;
  if (modifiers.has("sat")) return to.bits === 64 ? () => 0n : () => 0;
  // cvt.f32.f32 and cvt.f64.f64 copy bits, as cvt.f32.bf16 does; cvt.rna cuts them off, even if infinity is left.
  if (modifiers.size === 1 && to.name !== "f16") return (a) => to.bits === 64 ? long(a) : low(a);
  if (to.name === "f32" && from.name === "bf16") return (a) => (low(a) << 16) >>> 0;
  if (modifiers.has("rna")) {
    // Saturating takes one unit off whatever has the exponent of infinity, NaN too, as on an H200.
    const unit = modifiers.has("satfinite") ? 0x2000 : 0;
    return (a) => ((low(a) & 0xffffe000) - unit) >>> 0;
  }
  if (from.bits === 64 || to.bits === 64) {
    const source = from.bits === 64
      ? long
      : flushes(from, spelling)
      ? (): bigint => from.nan ?? 0n
      : (a: Bits): bigint => BigInt(low(a));
    return (a) => {
      const nan = convertNan(to, from, source(a));
      return to.bits === 64 ? nan : Number(nan);
    };
  }
  const nan = Number(to.nan) * 2 ** to.padding;
  return () => nan;
}

function integralOf({ modifiers }: Spelling): ((value: number) => number) | undefined {
  return Object.entries(INTEGRALS).find(([name]) => modifiers.has(name))?.[1];
}

function floatToFloat(to: Format, from: Format, spelling: Spelling): Evaluate {
  const decode = numberOf(from, spelling);
  const encode = finish(to, spelling);
  const nan = nanOf(to, from, spelling);
  const integral = integralOf(spelling) ?? ((value: number): number => value);
  return (a) => {
    const value = decode(a);
    return value === value ? encode(integral(value)) : nan(a);
  };
}

/** What NaN becomes: 0, or the most significant bit alone if either side has 64 bits. */
function integerOfNan(to: IntegerType, from: Format): bigint {
  const bit = from.bits === 64 || to.bits === 64 ? 1n << BigInt(to.bits - 1) : 0n;
  return to.signed ? BigInt.asIntN(to.bits, bit) : bit;
}

function floatToInteger(
  to: IntegerType,
  from: Format,
  registerBits: number,
  spelling: Spelling,
): Evaluate {
  const decode = numberOf(from, spelling);
  const integral = must(integralOf(spelling), "integer rounding");
  const encode = integerEncoder(to, registerBits, integerOfNan(to, from));
  return (a) => encode(integral(decode(a)));
}

function integerToFloat(to: Format, from: IntegerType, spelling: Spelling): Evaluate {
  const integer = integerOf(from);
  const encode = finish(to, spelling);
  const { rounding, modifiers } = spelling;
  if (from.bits < 64) return (a) => encode(Number(integer(a)));
  if (to.bits < 64) return (a) => encode(integerToOdd(BigInt(integer(a))));
  if (rounding === "rn" || modifiers.has("sat")) return (a) => encode(Number(integer(a)));
  return (a) => encodeExact(to, { mantissa: BigInt(integer(a)), exponent: 0 }, rounding);
}

/** cvt of single values; undefined between integers. */
export function conversion(match: Match, spelling: Spelling): LaneOperation | undefined {
  const [toName = "", fromName = ""] = spelling.types;
  const [to, from] = [packedOf(toName)?.format, packedOf(fromName)?.format];
  if (to !== undefined) {
    return laneOperation(
      match,
      from !== undefined
        ? floatToFloat(to, from, spelling)
        : integerToFloat(to, must(integerType(fromName), fromName), spelling),
    );
  }
  if (from === undefined) return undefined;
  const registerBits = widthOf(must(match.operands[0], "destination"));
  const integer = must(integerType(toName), toName);
  return laneOperation(match, floatToInteger(integer, from, registerBits, spelling));
}
