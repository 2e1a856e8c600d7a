/** The attribute `access` of loads from shared memory. */

/** How a tile is read from a slot of shared memory: `ld.shared`, or `ldmatrix` without or with `.trans`. */
export const SHARED_ACCESSES = ["vectors", "matrices", "transposed", "pairs"] as const;
export type SharedAccess = typeof SHARED_ACCESSES[number];
