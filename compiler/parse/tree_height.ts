/**
 * How tall a tree is. Every later phase recurses over the tree, and `1 + 1 + 1 + …` nests to the left as
 * deeply as it is long, without nesting in the text.
 */

/** Nodes on the way from the root of a top-level item to its deepest leaf that later phases can take. */
export const MAX_TREE_HEIGHT = 1000;

/** Whether a path from the root to a leaf has more nodes than the limit. */
export function heightExceeds(root: object, limit: number): boolean {
  // An explicit stack, as this function must not recurse.
  const nodes: object[] = [root];
  const heights = [1];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    const height = heights.pop() ?? 0;
    if (height > limit) return true;
    const isList = Array.isArray(node);
    const children: readonly unknown[] = Array.isArray(node) ? node : Object.values(node);
    for (const child of children) {
      if (typeof child !== "object" || child === null || isSpan(child)) continue;
      nodes.push(child);
      heights.push(isList ? height : height + 1);
    }
  }
  return false;
}

/** Spans are leaves, although they refer to files and macros. */
const isSpan = (value: object): boolean => "file" in value && "start" in value;
