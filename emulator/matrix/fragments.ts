/**
 * Fragments: which element of a matrix each lane holds in each part of its registers.
 *
 * The manual draws one figure per shape and type, but all from sm_75 on say the same: eight groups of four lanes;
 * a lane's group is a row of a (a column of b), and the four lanes of a group take neighbouring registers' worth of k.
 * Registers go down by eight rows first, then on along k. So m16n8k16 of f16 (2 elements a register) and m16n8k32 of
 * s8 (4 elements) are one formula, and f64 has one element a register. Accumulators give a lane two neighbours of
 * its group's row; wgmma repeats that every eight columns. Only m8n8k4 of sm_70 is built differently.
 *
 * Source: PTX ISA 9.0, 9.7.14.5 "Matrix multiply-accumulate operation using mma instruction" (one section per shape),
 * 9.7.15.5 "Register fragments and shared memory matrix layouts".
 */
import { LANES } from "../register_file.ts";

/** Row and column of an element; `part` counts the elements of a register from its low end. */
type ElementOf = (
  lane: number,
  register: number,
  part: number,
) => readonly [row: number, column: number];

export interface Fragment {
  readonly registers: number;
  /** Elements in a register. */
  readonly parts: number;
  /** The element's index in the matrix, row by row: for every register, lane and part, part fastest. */
  readonly slots: Int32Array;
}

function fragment(
  registers: number,
  parts: number,
  columns: number,
  elementOf: ElementOf,
): Fragment {
  const slots = new Int32Array(registers * LANES * parts);
  let at = 0;
  for (let register = 0; register < registers; register++) {
    for (let lane = 0; lane < LANES; lane++) {
      for (let part = 0; part < parts; part++) {
        const [row, column] = elementOf(lane, register, part);
        slots[at++] = row * columns + column;
      }
    }
  }
  return { registers, parts, slots };
}

/** a, m by k, m 8 or 16. */
export function fragmentOfA(m: number, k: number, parts: number): Fragment {
  const down = m / 8;
  return fragment(m * k / (LANES * parts), parts, k, (lane, register, part) => [
    (lane >> 2) + 8 * (register % down),
    (4 * Math.floor(register / down) + lane % 4) * parts + part,
  ]);
}

/** b, k by n, n 8. */
export function fragmentOfB(k: number, parts: number): Fragment {
  const n = 8;
  return fragment(k * n / (LANES * parts), parts, n, (lane, register, part) => [
    (4 * register + lane % 4) * parts + part,
    lane >> 2,
  ]);
}

/** c and d, m by n, m 8 or 16, n a multiple of 8; parts 2 if registers hold two of f16. */
export function fragmentOfSum(m: number, n: number, parts: number): Fragment {
  return fragment(m * n / (LANES * parts), parts, n, (lane, register, part) => {
    const element = register * parts + part;
    const pair = element >> 1;
    const down = m / 8;
    return [
      (lane >> 2) + 8 * (pair % down),
      8 * Math.floor(pair / down) + 2 * (lane % 4) + (element & 1),
    ];
  });
}

/**
 * m8n8k4 of sm_70: four products at once, each of a quad pair, which is lanes 4q to 4q+3 and 16 more. Their matrices
 * lie one below the other.
 */
const quadPair = (lane: number): number => (lane >> 2) & 3;
const inQuadPair = (lane: number): number => lane % 4 + (lane < 16 ? 0 : 4);

/** Two registers of two f16. */
export function quadFragmentOfA(layout: "row" | "col"): Fragment {
  return fragment(2, 2, 4, (lane, register, part) => {
    const i = 2 * register + part;
    const top = 8 * quadPair(lane);
    return layout === "row"
      ? [top + inQuadPair(lane), i]
      : [top + i + (lane < 16 ? 0 : 4), lane % 4];
  });
}

export function quadFragmentOfB(layout: "row" | "col"): Fragment {
  return fragment(2, 2, 8, (lane, register, part) => {
    const i = 2 * register + part;
    const top = 4 * quadPair(lane);
    return layout === "row"
      ? [top + lane % 4, i + (lane < 16 ? 0 : 4)]
      : [top + i, inQuadPair(lane)];
  });
}

/** Four registers of two f16, or eight of f32, which lie otherwise. */
export function quadFragmentOfSum(parts: 1 | 2): Fragment {
  return fragment(8 / parts, parts, 8, (lane, register, part) => {
    const i = register * parts + part;
    const top = 8 * quadPair(lane);
    return parts === 2
      ? [top + inQuadPair(lane), i]
      : [top + (lane & 1) + (i & 2) + (lane < 16 ? 0 : 4), (i & 4) + (lane & 2) + (i & 1)];
  });
}

/**
 * Fragments of `wmma`, whose layout the ISA leaves open: elements in turn, again from the first where there are more
 * positions than elements.
 */
export function plainFragment(registers: number, parts: number, elements: number): Fragment {
  const positions = registers * LANES * parts;
  return {
    registers,
    parts,
    slots: Int32Array.from({ length: positions }, (_, i) => i % elements),
  };
}
