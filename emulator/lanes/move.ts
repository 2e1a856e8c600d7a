/** mov: copies, packs and unpacks (PTX ISA 9.0, 9.7.9.3 and 9.7.9.4). */
import type { Match } from "../../compiler/ptx/match.ts";
import { TYPES } from "../../compiler/ptx/types.ts";
import type { Bits, LaneOperation } from "../machine.ts";
import { bitsOf } from "./integer.ts";
import { type Evaluate, laneOf, scalarDestinations, scalarSources, typeOf } from "./shape.ts";

/** Values side by side, the first lowest. */
function pack(match: Match): LaneOperation {
  const { bits } = TYPES[typeOf(match)];
  const { bits: part } = TYPES[typeOf(match, "a")];
  const mask = (1 << part) - 1;
  const size = BigInt(part);
  if (bits <= 32) {
    return scalarSources(match).length === 2
      ? laneOf(match, (a, b) => ((Number(a) & mask) | (Number(b) << part)) >>> 0)
      : laneOf(
        match,
        (a, b, c, d) =>
          ((Number(a) & mask) | (Number(b) & mask) << part | (Number(c) & mask) << 2 * part |
            Number(d) << 3 * part) >>> 0,
      );
  }
  return scalarSources(match).length === 2
    ? laneOf(match, (a, b) => BigInt(a) | BigInt(b) << size)
    : laneOf(
      match,
      (a, b, c, d) =>
        BigInt(a) | BigInt(b) << size | BigInt(c) << 2n * size | BigInt(d) << 3n * size,
    );
}

/** The parts of a value, the lowest first. */
function unpack(match: Match): LaneOperation {
  const { bits } = TYPES[typeOf(match, "a")];
  const { bits: size } = TYPES[typeOf(match)];
  const write = bitsOf(size);
  const [first = (a: Bits): Bits => a, ...others] = scalarDestinations(match).map(
    (_, i): Evaluate => {
      if (bits <= 32) {
        const mask = (1 << size) - 1;
        return (a) => (Number(a) >>> (size * i)) & mask;
      }
      const shift = BigInt(size * i);
      return (a) => write(BigInt(a) >> shift);
    },
  );
  return laneOf(match, first, ...others);
}

/** mov of vectors, element by element. */
function each(match: Match): LaneOperation {
  return laneOf(match, (a) => a, (_a, b) => b, (_a, _b, c) => c, (_a, _b, _c, d) => d);
}

/** mov of one value or of a vector. */
export function move(match: Match): LaneOperation {
  const count = scalarDestinations(match).length;
  if (count > 1 && scalarSources(match).length === count) return each(match);
  if (scalarDestinations(match).length > 1) return unpack(match);
  if (scalarSources(match).length > 1) return pack(match);
  return laneOf(match, (a) => a);
}
