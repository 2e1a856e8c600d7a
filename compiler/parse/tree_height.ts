/**
 * How tall a tree is. Every later stage recurses over the tree, and `1 + 1 + 1 + …` nests to the left as
 * deeply as it is long, without nesting in the text.
 */

/** Nodes on the way from the root of a top-level item to its deepest leaf that later stages can take. */
export const MAX_TREE_HEIGHT = 1000;

/** Whether a path from the root to a leaf has more nodes than the limit. */
export function heightExceeds(root: object, limit: number): boolean {
  // An explicit stack, as this is what must not recurse.
  const open: { node: object; height: number }[] = [{ node: root, height: 1 }];
  for (let top = open.pop(); top !== undefined; top = open.pop()) {
    if (top.height > limit) return true;
    for (const [key, value] of Object.entries(top.node)) {
      if (key === "span" || key === "operatorSpan" || typeof value !== "object") continue;
      open.push({ node: value, height: Array.isArray(top.node) ? top.height : top.height + 1 });
    }
  }
  return false;
}
