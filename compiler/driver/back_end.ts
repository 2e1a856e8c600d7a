/**
 * The back end for one kernel: its functions for every target. Targets that lowering does not distinguish get the
 * code that was made for the first of them; only directives, version and target of the module are their own.
 */
import type { Func } from "../ir/func.ts";
import { FileTable } from "../lower/source_locations.ts";
import type { CompiledEntry, CompiledModule, EntryForm } from "../options.ts";
import type { PtxDirective, PtxFunction, PtxKernel, PtxVariable } from "../ptx/func.ts";
import { printCode, printModule } from "../ptx/print.ts";
import { neededVersion } from "../ptx/version.ts";
import {
  emitLowered,
  type EntryLowering,
  type LoweredEntry,
  lowerForms,
  type PassedEntry,
  passEntry,
  type TargetLowering,
} from "./lower_entry.ts";
import { timed } from "./passes/run_passes.ts";
import { must } from "../support/bug.ts";
import type { WorkBudget } from "./limits/work_budget.ts";
import { ALL_TARGETS, type Target, type TargetName } from "../targets.ts";

/** A kernel as text: instructions of all instances as data would fill the memory. */
interface KernelText {
  /** Without its code. */
  readonly kernel: PtxKernel;
  readonly text: string;
  readonly instructions: number;
  /** PTX version that it needs. */
  readonly version: number;
  /** Variables and functions of the module that it uses. */
  readonly globals: readonly PtxVariable[];
  readonly externs: readonly PtxFunction[];
  readonly directivesOn: (target: Target) => readonly PtxDirective[];
}

/** The code of an entry, or of its forms, and the targets that it is for. */
interface Made<Facts> {
  readonly texts: readonly KernelText[];
  readonly facts: Facts;
  readonly sameAnswers: (target: Target) => boolean;
}

type MadeEntry = Made<CompiledEntry>;

/** The code of an entry for a target. */
interface Code {
  /** That of the entry itself, then those of its forms. */
  readonly kernels: readonly KernelText[];
  readonly entry: CompiledEntry;
}

export class BackEnd {
  readonly #modules: ReadonlyMap<TargetName, Code[]>;
  readonly #files = new FileTable();
  /** What has been made of a function, for targets that differ; passes ask less of a target than emission. */
  readonly #passed = new WeakMap<Func, PassedEntry[]>();
  readonly #entries = new WeakMap<Func, MadeEntry[]>();
  readonly #forms = new WeakMap<Func, Made<readonly EntryForm[]>[]>();
  readonly #work: WorkBudget;

  /** @param work counts the code for the first target of each entry */
  constructor(targets: readonly TargetName[], work: WorkBudget) {
    this.#work = work;
    this.#modules = new Map(targets.map((target) => [target, []]));
  }

  /**
   * Adds an entry to the target's module, maybe the first or the last of its targets: nothing is kept for more after that.
   * Throws what {@linkcode passEntry} and {@linkcode emitLowered} throw.
   */
  add(
    name: TargetName,
    func: Func,
    options: EntryLowering,
    { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
  ): void {
    const target = ALL_TARGETS[name];
    const lowering = { ...options, target, files: this.#files };
    const pass = (): PassedEntry =>
      sharedBy(this.#passed, func, target, isLast, () => passEntry(func, lowering));
    const entry = sharedBy(this.#entries, func, target, isLast, () => makeEntry(pass(), lowering));
    const forms = sharedBy(this.#forms, func, target, isLast, () => makeForms(func, lowering));
    const kernels = [...entry.texts, ...forms.texts];
    if (isFirst) {
      for (const { instructions } of kernels) this.#work.add("instructions", instructions);
    }
    must(this.#modules.get(name), "a module for the target").push({
      kernels,
      entry: forms.facts.length === 0 ? entry.facts : { ...entry.facts, forms: forms.facts },
    });
  }

  modules(): CompiledModule[] {
    return [...this.#modules].map(([target, codes]) => this.#module(target, codes));
  }

  #module(target: TargetName, codes: readonly Code[]): CompiledModule {
    const kernels = codes.flatMap((code) => code.kernels);
    const texts = new Map(kernels.map(({ kernel, text, directivesOn }): [PtxKernel, string] => [
      { ...kernel, directives: directivesOn(ALL_TARGETS[target]) },
      text,
    ]));
    const { names: files } = this.#files;
    const version = Math.max(ALL_TARGETS[target].ptx, ...kernels.map((one) => one.version));
    return {
      target,
      ptx: printModule(
        {
          version,
          target,
          files,
          variables: distinctVariables(kernels.flatMap(({ globals }) => globals)),
          functions: distinct(kernels.flatMap(({ externs }) => externs)),
          kernels: [...texts.keys()],
        },
        (kernel) => must(texts.get(kernel), "code of an entry"),
      ),
      entries: codes.map(({ entry }) => entry),
    };
  }
}

/** What an earlier target got that gives the same answers, or else what is made now; of the last target nothing is kept. */
function sharedBy<M extends { readonly sameAnswers: (target: Target) => boolean }>(
  made: WeakMap<Func, M[]>,
  func: Func,
  target: Target,
  isLast: boolean,
  make: () => M,
): M {
  const known = made.get(func) ?? [];
  if (isLast) made.delete(func);
  else made.set(func, known);
  const shared = known.find(({ sameAnswers }) => sameAnswers(target));
  if (shared !== undefined) return shared;
  const own = make();
  known.push(own);
  return own;
}

function makeEntry(passed: PassedEntry, lowering: TargetLowering): MadeEntry {
  const lowered = emitLowered(passed, lowering);
  const { sameAnswers } = lowered;
  return { texts: [textOf(lowered, lowering)], facts: factsOf(lowered), sameAnswers };
}

function makeForms(func: Func, lowering: TargetLowering): Made<readonly EntryForm[]> {
  const { forms, sameAnswers } = lowerForms(func, lowering);
  return {
    texts: forms.map(({ lowered }) => textOf(lowered, lowering)),
    facts: forms.map(({ lowered, when, maps, persistent, startsLate }): EntryForm => ({
      ...factsOf(lowered),
      when,
      maps,
      ...persistent === undefined ? {} : { persistent },
      ...startsLate ? { startsLate } : {},
    })),
    sameAnswers,
  };
}

const factsOf = (
  { kernel, threads, sharedBytes }: LoweredEntry,
): Pick<CompiledEntry, "symbol" | "threads" | "sharedBytes"> => ({
  symbol: kernel.name,
  threads,
  sharedBytes,
});

function textOf(
  { kernel, globals, externs, directivesOn }: LoweredEntry,
  { watch = {} }: TargetLowering,
): KernelText {
  return {
    globals,
    externs,
    directivesOn,
    kernel: { ...kernel, registers: [], body: [] },
    text: timed(watch, "print", () => printCode(kernel)),
    instructions: kernel.body.length,
    version: neededVersion(kernel),
  };
}

/** Variables of several entries, once; a buffer is as large as any of them needs. */
function distinctVariables(declared: readonly PtxVariable[]): PtxVariable[] {
  const found = new Map<string, PtxVariable>();
  for (const variable of declared) {
    const known = found.get(variable.name);
    if (known === undefined || (variable.count ?? 1) > (known.count ?? 1)) {
      found.set(variable.name, variable);
    }
  }
  return [...found.values()];
}

/** What several entries declare, once. */
function distinct<T extends { readonly name: string }>(declared: readonly T[]): T[] {
  return [...new Map(declared.map((one) => [one.name, one])).values()];
}
