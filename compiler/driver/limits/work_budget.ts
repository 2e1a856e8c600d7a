/**
 * How much work the instances of a file may cause together. Each of them is limited by itself, but thousands of
 * instances multiply a long text. Tokens, values and instructions are counted, not time, so that the same input
 * always gives the same result.
 */
import type { Reporter } from "../../support/diagnostic.ts";
import type { SourceFile } from "../../support/source.ts";

/**
 * Tokens of text; what else is done counts as so many tokens. A token takes 3 to 5 microseconds to preprocess, parse
 * and check, so that all of it takes less than ten seconds. Of the shipped files, layer_norm takes most: 550,000.
 */
export const MAX_WORK = 3_000_000;

const TOKENS_PER = {
  tokens: 1,
  /** One for each instance and specialisation, however short. */
  functions: 500,
  /** Values that building and optimising make. */
  values: 4,
  /** PTX of the first target; others multiply what the caller asks for, not what the text does. */
  instructions: 5,
} as const;

export type Work = keyof typeof TOKENS_PER;

const WORKS = ["tokens", "functions", "values", "instructions"] as const satisfies readonly Work[];

/** Shared by all instances of a file. */
export class WorkBudget {
  readonly #file: SourceFile;
  readonly #done: Record<Work, number> = { tokens: 0, functions: 0, values: 0, instructions: 0 };

  constructor(file: SourceFile) {
    this.#file = file;
  }

  /** Counts work that has been done. What exceeds the limit counts no further, so that the message stays the same. */
  add(work: Work, count: number): void {
    if (!this.isSpent) this.#done[work] += count;
  }

  get isSpent(): boolean {
    let sum = 0;
    for (const work of WORKS) sum += this.#done[work] * TOKENS_PER[work];
    return sum > MAX_WORK;
  }

  /** Whether there may be more work; reports E9031 otherwise. */
  allowsMore(reporter: Reporter): boolean {
    if (!this.isSpent) return true;
    const counts = WORKS.map((work) => `${this.#done[work]} ${work}`);
    const span = { file: this.#file, start: 0, end: 0 };
    const message = "the instances of this file exceed the limit of work: " +
      `${counts.slice(0, -1).join(", ")} and ${counts.at(-1)} up to here`;
    reporter.error("E9031", span, message, {
      hint:
        "give it fewer variants, configurations and specialisations, or split it into several files",
    });
    return false;
  }
}
