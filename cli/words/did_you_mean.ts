/** "Did you mean": the known word that is meant by a misspelt one of a command line or of settings. */
import { closestString } from "@std/text/closest-string";
import { levenshteinDistance } from "@std/text/levenshtein-distance";

/** A question that suggests the nearest of the known words; undefined: less than half of its letters would stay. */
export function didYouMean(
  word: string,
  known: readonly string[],
  shown: (near: string) => string = (near) => near,
): string | undefined {
  if (known.length === 0) return undefined;
  const near = closestString(word, known);
  const edits = levenshteinDistance(word.toLowerCase(), near.toLowerCase());
  return 2 * edits <= word.length ? `Did you mean ${shown(near)}?` : undefined;
}
