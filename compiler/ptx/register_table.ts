/** What is known of the registers of one body: by their indices where they have some, else by their names. */
import type { Register } from "./func.ts";

export class RegisterTable<T> {
  readonly #byIndex: (T | undefined)[] = [];
  readonly #byName = new Map<string, T>();

  get({ index, name }: Register): T | undefined {
    return index === undefined ? this.#byName.get(name) : this.#byIndex[index];
  }

  set({ index, name }: Register, known: T): void {
    if (index === undefined) this.#byName.set(name, known);
    else {
      while (this.#byIndex.length < index) this.#byIndex.push(undefined);
      this.#byIndex[index] = known;
    }
  }
}
