/**
 * Rules of tensor maps for copies of windows: those of cuTensorMapEncodeIm2col (CUDA driver API 13.0, "Tensor Map Object
 * Management"), and that there is a window.
 */

/** Where windows begin along an axis of pictures, in elements. */
export interface TensorWindow {
  /** Of the first window, from the first element of the axis. */
  readonly lower: number;
  /** Of the last one at most, from the last element of the axis. */
  readonly upper: number;
}

/** Something that must not be so. */
export interface Rule {
  readonly broken: boolean;
  readonly says: string;
}

/** Of a tensor map, as it describes it. */
interface Extents {
  readonly extents: readonly number[];
  readonly box: readonly number[];
}

const MOST_CHANNELS = 256;
const MOST_PIXELS = 1024;

/** Bits of the corners of windows, by the axes that have them. */
const CORNER_BITS: Readonly<Record<number, number>> = { 1: 16, 2: 8, 3: 5 };

/** The largest offset of a pixel in its windows, by the axes that have windows: bits of a corner, without a sign. */
export const mostOffset = (axes: number): number => 2 ** (CORNER_BITS[axes] ?? 0) - 1;

/** What a map with windows must fulfil beside the rules of all maps, and the largest extent of its box. */
export function windowRules(
  { extents, box }: Extents,
  windows: readonly TensorWindow[],
): { readonly box: number; readonly rules: readonly Rule[] } {
  const least = -(2 ** ((CORNER_BITS[windows.length] ?? 0) - 1));
  const isCorner = (at: number): boolean => Number.isInteger(at) && at >= least && at < -least;
  const bad = windows.find(({ lower, upper }) => !isCorner(lower) || !isCorner(upper));
  const empty = windows.findIndex(({ lower, upper }, i) => (extents[i + 1] ?? 0) + upper <= lower);
  const [channels = 0, , ...others] = box;
  return {
    box: MOST_PIXELS,
    rules: [
      {
        broken: windows.length !== extents.length - 2,
        says: `${extents.length} axes have windows along ${
          extents.length - 2
        }, not ${windows.length}`,
      },
      {
        broken: bad !== undefined,
        says: `windows begin from ${bad?.lower} to ${bad?.upper}, not within ${least} and ${
          -least - 1
        }`,
      },
      { broken: empty >= 0, says: `there are no windows along axis ${empty + 1}` },
      {
        broken: channels > MOST_CHANNELS || others.some((extent) => extent !== 1),
        says:
          `a copy of windows has up to ${MOST_CHANNELS} channels and ${MOST_PIXELS} pixels, not ${
            box.join(" x ")
          }`,
      },
    ],
  };
}
