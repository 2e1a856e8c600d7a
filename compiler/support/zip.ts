/** Lists whose elements belong together by position. */
import { bug, must } from "./bug.ts";

/** The elements of two lists of one length, in pairs. */
export function zip<A, B>(a: readonly A[], b: readonly B[]): (readonly [A, B])[] {
  if (a.length !== b.length) bug(`${a.length} elements for ${b.length}`);
  return a.map((one, index) => [one, must(b[index], "element")]);
}
