/**
 * Which pragma items hold for which kernel, and which of them win. Sources, strongest first: overrides in
 * the order of the options (command line before deno.json), then the file. Variants, configurations, key,
 * specialisation and options of a stronger source replace a weaker one's; grid, tensor, require and noalias
 * add up and must agree (language.md 10.2).
 */
import type { PragmaGroup, PragmaItem, PragmaName, SourcedItem } from "../pragma/pragma.ts";
import type { Reporter } from "../support/diagnostic.ts";
import { nearest } from "../support/spelling.ts";
import type { Span } from "../support/source.ts";

/** A kernel: its name and where the name is in the main file. */
export interface KernelSite {
  readonly name: string;
  readonly offset: number;
  /** A macro gave it the name, so variants may give it others. */
  readonly isNamedByMacro?: boolean;
}

/** An override, parsed. */
export interface OverrideItem {
  readonly kernel: string | undefined;
  /** Whether the file must have that kernel. */
  readonly isForFile: boolean;
  readonly item: PragmaItem;
  readonly origin: string;
}

/** The items of each kernel, strongest source first; `file` is the name of the file, for messages. */
export function assignItems(
  groups: readonly PragmaGroup[],
  overrides: readonly OverrideItem[],
  kernels: readonly KernelSite[],
  file: string,
  reporter: Reporter,
): ReadonlyMap<string, readonly SourcedItem[]> {
  const assigned = new Map<string, SourcedItem[]>(kernels.map(({ name }) => [name, []]));
  const unknown = new Set<string>();
  for (const { kernel, isForFile, item, origin } of overrides) {
    if (isForFile && kernel !== undefined && !unknown.has(kernel)) {
      if (!isKernel({ name: kernel, span: item.span }, kernels, file, reporter)) {
        unknown.add(kernel);
      }
    }
    const targets = kernel === undefined ? kernels : kernels.filter(({ name }) => name === kernel);
    for (const { name } of targets) assigned.get(name)?.push({ item, origin });
  }
  for (const group of groups) {
    const offset = Math.min(
      ...kernels.map((kernel) => kernel.offset).filter((at) => at >= group.end),
    );
    const next = kernels.filter((kernel) => kernel.offset === offset).map(({ name }) => name);
    let targets = next.length === 0 ? undefined : next;
    let isReported = false;
    for (const item of group.items) {
      if (item.kind === "kernel") {
        targets = item.names.filter((name) => isKernel(name, kernels, file, reporter)).map((
          { name },
        ) => name);
      } else if (targets === undefined) {
        if (!isReported && kernels.length > 0) reportNoKernel(item.span, reporter);
        isReported = true;
      } else {
        for (const name of targets) assigned.get(name)?.push({ item, origin: undefined });
      }
    }
  }
  return assigned;
}

function isKernel(
  { name, span }: PragmaName,
  kernels: readonly KernelSite[],
  file: string,
  reporter: Reporter,
): boolean {
  const names = kernels.map((kernel) => kernel.name);
  if (names.includes(name)) return true;
  if (kernels.length === 0) return false; // the file has other errors
  const near = reporter.isFull ? undefined : nearest(name, names);
  reporter.error("E9006", span, `there is no kernel \`${name}\` in ${file}`, {
    hint: near === undefined
      ? `there are ${names.map((other) => `\`${other}\``).join(", ")}`
      : `did you mean \`${near}\`?`,
  });
  return false;
}

function reportNoKernel(span: Span, reporter: Reporter): void {
  reporter.error("E9006", span, "no kernel follows this pragma", {
    hint: "pragmas apply to the next kernel; `#pragma tri kernel NAME` selects another one",
  });
}

/** Items that replace each other have one class. */
function classOf(item: PragmaItem): string | undefined {
  switch (item.kind) {
    case "variant":
    case "variants":
      return "variants";
    case "config":
    case "configs":
      return "configs";
    case "key":
    case "specialize":
      return item.kind;
    case "option":
      return `option ${item.setting.name}`;
    default:
      return undefined;
  }
}

/** The items that hold: of each class only those of its strongest source. A replaced item that differs is W9001. */
export function strongestItems(
  items: readonly SourcedItem[],
  reporter: Reporter,
): readonly SourcedItem[] {
  const winners = new Map<string, string | undefined>();
  for (const { item, origin } of items) {
    const name = classOf(item);
    if (name !== undefined && !winners.has(name)) winners.set(name, origin);
  }
  return items.filter(({ item, origin }) => {
    const name = classOf(item);
    if (name === undefined || winners.get(name) === origin) return true;
    const winner = winners.get(name);
    const same = items.some((other) =>
      other.origin === winner && contentKey(other.item) === contentKey(item)
    );
    if (!same) {
      reporter.warn("W9001", item.span, `this is overridden by ${winner ?? "the file"}`, {
        hint: "remove one of the two",
      });
    }
    return false;
  });
}

/** The item without its spans. */
function contentKey(item: PragmaItem): string {
  return JSON.stringify(item, (key, value) => key === "span" ? undefined : value);
}
