/** cvt to and from packed floats: two or four values of a narrow format in one register, the first in the upper bits. */
import type { Match } from "../../compiler/ptx/match.ts";
import { must } from "../../compiler/support/bug.ts";
import type { LaneOperation } from "../machine.ts";
import { decoder } from "./decode.ts";
import { finisher } from "./finish.ts";
import { FORMATS } from "./formats.ts";
import { laneOperation, ofWords, type Packed, packedOf, type Spelling, word } from "./spelling.ts";
import { stochasticEncoder } from "./stochastic.ts";

/** Where the random bits of both halves of the sources lie in their register, and how many there are for each value. */
interface RandomBits {
  readonly count: number;
  readonly upper: (bits: number) => number;
  readonly lower: (bits: number) => number;
}

const HALVES: RandomBits = {
  count: 16,
  upper: (bits) => bits >>> 16,
  lower: (bits) => bits & 0xffff,
};

/** By format, where it is not simply the upper and lower half. */
const RANDOM: Readonly<Partial<Record<string, RandomBits>>> = {
  f16: { count: 13, upper: (bits) => (bits >>> 16) & 0x1fff, lower: (bits) => bits & 0x1fff },
  // The upper and lower bytes of both halves.
  e2m1: {
    count: 16,
    upper: (bits) => ((bits >>> 16) & 0xff00) | ((bits >>> 8) & 0xff),
    lower: (bits) => ((bits >>> 8) & 0xff00) | (bits & 0xff),
  },
};

/** cvt.rs: two or four singles, and a register of random bits. */
function stochasticConversion(match: Match, { modifiers }: Spelling, to: Packed): LaneOperation {
  const { count, upper, lower } = RANDOM[to.format.name] ?? HALVES;
  const encode = stochasticEncoder(to.format, {
    randomBits: count,
    relu: modifiers.has("relu"),
    satfinite: modifiers.has("satfinite"),
  });
  const decode = decoder(FORMATS.f32);
  const two = (a: number, b: number, high: number, low: number): number =>
    (encode(decode(a), high) << to.stride) | encode(decode(b), low);
  if (to.count === 2) {
    return laneOperation(
      match,
      ofWords((a, b, r) => two(a, b, upper(r), lower(r)) >>> 0),
    );
  }
  return laneOperation(match, (a, b, c, d, e = 0) => {
    const [high, low] = [upper(word(e)), lower(word(e))];
    const pair = two(word(a), word(b), high, high) << (2 * to.stride);
    return (pair | two(word(c), word(d), low, low)) >>> 0;
  });
}

/** cvt with a packed type. */
export function packedConversion(match: Match, spelling: Spelling): LaneOperation {
  const { modifiers, rounding, types } = spelling;
  const to = must(packedOf(types[0] ?? ""), "packed result");
  const from = must(packedOf(types[1] ?? ""), "packed source");
  if (modifiers.has("rs")) return stochasticConversion(match, spelling, to);
  const finish = finisher(to.format, {
    rounding,
    relu: modifiers.has("relu"),
    satfinite: modifiers.has("satfinite"),
  });
  const decode = decoder(from.format);
  const mask = 2 ** from.format.bits - 1;
  if (from.count === 1) {
    return laneOperation(
      match,
      ofWords((a, b) => ((finish(decode(a)) << to.stride) | finish(decode(b))) >>> 0),
    );
  }
  return laneOperation(
    match,
    ofWords((a) => {
      const high = finish(decode((a >>> from.stride) & mask));
      return ((high << to.stride) | finish(decode(a & mask))) >>> 0;
    }),
  );
}
