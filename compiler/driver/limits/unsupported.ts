/** What the back end cannot compile, reported once for all targets that it concerns. */
import { type Gap, Unsupported } from "../../lower/unsupported.ts";
import type { Reporter } from "../../support/diagnostic.ts";
import { ALL_TARGETS, type TargetName } from "../../targets.ts";

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
      const limit = code === "E7008" ? `; ${mostShared([...targets])}` : "";
      const isNamed = targets.size === all.length || (limit !== "" && targets.size === 1);
      const where = isNamed ? "" : ` (${[...targets].join(", ")})`;
      reporter.error(code, span, `${what}${limit}${where}`, { hint });
    }
  }
}

/** The refused target that has the most shared memory, with its limit: a tile that fits there still helps the others. */
function mostShared(targets: readonly TargetName[]): string {
  const bytes = Math.max(...targets.map((name) => ALL_TARGETS[name].sharedBytesPerBlock));
  const name = targets.find((name) => ALL_TARGETS[name].sharedBytesPerBlock === bytes);
  return `${name} has ${bytes / 1024} KiB per block`;
}
