/** `.rs`: rounding up or down by random bits that the program supplies. */
import { decoder } from "./decode.ts";
import { encoder } from "./encode.ts";
import type { Format } from "./formats.ts";

export interface StochasticOptions {
  /** How many random bits there are for a value. */
  readonly randomBits: number;
  readonly relu: boolean;
  readonly satfinite: boolean;
}

/**
 * Rounds singles to a narrow format, away from zero if the discarded bits and the random ones have a carry. The ISA
 * does not say how they are aligned where there are more discarded than random bits; here their upper ends meet, so
 * that the chance to go up is the discarded fraction.
 */
export function stochasticEncoder(
  format: Format,
  { randomBits, relu, satfinite }: StochasticOptions,
): (value: number, random: number) => number {
  const truncate = encoder(format, "rz", satfinite);
  const decode = decoder(format);
  const max = Number(format.max);
  const infinity = satfinite ? max : Number(format.infinity ?? format.max);
  const chances = 2 ** randomBits;
  const last = decode(max) - decode(max - 1);
  const sign = 2 ** (format.bits - 1);
  return (value, random) => {
    if (relu && value <= 0) return 0;
    const size = Math.abs(value);
    const low = truncate(size);
    if (!(size < Infinity)) return value < 0 ? low + sign : low;
    const near = decode(low);
    const spacing = low === max ? last : decode(low + 1) - near;
    const away = ((size - near) / spacing) * chances + random >= chances;
    const magnitude = away ? (low === max ? infinity : low + 1) : low;
    return value < 0 || Object.is(value, -0) ? magnitude + sign : magnitude;
  };
}
