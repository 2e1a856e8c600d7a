/** "Did you mean": the known word nearest to a misspelt one. */

/** Names that people type are shorter; comparing longer ones costs the product of their lengths. */
const LONGEST_WORD = 64;

/**
 * The candidate that is at most a third of the word's length of edits away; undefined if none is that
 * near. Case counts for nothing, so `tm` finds `TM`; of equally near ones the first wins.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > LONGEST_WORD) return undefined;
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.floor(word.length / 3) + 1;
  for (const candidate of candidates) {
    if (candidate === word || Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(wanted, candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/**
 * Insertions, deletions, replacements and swaps of neighbours between two words; any number
 * from `limit` on when they are that many. Entries further than that from the diagonal stay out.
 */
function editDistance(a: string, b: string, limit: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    const first = Math.max(1, i - limit);
    const end = Math.min(b.length, i + limit);
    for (let j = first; j <= end; j++) {
      const replaced = (last[j - 1] ?? limit) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(replaced, (last[j] ?? limit) + 1, (row[j - 1] ?? limit) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? limit) + 1);
      }
      row[j] = cost;
      if (cost < least) least = cost;
    }
    if (least >= limit) return limit;
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? limit;
}
