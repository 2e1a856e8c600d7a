/** What the back end cannot compile yet, told once for all targets that it concerns (E7008). */
import { Unsupported } from "./lower/mod.ts";
import type { Reporter } from "./support/diagnostic.ts";
import type { Span } from "./support/source.ts";
import type { TargetName } from "./targets.ts";

interface Missing {
  readonly what: string;
  readonly span: Span;
  readonly targets: Set<TargetName>;
}

/** Runs the back end and remembers what it refused. */
export class Unsupporteds {
  readonly #missing = new Map<string, Missing>();

  /** The result of `lower`; undefined when it met something it cannot compile. */
  attempt<T>(target: TargetName, lower: () => T): T | undefined {
    try {
      return lower();
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      const { what, span } = error;
      const key = `${what} ${span.file.name} ${span.start}`;
      const missing = this.#missing.get(key) ?? { what, span, targets: new Set() };
      missing.targets.add(target);
      this.#missing.set(key, missing);
      return undefined;
    }
  }

  report(all: readonly TargetName[], reporter: Reporter): void {
    for (const { what, span, targets } of this.#missing.values()) {
      const where = targets.size === all.length ? "" : ` for ${[...targets].join(", ")}`;
      reporter.error("E7008", span, `${what} cannot be compiled${where} yet`);
    }
  }
}
