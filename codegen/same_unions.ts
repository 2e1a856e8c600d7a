/** Kernels of a file often have the same types: a union that is long and there already is named, not listed again. */
import { type Doc, flat, LINE_WIDTH } from "./doc.ts";
import type { Declaration } from "./structure.ts";

/** The declarations, with the name of an exported union in place of a later one with the same members. */
export function nameSameUnions(declarations: readonly Declaration[]): readonly Declaration[] {
  const names = new Map<string, string>();
  return declarations.map((one) => {
    if (one.kind !== "type" || !one.isExported || !isLong(one.type)) return one;
    const members = flat(one.type);
    const name = names.get(members);
    if (name === undefined) names.set(members, one.name);
    return name === undefined ? one : { ...one, type: name };
  });
}

/** Whether the union fills more than half of a line: its declaration takes several then. */
function isLong(type: Doc): boolean {
  return typeof type !== "string" && type.kind === "union" && flat(type).length > LINE_WIDTH / 2;
}
