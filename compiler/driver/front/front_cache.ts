/**
 * Preprocessed texts by the macros from outside that they depend on. Old ones are dropped where many instances
 * have texts of their own, since a tree takes a hundred times the memory of its text.
 */

/** Of all texts that are kept, about 300 MB with their trees. */
const MAX_KEPT_TOKENS = 500_000;

export interface Dependent {
  /** Every name whose value, or lack of one, the text depends on. */
  readonly used: ReadonlySet<string>;
  /** Those that had a value. */
  readonly values: ReadonlyMap<string, string>;
  readonly tokens: number;
}

export class FrontCache<Entry extends Dependent> {
  #entries: Entry[] = [];

  /** The text for these macros, if it is there. */
  find(values: ReadonlyMap<string, string>): Entry | undefined {
    return this.#entries.find((entry) => agree(entry, values));
  }

  /** The newest text for which this holds. */
  findLast(holds: (entry: Entry) => boolean): Entry | undefined {
    return this.#entries.findLast(holds);
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
    let tokens = 0;
    const first = this.#entries.findLastIndex((one) => (tokens += one.tokens) > MAX_KEPT_TOKENS);
    if (first >= 0) {
      this.#entries = this.#entries.slice(Math.min(first + 1, this.#entries.length - 1));
    }
  }
}

/** Whether these macros have the values that the text depends on, and no others that it would notice. */
function agree(entry: Dependent, values: ReadonlyMap<string, string>): boolean {
  for (const [name, value] of entry.values) if (values.get(name) !== value) return false;
  for (const name of values.keys()) {
    if (entry.used.has(name) && !entry.values.has(name)) return false;
  }
  return true;
}
