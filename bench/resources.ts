/** What a measurement opens. Node 20 has neither `using` nor `DisposableStack`. */
export class Resources {
  readonly #kept: Disposable[] = [];

  /** Notes it, to be given back; the result is it. */
  use<T extends Disposable>(resource: T): T {
    this.#kept.push(resource);
    return resource;
  }

  /** Gives all back, the last first; what fails on the way is thrown when the others are given back. */
  giveBack(): void {
    const failures: unknown[] = [];
    for (const resource of this.#kept.splice(0).reverse()) {
      try {
        resource[Symbol.dispose]();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
