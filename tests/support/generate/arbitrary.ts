/** Random programs for fast-check, which makes a failing one smaller. */
import fc, { type Random, Stream, Value } from "fast-check";
import { Choices } from "./choices.ts";
import type { Feature } from "./features.ts";
import { makeProgram } from "./program.ts";
import { shrinkProgram } from "./shrink.ts";
import type { GeneratedProgram } from "./tree.ts";

class ProgramArbitrary extends fc.Arbitrary<GeneratedProgram> {
  readonly #features: ReadonlySet<Feature>;

  constructor(features: ReadonlySet<Feature>) {
    super();
    this.#features = features;
  }

  override generate(random: Random): Value<GeneratedProgram> {
    return new Value(makeProgram(new Choices(random), this.#features), undefined);
  }

  override canShrinkWithoutContext(value: unknown): value is GeneratedProgram {
    return typeof value === "object" && value !== null && "body" in value;
  }

  override shrink(value: GeneratedProgram): Stream<Value<GeneratedProgram>> {
    return new Stream(shrinkProgram(value)).map((smaller) => new Value(smaller, undefined));
  }
}

/** Programs out of the constructs that a compiler has. */
export function anyProgram(features: ReadonlySet<Feature>): fc.Arbitrary<GeneratedProgram> {
  return new ProgramArbitrary(features);
}
