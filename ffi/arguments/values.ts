/** Describing what callers passed, for messages. */

/** Characters of a text, and elements of a list, that a message shows. */
const MOST_CHARACTERS = 60;
const MOST_ELEMENTS = 8;

const DESCRIBERS: Readonly<Record<string, (value: unknown) => string>> = {
  bigint: (value) => clipped(`${value}n`),
  string: (value) => JSON.stringify(clipped(String(value))),
  symbol: (value) => clipped(String(value)),
  function: () => "a function",
  object: (value) => describeObject(value),
};

/** What a caller passed. Never throws, whatever the value does when it is read. */
export function describeValue(value: unknown): string {
  try {
    return (DESCRIBERS[typeof value] ?? String)(value);
  } catch {
    return "an object that cannot be read";
  }
}

function describeObject(value: unknown): string {
  if (value === null || typeof value !== "object") return "null";
  if (Array.isArray(value)) return describeList(value);
  const { constructor }: { readonly constructor?: unknown } = value;
  if (constructor === Object || Object.getPrototypeOf(value) === null) return "an object";
  return typeof constructor === "function" && constructor.name !== ""
    ? `an object of class ${clipped(String(constructor.name))}`
    : "an object";
}

/** A list of simple values; lists in it are not described further. */
function describeList(values: readonly unknown[]): string {
  const count = Math.min(values.length, MOST_ELEMENTS);
  const texts = Array.from({ length: count }, (_, i) => {
    const value = values[i];
    return Array.isArray(value) ? "[…]" : describeValue(value);
  });
  return `[${texts.join(", ")}${values.length > count ? `, … ${values.length} in all` : ""}]`;
}

function clipped(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
