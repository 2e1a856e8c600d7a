/**
 * A guard for every later stage, all of which recurse over the tree: `1 + 1 + 1 + …` nests to the left as
 * deeply as it is long, without nesting in the text.
 */
import type { Reporter } from "../support/diagnostic.ts";
import type { TopItem } from "./ast.ts";

/** Nodes between the root of a top-level item and its deepest leaf. */
export const MAX_TREE_HEIGHT = 1000;

/** Whether an item is too tall to go on with; then that is reported. */
export function reportTooTall(item: TopItem, reporter: Reporter): boolean {
  // An explicit stack, as this is what must not recurse.
  const open: { node: object; height: number }[] = [{ node: item, height: 1 }];
  for (let top = open.pop(); top !== undefined; top = open.pop()) {
    if (top.height > MAX_TREE_HEIGHT) {
      reporter.error("E5003", item.span, `the longest chain of operators has more than ${MAX_TREE_HEIGHT} links`, {
        hint: "split it into several statements",
      });
      return true;
    }
    for (const [key, value] of Object.entries(top.node)) {
      if (isPosition(key) || typeof value !== "object") continue;
      const height = Array.isArray(top.node) ? top.height : top.height + 1;
      open.push({ node: value, height });
    }
  }
  return false;
}

function isPosition(key: string): boolean {
  return key === "span" || key === "operatorSpan";
}
