/**
 * The back end for one kernel: its functions for every target. Targets that lowering does not distinguish get the
 * code that was made for the first of them; only directives, version and target of the module are their own.
 */
import type { Func } from "../ir/func.ts";
import { FileTable } from "../lower/places.ts";
import type { CompiledEntry, CompiledModule } from "../options.ts";
import type { PtxDirective, PtxFunction, PtxKernel, PtxVariable } from "../ptx/func.ts";
import { printCode, printModule } from "../ptx/print.ts";
import { neededVersion } from "../ptx/version.ts";
import { type EntryLowering, lowerEntry, type TargetLowering } from "./lower_entry.ts";
import { timed } from "./run_passes.ts";
import { must } from "../support/bug.ts";
import type { WorkBudget } from "./work_budget.ts";
import { type Target, type TargetName, TARGETS } from "../targets.ts";

/** The code of an entry as text: instructions of all instances as data would fill the memory. */
interface Code {
  /** Without its code. */
  readonly kernel: PtxKernel;
  readonly text: string;
  readonly instructions: number;
  /** PTX version that it needs. */
  readonly version: number;
  readonly entry: CompiledEntry;
  /** Variables and functions of the module that it uses. */
  readonly globals: readonly PtxVariable[];
  readonly externs: readonly PtxFunction[];
  readonly agrees: (target: Target) => boolean;
  readonly directivesOn: (target: Target) => readonly PtxDirective[];
}

export class BackEnd {
  readonly #modules: ReadonlyMap<TargetName, Code[]>;
  readonly #files = new FileTable();
  /** What has been made of a function, for targets that differ. */
  readonly #known = new WeakMap<Func, Code[]>();

  readonly #first: TargetName | undefined;
  readonly #work: WorkBudget;

  /** @param work counts the code for the first target */
  constructor(targets: readonly TargetName[], work: WorkBudget) {
    this.#first = targets[0];
    this.#work = work;
    this.#modules = new Map(targets.map((target) => [target, []]));
  }

  /** Adds an entry to the target's module. Throws what {@linkcode lowerEntry} throws. */
  add(name: TargetName, func: Func, options: EntryLowering): void {
    const target = TARGETS[name];
    const known = this.#known.get(func) ?? [];
    let code = known.find(({ agrees }) => agrees(target));
    if (code === undefined) {
      code = codeOf(func, { ...options, target, files: this.#files });
      this.#known.set(func, [...known, code]);
      if (name === this.#first) this.#work.add("instructions", code.instructions);
    }
    must(this.#modules.get(name), "a module for the target").push(code);
  }

  modules(): CompiledModule[] {
    return [...this.#modules].map(([target, codes]) => this.#module(target, codes));
  }

  #module(target: TargetName, codes: readonly Code[]): CompiledModule {
    const texts = new Map(codes.map(({ kernel, text, directivesOn }): [PtxKernel, string] => [
      { ...kernel, directives: directivesOn(TARGETS[target]) },
      text,
    ]));
    const { names: files } = this.#files;
    const version = Math.max(TARGETS[target].ptx, ...codes.map((code) => code.version));
    const kernels = [...texts.keys()];
    return {
      target,
      ptx: printModule(
        {
          version,
          target,
          files,
          variables: distinctVariables(codes.flatMap(({ globals }) => globals)),
          functions: distinct(codes.flatMap(({ externs }) => externs)),
          kernels,
        },
        (kernel) => must(texts.get(kernel), "code of an entry"),
      ),
      entries: codes.map(({ entry }) => entry),
    };
  }
}

function codeOf(func: Func, lowering: TargetLowering): Code {
  const { kernel, threads, sharedBytes, func: _func, ...rest } = lowerEntry(func, lowering);
  return {
    ...rest,
    kernel: { ...kernel, registers: [], body: [] },
    text: timed(lowering.watch ?? {}, "print", () => printCode(kernel)),
    instructions: kernel.body.length,
    version: neededVersion(kernel),
    entry: { symbol: kernel.name, threads, sharedBytes },
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
