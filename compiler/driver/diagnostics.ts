/** Diagnostics of many instances as one list: each once, with the instance named where not all have it. */
import type { CompileOptions } from "../options.ts";
import { OFF_BY_DEFAULT } from "../support/codes.ts";
import { type Diagnostic, Reporter } from "../support/diagnostic.ts";
import { type Span, useSite } from "../support/source.ts";

type Grading = Pick<CompileOptions, "suppress" | "enable" | "warningsAsErrors">;

interface Collected {
  readonly diagnostic: Diagnostic;
  /** Labels of the instances that have it; empty: of the file. */
  readonly instances: Set<string>;
}

/** Gathers the diagnostics of one file's instances. */
export class DiagnosticCollector {
  readonly #found = new Map<string, Collected>();
  /** Labels of all instances, by the offset of the kernel's definition, which variants may give several names. */
  readonly #instances = new Map<number, Set<string>>();
  /** Labels by list: the text outside of kernels has one list for all of them. */
  readonly #lists = new Map<readonly Diagnostic[], Set<string>>();

  /** Diagnostics of the file as a whole. */
  addGeneral(diagnostics: readonly Diagnostic[]): void {
    for (const diagnostic of diagnostics) this.#entry(diagnostic);
  }

  /** Diagnostics of one instance; `label` names it and its defines. */
  addInstance(definition: number, label: string, diagnostics: readonly Diagnostic[]): void {
    const labels = this.#instances.get(definition) ?? new Set();
    this.#instances.set(definition, labels.add(label));
    const added = this.#lists.get(diagnostics) ?? new Set();
    if (added.has(label)) return;
    this.#lists.set(diagnostics, added.add(label));
    for (const diagnostic of diagnostics) this.#entry(diagnostic).instances.add(label);
  }

  #entry(diagnostic: Diagnostic): Collected {
    const { code, message, span } = diagnostic;
    const key = JSON.stringify([
      code,
      message,
      span.file.name,
      span.start,
      span.end,
      locationOf(span),
    ]);
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const made: Collected = { diagnostic, instances: new Set() };
    this.#found.set(key, made);
    return made;
  }

  /** In the order of the text, filtered and graded as the options say. */
  finish(mainFile: string, options: Grading): readonly Diagnostic[] {
    const kernels = [
      ...new Map([...this.#instances.values()].map((labels) => [[...labels].join("\n"), labels]))
        .values(),
    ];
    const graded = [...this.#found.values()].flatMap((entry) => withInstance(entry, kernels))
      .filter(({ code, severity }) => severity === "error" || isWanted(code, options))
      .map((diagnostic): Diagnostic =>
        options.warningsAsErrors === true ? { ...diagnostic, severity: "error" } : diagnostic
      )
      .sort((a, b) => byLocation(a, b, mainFile));
    let errors = 0;
    return graded.filter(({ severity }) => severity !== "error" || ++errors <= Reporter.MAX_ERRORS);
  }
}

/** Code for several types may ask what only some of them leave open: these are no mistake unless all instances have it. */
const OF_ALL_INSTANCES: ReadonlySet<Diagnostic["code"]> = new Set<Diagnostic["code"]>(["W5029"]);

/** Nothing to add when all instances of a kernel have it. */
function withInstance(
  { diagnostic, instances }: Collected,
  kernels: readonly ReadonlySet<string>[],
): readonly Diagnostic[] {
  if (instances.size === 0) return [diagnostic];
  const partial = kernels.find((labels) => {
    const count = [...labels].filter((label) => instances.has(label)).length;
    return count > 0 && count < labels.size;
  });
  if (partial === undefined) return [diagnostic];
  if (OF_ALL_INSTANCES.has(diagnostic.code)) return [];
  const [first, ...others] = [...partial].filter((label) => instances.has(label));
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  return [{
    ...diagnostic,
    notes: [...diagnostic.notes, { message: `in the instance ${first}${more}` }],
  }];
}

function isWanted(code: Diagnostic["code"], { suppress = [], enable = [] }: Grading): boolean {
  return !suppress.includes(code) && (!OFF_BY_DEFAULT.has(code) || enable.includes(code));
}

/** Where the user looks for it: the use of a macro, not its text. */
function locationOf(span: Span): readonly [string, number] {
  const site = useSite(span);
  return [site.file.name, site.start];
}

/** The main file before all others. */
function byLocation(a: Diagnostic, b: Diagnostic, mainFile: string): number {
  const [fileA, startA] = locationOf(a.span);
  const [fileB, startB] = locationOf(b.span);
  if (fileA === fileB) return startA - startB;
  if (fileA === mainFile || fileB === mainFile) return fileA === mainFile ? -1 : 1;
  return fileA < fileB ? -1 : 1;
}
