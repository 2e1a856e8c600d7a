/** Names of one kind that are used up. */

export class Names {
  readonly #taken: Set<string>;
  /** The number that each wanted name was given last. */
  readonly #last = new Map<string, number>();

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  /** Takes the name itself, or with a number if it is taken. */
  fresh(wanted: string, hides: (name: string) => boolean = () => false): string {
    let name = wanted;
    for (let i = this.#last.get(wanted) ?? 0; this.#taken.has(name) || hides(name); i++) {
      name = `${wanted}_${i + 1}`;
      this.#last.set(wanted, i + 1);
    }
    this.#taken.add(name);
    return name;
  }
}
