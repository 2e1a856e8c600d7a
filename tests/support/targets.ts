/** Targets whose code is the same: one of them runs, and the title of its test names the others. */
import { must } from "../../compiler/support/bug.ts";
import { type TargetName, TARGETS } from "../../compiler/targets.ts";

/** Every target, oldest first. */
export const TARGET_NAMES: readonly TargetName[] = Object.values(TARGETS).map(({ name }) => name);

/** PTX without the lines that name its version and its target, and without comments. */
export function bodyOf(ptx: string): string {
  return ptx.replaceAll(/^(?:\.(?:version|target) .*|\/\/.*)$/gm, "");
}

const ENTRY = /^\.visible \.entry (\w+)\([^]*?^\}$/gm;

/** A module without the entries of other variants: their names have the variant's after the kernel's. */
export function entriesOf(ptx: string, variant: string): string {
  const isOwn = new RegExp(`_${variant}(?:_|$)`);
  let found = 0;
  const own = ptx.replaceAll(
    ENTRY,
    (entry, name: string) => isOwn.test(name) ? (found++, entry) : "",
  );
  if (found === 0) throw new Error(`the module has no entry of ${variant}`);
  return own;
}

/** A module as what comes before its first entry, and its entries. */
export function splitEntries(ptx: string): { readonly head: string; readonly entries: string[] } {
  const entries = [...ptx.matchAll(ENTRY)];
  return {
    head: ptx.slice(0, entries[0]?.index),
    entries: entries.map(([text]) => text),
  };
}

/** Targets with equal code. */
export interface TargetGroup {
  /** The oldest: it runs for all. */
  readonly first: TargetName;
  readonly targets: readonly TargetName[];
}

/** Targets by the code that they have, in order; `ptxOf` gives all PTX of a target. */
export function groupTargets(
  ptxOf: (target: TargetName) => string,
  targets: readonly TargetName[] = TARGET_NAMES,
): TargetGroup[] {
  return [...Map.groupBy(targets, (target) => bodyOf(ptxOf(target))).values()]
    .map((group) => ({ first: must(group[0], "target"), targets: group }));
}
