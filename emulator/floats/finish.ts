/** The end of an instruction: rounding, and what `.ftz`, `.sat`, `.relu` and `.satfinite` do to results. */
import { type Encoder, encoder } from "./encode.ts";
import type { Format } from "./formats.ts";
import { neighbour } from "./pun.ts";
import { goesAway, type Rounding } from "./rounding.ts";

export interface FinishOptions {
  readonly rounding: Rounding;
  /** Subnormal results become zeros of their sign. */
  readonly ftz?: boolean;
  /** Results are clamped to [0, 1], NaN becomes 0. */
  readonly sat?: boolean;
  /** Negative results become 0. */
  readonly relu?: boolean;
  /** Results are never infinite. */
  readonly satfinite?: boolean;
}

/** How results of a format of at most 32 bits get their bits, from exact doubles or doubles rounded to odd. */
export function finisher(format: Format, options: FinishOptions): Encoder {
  const { rounding, ftz = false, sat = false, relu = false, satfinite = false } = options;
  const round = encoder(format, rounding, satfinite);
  const flushed = ftz ? flusher(format, rounding, round) : round;
  if (sat) {
    const one = round(1);
    return (value) => !(value > 0) ? 0 : value >= 1 ? one : flushed(value);
  }
  return relu ? (value) => value <= 0 ? 0 : flushed(value) : flushed;
}

/**
 * Magnitudes below this are subnormal. The ISA leaves open what counts where rounding makes a result normal; H200s
 * flush what stays below the least normal number when it is rounded to the precision of normal ones.
 */
function flushBelow(format: Format, rounding: Rounding, negative: boolean): number {
  const least = 2 ** (1 - format.bias);
  const spacing = least * 2 ** -(format.mantissaBits + 1);
  if (rounding === "rn") return least - spacing / 2;
  return goesAway(rounding, negative) ? neighbour(least - spacing, true) : least;
}

function flusher(format: Format, rounding: Rounding, round: Encoder): Encoder {
  const sign = 2 ** (format.bits - 1);
  const [high, low] = [flushBelow(format, rounding, false), flushBelow(format, rounding, true)];
  return (value) => {
    const bits = round(value);
    return value < high && value > -low ? (bits & sign) >>> 0 : bits;
  };
}
