/** Names in generated code: C's identifiers in TypeScript's habits, never a reserved word, never twice. */

/** Words that cannot name a variable in a module, and names that the generated code uses itself. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(
  ("arguments await break case catch class const continue debugger default delete do else enum eval export extends " +
    "false finally for function if implements import in instanceof interface let new null package private protected " +
    "public return static super switch this throw true try typeof undefined var void while with yield " +
    "CONSTANTS cdiv defineConstants exact nextPow2 quotient remainder wrapKernel Math Number URL")
    .split(" "),
);

/** The identifier itself, or with an underscore where it is taken by the language. */
export function safeIdentifier(name: string): string {
  return RESERVED_NAMES.has(name) ? `${name}_` : name;
}

/** `X` → `x`, `LDX` → `ldx`, `A_ptr` → `aPtr`, `layer_norm` → `layerNorm`. std's `toCamelCase` makes `conv2D` of `conv2d`. */
export function camelCase(name: string): string {
  const [first, ...rest] = wordsOf(name);
  if (first === undefined) return name;
  return decapitalize(first) + rest.map(capitalize).join("");
}

/** `layer_norm` → `LayerNorm`. */
export function pascalCase(name: string): string {
  const words = wordsOf(name);
  return words.length === 0 ? `Kernel${name}` : words.map(capitalize).join("");
}

/** `layer_norm` and `layerNorm` → `LAYER_NORM`. */
export function constantCase(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase();
}

function wordsOf(name: string): string[] {
  return name.split("_").filter((word) => word !== "");
}

function decapitalize(word: string): string {
  return word === word.toUpperCase()
    ? word.toLowerCase()
    : word.charAt(0).toLowerCase() + word.slice(1);
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/**
 * A name for each of the originals by `style`; originals whose styled names would meet each other or `taken`
 * get theirs unstyled, and an underscore where that is taken too.
 */
export function styledNames(
  originals: readonly string[],
  style: (name: string) => string,
  taken: ReadonlySet<string> = new Set(),
): ReadonlyMap<string, string> {
  const counts = new Map<string, number>();
  for (const name of originals) counts.set(style(name), (counts.get(style(name)) ?? 0) + 1);
  const used = new Set(taken);
  const names = new Map<string, string>();
  for (const name of originals) {
    const styled = style(name);
    let chosen = counts.get(styled) === 1 ? styled : name;
    while (used.has(chosen)) chosen += "_";
    used.add(chosen);
    names.set(name, chosen);
  }
  return names;
}
