/** Names of registers, which end in numbers. Regular expressions took as long for them as printing the instructions. */
const ZERO = 48;
const NINE = 57;

/** Where the digits at the end of a name begin, of the last `most` if there are more; its length where it has none. */
export function startOfNumber(name: string, most = name.length): number {
  const least = Math.max(0, name.length - most);
  let start = name.length;
  for (; start > least; start--) {
    const code = name.charCodeAt(start - 1);
    if (code < ZERO || code > NINE) break;
  }
  return start;
}

/** The most digits that an index has. */
const INDEX_DIGITS = 9;

/** A name's prefix and its number, which has no leading zeros; -1 for names without. */
export function splitName(name: string): { readonly prefix: string; readonly index: number } {
  let start = startOfNumber(name, INDEX_DIGITS);
  while (start < name.length - 1 && name.charCodeAt(start) === ZERO) start++;
  return start === 0 || start === name.length
    ? { prefix: name, index: -1 }
    : { prefix: name.slice(0, start), index: Number(name.slice(start)) };
}
