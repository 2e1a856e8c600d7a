/** What the back end cannot compile, told once for all targets that it concerns. */
import { type Gap, Unsupported } from "../lower/unsupported.ts";
import type { Reporter } from "../support/diagnostic.ts";
import type { TargetName } from "../targets.ts";

interface Refusal {
  readonly gap: Gap;
  readonly targets: Set<TargetName>;
}

/** Runs the back end and remembers what it refused. */
export class Unsupporteds {
  readonly #refusals = new Map<string, Refusal>();

  /** The result of `lower`; undefined when it met something it cannot compile. */
  attempt<T>(target: TargetName, lower: () => T): T | undefined {
    // What is too long for one target is too long for all, and takes seconds to find out.
    const long = [...this.#refusals.values()].find(({ gap }) => gap.code === "E7011");
    if (long !== undefined) {
      long.targets.add(target);
      return undefined;
    }
    try {
      return lower();
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      const { gap } = error;
      const key = `${gap.what} ${gap.span.file.name} ${gap.span.start}`;
      const refusal = this.#refusals.get(key) ?? { gap, targets: new Set() };
      refusal.targets.add(target);
      this.#refusals.set(key, refusal);
      return undefined;
    }
  }

  report(all: readonly TargetName[], reporter: Reporter): void {
    for (const { gap: { code, what, span, hint }, targets } of this.#refusals.values()) {
      const where = targets.size === all.length ? "" : ` (${[...targets].join(", ")})`;
      reporter.error(code, span, `${what}${where}`, { hint });
    }
  }
}
