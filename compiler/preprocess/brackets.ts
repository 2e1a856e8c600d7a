/** Which brackets belong together, in a text that may have too many or too few of them. */
import { isWord, type Token } from "./token.ts";

/**
 * For every opening bracket the index of its closing one, -1 if it has none. Braces are trusted most: a `{`
 * or `}` ends all parentheses open before it, and `;` ends them unless they belong to a `for`.
 */
export function matchBrackets(tokens: readonly Token[]): Int32Array {
  const closers = new Int32Array(tokens.length).fill(-1);
  const open: number[] = [];
  const top = (): string => tokens[open.at(-1) ?? -1]?.text ?? "";
  const dropToBrace = (): void => {
    while (open.length > 0 && top() !== "{") open.pop();
  };
  const isForHeader = (): boolean => {
    const before = tokens[(open.at(-1) ?? 0) - 1];
    return before !== undefined && isWord(before, "for");
  };
  const close = (index: number): void => {
    const opener = open.pop();
    if (opener !== undefined) closers[opener] = index;
  };
  for (const [i, { kind, text }] of tokens.entries()) {
    if (kind !== "punctuator") continue;
    if (text === "(" || text === "[") open.push(i);
    else if (text === "{") {
      dropToBrace();
      open.push(i);
    } else if (text === "}") {
      dropToBrace();
      close(i);
    } else if (text === ";") {
      while (open.length > 0 && top() !== "{" && !isForHeader()) open.pop();
    } else if (text === ")" || text === "]") {
      const opener = text === ")" ? "(" : "[";
      const depth = open.findLastIndex((at) =>
        tokens[at]?.text === opener || tokens[at]?.text === "{"
      );
      if (tokens[open[depth] ?? -1]?.text !== opener) continue; // a stray closing bracket
      open.length = depth + 1;
      close(i);
    }
  }
  return closers;
}
