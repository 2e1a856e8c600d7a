/** The kernels of a parsed file, and which of the parser's diagnostics lie in them. */
import type { FunctionDefinition, Unit } from "../../parse/ast.ts";
import type { KernelSite } from "../../instances/items.ts";
import type { Diagnostic } from "../../support/diagnostic.ts";
import { groupBy } from "../../support/group_by.ts";
import { type Span, useSite } from "../../support/source.ts";

/** The definitions that make kernels, in the order of the text. */
export interface KernelDefinitions {
  readonly all: ReadonlySet<FunctionDefinition>;
  /** By name; several after a mistake. */
  readonly named: ReadonlyMap<string, readonly FunctionDefinition[]>;
}

export function findDefinitions(unit: Unit): KernelDefinitions {
  const all = kernelDefinitions(unit);
  const named = groupBy(all, nameOf);
  return { all: new Set(all), named };
}

export function kernelSites({ all }: KernelDefinitions): readonly KernelSite[] {
  return [...all].flatMap(({ declarator: { name } }) =>
    name === undefined ? [] : [{
      name: name.text,
      offset: useSite(name.span).start,
      isNamedByMacro: name.span.expansion !== undefined,
    }]
  );
}

/** Diagnostics by the kernel that they lie in; those of no kernel and those of several apart. */
export interface SortedDiagnostics {
  readonly outside: readonly Diagnostic[];
  readonly inside: ReadonlyMap<string, readonly Diagnostic[]>;
}

export function sortDiagnostics(
  diagnostics: readonly Diagnostic[],
  { named }: KernelDefinitions,
): SortedDiagnostics {
  const outside: Diagnostic[] = [];
  const inside = new Map<string, Diagnostic[]>();
  const regions = [...named].flatMap(([name, definitions]) =>
    definitions.map((definition): Region => ({ name, whole: useSite(definition.span) }))
  );
  const files = groupBy(
    regions.toSorted((a, b) => a.whole.start - b.whole.start),
    ({ whole }) => whole.file,
  );
  for (const diagnostic of diagnostics) {
    const at = useSite(diagnostic.span);
    const [name, ...others] = namesAt(at, files.get(at.file) ?? []);
    if (name === undefined) outside.push(diagnostic);
    else if (others.length === 0) {
      const known = inside.get(name);
      if (known === undefined) inside.set(name, [diagnostic]);
      else known.push(diagnostic);
    }
  }
  return { outside, inside };
}

/** Where a kernel is defined. */
interface Region {
  readonly name: string;
  readonly whole: Span;
}

/** Kernels that contain a span. Definitions do not overlap, but one use of a macro may make several. */
function namesAt({ start, end }: Span, sorted: readonly Region[]): ReadonlySet<string> {
  const names = new Set<string>();
  let last = sorted.length;
  for (let first = 0; first < last;) {
    const middle = (first + last) >> 1;
    if ((sorted[middle]?.whole.start ?? 0) <= start) first = middle + 1;
    else last = middle;
  }
  for (let i = last - 1; i >= 0; i--) {
    const region = sorted[i];
    if (region === undefined || region.whole.end < start) break;
    if (region.whole.end >= end) names.add(region.name);
  }
  return names;
}

const nameOf = ({ declarator }: FunctionDefinition): string => declarator.name?.text ?? "";
const hasStorage = ({ specs }: FunctionDefinition, word: string): boolean =>
  specs.storage.some((storage) => storage.word === word);

/** `__global__` functions; without any, the `void` functions that are not static (language.md 4.4). */
function kernelDefinitions({ items }: Unit): readonly FunctionDefinition[] {
  const functions = items.filter((item) => item.kind === "function");
  const marked = functions.filter((definition) => hasStorage(definition, "__global__"));
  if (marked.length > 0) return marked;
  return functions.filter((definition) =>
    !hasStorage(definition, "static") && returnsVoid(definition)
  );
}

function returnsVoid({ specs, declarator }: FunctionDefinition): boolean {
  const { type } = specs;
  return type.kind === "words" && type.words.map((word) => word.text).join() === "void" &&
    declarator.pointers.length === 0;
}
