/**
 * Quotients and remainders of integers by constant powers of two, as shifts: `div.s32 r, a, 128` makes ptxas 13.0 convert 128
 * to float, take its reciprocal, and correct it, as for any divisor, about 150 cycles. Quotients round towards zero
 * (language.md 9.1), so negative numbers get the divisor minus one added first.
 */
import type { Operand } from "../ptx/func.ts";
import { type Emitter, int } from "./emitter.ts";

type IntegerKind = "s32" | "u32" | "s64" | "u64";

/** The base-2 logarithm of a power of two that a signed number of half the bits has; undefined for all else. */
function powerOf(divisor: bigint): number | undefined {
  const isPower = divisor > 0n && divisor < 1n << 31n && (divisor & (divisor - 1n)) === 0n;
  return isPower ? divisor.toString(2).length - 1 : undefined;
}

/** The quotient or remainder of an integer in a register; undefined if the divisor is no power of two. */
export function divideByPower(
  e: Emitter,
  name: "div" | "rem",
  kind: IntegerKind,
  a: Operand,
  divisor: bigint,
): Operand | undefined {
  const power = powerOf(divisor);
  if (power === undefined) return undefined;
  if (power === 0) return name === "div" ? a : int(0);
  const bits = kind.endsWith("64") ? 64 : 32;
  const bank = bits === 64 ? "b64" : "b32";
  const isSigned = kind.startsWith("s");
  const below = int(divisor - 1n);
  if (!isSigned) {
    return name === "div"
      ? e.pure(`shr.u${bits}`, bank, [a, int(power)])
      : e.pure(`and.b${bits}`, bank, [a, below]);
  }
  const sign = e.pure(`shr.s${bits}`, bank, [a, int(bits - 1)]);
  const added = e.pure(`add.s${bits}`, bank, [
    a,
    e.pure(`shr.u${bits}`, bank, [sign, int(bits - power)]),
  ]);
  return name === "div"
    ? e.pure(`shr.s${bits}`, bank, [added, int(power)])
    : e.pure(`sub.s${bits}`, bank, [a, e.pure(`and.b${bits}`, bank, [added, int(-divisor)])]);
}
