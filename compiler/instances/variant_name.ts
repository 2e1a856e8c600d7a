/** Names of variants and entries: short, stable, and legal in PTX and TypeScript. */
import { scalarOfWords } from "../preprocess/type_spelling.ts";

/** `TYPE=half` is `float16`, `SPLIT=2` is `SPLIT2`, several are joined; without bindings `default`. */
export function deriveVariantName(bindings: Readonly<Record<string, string>>): string {
  const parts = Object.entries(bindings).map(([name, value]) => {
    const scalar = scalarOfWords(value.trim().split(/\s+/));
    return scalar ?? `${name}${identifierPart(value)}`;
  });
  return parts.length === 0 ? "default" : parts.join("_");
}

function identifierPart(text: string): string {
  return text.replace(/[^A-Za-z0-9]+/g, "_").replace(/^_+|_+$/g, "");
}

/** The names with `_2`, `_3`, … on those that came before. */
export function makeUnique(names: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  return names.map((name) => {
    let unique = name;
    for (let count = counts.get(name) ?? 2; taken.has(unique); count++) {
      unique = `${name}_${count}`;
      counts.set(name, count + 1);
    }
    taken.add(unique);
    return unique;
  });
}
