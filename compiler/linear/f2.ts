/** Linear algebra over F2 on vectors kept as the bits of integers. */

/** A growing subspace, kept in echelon form so that membership costs one pass. */
export interface Space {
  /** pivots[b]: a vector of the space whose highest bit is b, or 0. */
  readonly pivots: number[];
  /** combos[b]: which of the added generators (as a bit set) XOR to pivots[b]. */
  readonly combos: number[];
  size: number;
  generators: number;
}

export function emptySpace(): Space {
  return { pivots: [], combos: [], size: 0, generators: 0 };
}

export function spaceOf(vectors: readonly number[]): Space {
  const space = emptySpace();
  for (const vector of vectors) extend(space, vector);
  return space;
}

function reduce(space: Space, vector: number): { rest: number; combo: number } {
  let rest = vector;
  let combo = 0;
  while (rest !== 0) {
    const top = 31 - Math.clz32(rest);
    const pivot = space.pivots[top] ?? 0;
    if (pivot === 0) break;
    rest ^= pivot;
    combo ^= space.combos[top] ?? 0;
  }
  return { rest, combo };
}

/** Adds a generator; false when it was already in the space. */
export function extend(space: Space, vector: number): boolean {
  const { rest, combo } = reduce(space, vector);
  const generator = 1 << space.generators++;
  if (rest === 0) return false;
  const top = 31 - Math.clz32(rest);
  space.pivots[top] = rest;
  space.combos[top] = combo ^ generator;
  space.size++;
  return true;
}

export function contains(space: Space, vector: number): boolean {
  return reduce(space, vector).rest === 0;
}

/** Which generators (bit i: the i-th added) XOR to the vector; undefined outside the space. */
export function solve(space: Space, vector: number): number | undefined {
  const { rest, combo } = reduce(space, vector);
  return rest === 0 ? combo : undefined;
}
