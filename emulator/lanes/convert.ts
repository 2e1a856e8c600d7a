/** cvt between integers, and cvt.pack (PTX ISA 9.0, 9.7.9.21 and 9.7.9.22). */
import type { Match } from "../../compiler/ptx/match.ts";
import { TYPES } from "../../compiler/ptx/types.ts";
import type { LaneOperation } from "../machine.ts";
import { bitsOf, isSigned, narrowReader, narrowWriter, rangeOf, wideReader } from "./integer.ts";
import {
  laneOf,
  modifiersOf,
  scalarDestinations,
  scalarSources,
  typeOf,
  widthOf,
} from "./shape.ts";

const clamp = (value: number, least: number, largest: number): number =>
  value < least ? least : value > largest ? largest : value;

/**
 * cvt: reads the source's type from its register, holds or wraps it to the destination's type, and extends that
 * to the destination's register, by the sign of the destination's type.
 */
function convert(match: Match): LaneOperation {
  const [to, from] = [typeOf(match), typeOf(match, "a")];
  const { bits } = TYPES[to];
  const { bits: fromBits } = TYPES[from];
  const saturates = modifiersOf(match).has("sat");
  const widths = [...scalarDestinations(match), ...scalarSources(match)].map(widthOf);
  const [registerBits = bits] = widths;
  if (widths.every((width) => width <= 32)) {
    const read = narrowReader(fromBits, isSigned(from));
    const write = narrowWriter(registerBits);
    if (saturates) {
      const [least, largest] = rangeOf(bits, isSigned(to)).map(Number);
      return laneOf(match, (a) => write(clamp(read(a), least ?? 0, largest ?? 0)));
    }
    const wrap = narrowReader(bits, isSigned(to));
    return laneOf(match, (a) => write(wrap(read(a))));
  }
  const read = wideReader(fromBits, isSigned(from));
  const write = bitsOf(registerBits);
  if (saturates) {
    const [least, largest] = rangeOf(bits, isSigned(to));
    return laneOf(match, (a) => {
      const value = read(a);
      return write(value < least ? least : value > largest ? largest : value);
    });
  }
  const wrap = wideReader(bits, isSigned(to));
  return laneOf(match, (a) => write(wrap(read(a))));
}

/** cvt.pack: a above b, both held to a narrow type, in front of c. */
function packTwo(match: Match): LaneOperation {
  const name = [...modifiersOf(match)].find((modifier) => /^[us](?:2|4|8|16)$/.test(modifier)) ??
    "u16";
  const bits = Number(name.slice(1));
  const [least, largest] = rangeOf(bits, name.startsWith("s")).map(Number);
  const read = narrowReader(32, true);
  const write = narrowWriter(bits);
  const part = (value: number): number => write(clamp(value, least ?? 0, largest ?? 0));
  if (bits === 16) {
    return laneOf(match, (a, b) => ((part(read(a)) << 16) | part(read(b))) >>> 0);
  }
  return laneOf(
    match,
    (a, b, c) => ((Number(c) << (2 * bits)) | (part(read(a)) << bits) | part(read(b))) >>> 0,
  );
}

export const CONVERT: Readonly<Record<string, (match: Match) => LaneOperation>> = {
  cvt: convert,
  "cvt.pack": packTwo,
};
