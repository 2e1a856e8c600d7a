/** Choices of the generator, drawn from fast-check's random numbers. */
import type { Random } from "fast-check";
import { must } from "../../../compiler/support/bug.ts";

export class Choices {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** From `least` to `most`, both included. */
  between(least: number, most: number): number {
    return this.#random.nextInt(least, most);
  }

  /** True once in `count` times. */
  oneIn(count: number): boolean {
    return this.between(1, count) === 1;
  }

  pick<T>(items: readonly T[]): T {
    return must(items[this.between(0, items.length - 1)], "something to choose from");
  }

  /** The items in another order. */
  shuffled<T>(items: readonly T[]): T[] {
    const rest = [...items];
    return items.flatMap(() => rest.splice(this.between(0, rest.length - 1), 1));
  }

  /** One of the items, each as often as its weight says. */
  weighted<T>(items: readonly (readonly [weight: number, item: T])[]): T {
    let left = this.between(1, items.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, item] of items) {
      left -= weight;
      if (left <= 0) return item;
    }
    return must(items.at(-1), "something to choose from")[1];
  }
}
