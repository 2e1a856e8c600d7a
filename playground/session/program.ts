/** A program as the page has it: texts, and which of its instances is looked at; as the compiler takes it. */
import type { CompileOptions, Define, IncludeResolver } from "../../compiler/options.ts";
import type { SourceFile } from "../../compiler/support/source.ts";
import { ALL_TARGETS, type TargetName } from "../../compiler/targets.ts";

/** What is edited and what is chosen. Plain data: it is sent to the worker. */
export interface Program {
  /** Name and text of the file that is edited. */
  readonly name: string;
  readonly text: string;
  /** Texts of files that may be included, by name. */
  readonly includes: Readonly<Record<string, string>>;
  /** As `--arch` names it. */
  readonly target: string;
  /** The kernel; the first one when absent. */
  readonly kernel?: string;
  /** Values of parameters of variants, by name. */
  readonly variant: Readonly<Record<string, string>>;
  /** A configuration as `#pragma tri config` would spell it; each entry's first one when absent. */
  readonly config?: string;
}

/** The target of a program; the newest one that we ship kernels for where its name is none. */
export function targetOf({ target }: Program): TargetName {
  return isTarget(target) ? target : "sm_90a";
}

function isTarget(name: string): name is TargetName {
  return Object.hasOwn(ALL_TARGETS, name);
}

/** A program and its options for the compiler. */
export interface Prepared {
  readonly file: SourceFile;
  readonly options: CompileOptions;
}

/** The program for the compiler; all instances, or those that are chosen. */
export function prepare(program: Program, which: "all" | "chosen"): Prepared {
  const file = { name: program.name, text: program.text };
  const options: CompileOptions = {
    targets: [targetOf(program)],
    include: resolverOf(program.includes),
  };
  if (which === "all") return { file, options };
  const { kernel, config } = program;
  return {
    file,
    options: {
      ...options,
      defines: definesOf(program.variant),
      // What the page chooses overrides what pragmas say: that is no news.
      suppress: ["W9001"],
      ...(kernel === undefined ? {} : { kernels: [kernel] }),
      ...(config === undefined ? {} : { configurations: { only: config } }),
    },
  };
}

function definesOf(variant: Program["variant"]): Define[] {
  return Object.entries(variant).map(([name, value]) => ({ name, value }));
}

/** Each file keeps one identity, as spans compare it. */
function resolverOf(includes: Program["includes"]): IncludeResolver {
  const files = new Map(
    Object.entries(includes).map(([name, text]): [string, SourceFile] => [name, { name, text }]),
  );
  return (name) => files.get(name);
}
