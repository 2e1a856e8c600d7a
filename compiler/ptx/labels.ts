/** Finds the labels of all scopes of a body in one go: they may be used before their definition. */
import type { PtxCursor } from "./cursor.ts";
import type { PtxToken } from "./lex.ts";

/** Label tokens by the position of the brace that opens their scope. */
export type Labels = ReadonlyMap<number, readonly PtxToken[]>;

/** Looks from the opening brace of a body, which comes next, to the closing one. */
export function findLabels(cursor: PtxCursor): Labels {
  const labels = new Map<number, PtxToken[]>();
  const open: number[] = [];
  for (let ahead = 0;; ahead++) {
    const token = cursor.peek(ahead);
    if (token.kind === "end") return labels;
    if (token.kind === "mark") {
      if (token.text === "{") open.push(cursor.position + ahead);
      else if (token.text === "}") {
        open.pop();
        if (open.length === 0) return labels;
      }
    } else if (token.kind === "word" && cursor.peek(ahead + 1).text === ":") {
      const scope = open.at(-1) ?? -1;
      const found = labels.get(scope);
      if (found === undefined) labels.set(scope, [token]);
      else found.push(token);
    }
  }
}
