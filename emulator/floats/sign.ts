/** neg, abs, copysign and testp: what needs no arithmetic. */
import type { Match } from "../../compiler/ptx/match.ts";
import { must } from "../../compiler/support/bug.ts";
import type { LaneOperation } from "../machine.ts";
import type { Format } from "./formats.ts";
import { firstNan, nanTest } from "./nan.ts";
import { eachElement } from "./packed.ts";
import { doubleOf } from "./pun.ts";
import {
  laneOperation,
  long,
  ofLongs,
  ofWords,
  type Packed,
  type Spelling,
  word,
  type WordOperation,
} from "./spelling.ts";

const SIGN64 = 1n << 63n;

/** Bits of a format of at most 32 bits without its subnormal numbers. */
function flush(format: Format): (bits: number) => number {
  const field = (2 ** format.exponentBits - 1) * 2 ** format.mantissaBits;
  const sign = 2 ** (format.bits - 1);
  return (bits) => (bits & field) === 0 ? (bits & sign) >>> 0 : bits;
}

/** neg and abs. */
export function signOperation(match: Match, spelling: Spelling, packed: Packed): LaneOperation {
  const { format } = packed;
  const negate = match.opcode === "neg";
  if (format.bits === 64) {
    return laneOperation(
      match,
      ofLongs((a) =>
        doubleOf(a) !== doubleOf(a) ? firstNan(a) : negate ? a ^ SIGN64 : BigInt.asUintN(63, a)
      ),
    );
  }
  const sign = 2 ** (format.bits - 1);
  const isNan = nanTest(format);
  const nan = Number(format.nan);
  const change: WordOperation = negate
    ? (a) => isNan(a) ? nan : (a ^ sign) >>> 0
    : (a) => isNan(a) ? nan : a & (sign - 1);
  const flushed = flush(format);
  return laneOperation(
    match,
    eachElement(packed, spelling.modifiers.has("ftz") ? (a) => flushed(change(a, 0, 0)) : change),
  );
}

/** copysign: b with the sign of a. */
export function copySign(match: Match, packed: Packed): LaneOperation {
  return laneOperation(
    match,
    packed.format.bits === 64
      ? ofLongs((a, b) => BigInt.asUintN(63, b) | (a & SIGN64))
      : ofWords((a, b) => ((b & 0x7fffffff) | (a & 0x80000000)) >>> 0),
  );
}

/** Whether a number is of a class, from its exponent field and mantissa; zeros count as normal. */
const CLASSES: Readonly<
  Record<string, (special: boolean, field: boolean, mantissa: boolean) => boolean>
> = {
  finite: (special) => !special,
  infinite: (special, _, mantissa) => special && !mantissa,
  number: (special, _, mantissa) => !(special && mantissa),
  notanumber: (special, _, mantissa) => special && mantissa,
  normal: (special, field, mantissa) => !special && (field || !mantissa),
  subnormal: (_, field, mantissa) => !field && mantissa,
};

/** testp. */
export function testProperty(match: Match, spelling: Spelling, packed: Packed): LaneOperation {
  const property = must(
    Object.entries(CLASSES).find(([name]) => spelling.modifiers.has(name)),
    "property",
  )[1];
  if (packed.format.bits === 64) {
    return laneOperation(match, (a) => {
      const field = Number((long(a) >> 52n) & 0x7ffn);
      return property(field === 0x7ff, field !== 0, (long(a) & 0xfffffffffffffn) !== 0n) ? 1 : 0;
    });
  }
  return laneOperation(match, (a) => {
    const field = (word(a) >>> 23) & 0xff;
    return property(field === 0xff, field !== 0, (word(a) & 0x7fffff) !== 0) ? 1 : 0;
  });
}
