/**
 * How many instances the pragmas of a file may ask for. A few lines of `variants` multiply to millions, and a filter
 * that nothing passes is asked about every configuration.
 */
import type { Reporter } from "../support/diagnostic.ts";
import type { SourceFile, Span } from "../support/source.ts";

/** Variants × specialisations of all kernels; the largest shipped file has 56. */
export const MAX_INSTANCES = 4096;

/** Configurations that filters are asked about, for each variant and specialisation. */
const MAX_CONFIGURATIONS = 50_000;

/** Shared by all kernels of a file. */
export class PlanBudget {
  readonly #file: SourceFile;
  #instances = MAX_INSTANCES;
  #configurations = MAX_CONFIGURATIONS;
  #isReported = false;

  /** @param file what to point at where no pragma asks for what is too much */
  constructor(file: SourceFile = { name: "", text: "" }) {
    this.#file = file;
  }

  /** Whether there may be that many more instances. */
  allowsInstances(count: number, span: Span | undefined, reporter: Reporter): boolean {
    this.#instances -= count;
    return this.#check(this.#instances, span, reporter, {
      what: `${MAX_INSTANCES} instances`,
      hint: "list fewer values in `variants`, or split the file",
    });
  }

  /** Whether one more configuration may be looked at. */
  allowsConfiguration(span: Span | undefined, reporter: Reporter): boolean {
    return this.#check(--this.#configurations, span, reporter, {
      what: `${MAX_CONFIGURATIONS} configurations to choose from`,
      hint: "list fewer values in `configs`; each filter is evaluated for all combinations",
    });
  }

  #check(
    left: number,
    span: Span | undefined,
    reporter: Reporter,
    { what, hint }: { readonly what: string; readonly hint: string },
  ): boolean {
    if (left >= 0) return true;
    if (!this.#isReported) {
      const at = span ?? { file: this.#file, start: 0, end: 0 };
      reporter.error("E9030", at, `the kernels of this file have more than ${what}`, { hint });
    }
    this.#isReported = true;
    return false;
  }
}
