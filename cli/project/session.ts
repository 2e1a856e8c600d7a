/** What `build`, `check` and `inspect` do first: find the project and its sources, settle the options. */
import type { Measured } from "../../codegen/mod.ts";
import type { CompileOptions } from "../../compiler/options.ts";
import type { Diagnostic } from "../../compiler/support/diagnostic.ts";
import { didYouMean } from "../words/did_you_mean.ts";
import { compileOptionsFor } from "./compile_options.ts";
import { usageError } from "../failure.ts";
import type { Invocation } from "../command.ts";
import { withoutGlobs } from "../files/walk.ts";
import { findSources, openProject, type Project, settingsOf, type Source } from "./project.ts";
import { type ExportNames, exportsOfCommandLine } from "./export_names.ts";
import { selectTargets } from "./targets.ts";
import { type Tuning, tuningOf } from "../tune/tuned.ts";

/** A project with the sources that a command line names. */
export interface Session {
  readonly project: Project;
  readonly all: readonly Source[];
  /**
   * Those that can be compiled: no mistake lies in the file itself. None where deno.json is wrong, because they may be
   * wrong only without it.
   */
  readonly sources: readonly Source[];
  readonly optionsFor: (source: Source) => CompileOptions;
  /** The names that the user chose for what a source's wrapper exports. */
  readonly exportsFor: (source: Source) => ExportNames;
  /** What tuning measured of a source's kernels. */
  readonly measuredFor: (source: Source) => readonly Measured[];
}

/** The files and folders that a command works on. */
export function operandsOf(invocation: Invocation): readonly string[] {
  return invocation.operands.length === 0 ? ["."] : withoutGlobs(invocation.operands);
}

/** Throws a {@linkcode Failure} for what the command line has wrong. */
export async function openSession(
  invocation: Invocation,
  operands: readonly string[] = operandsOf(invocation),
): Promise<Session> {
  const project = openProject(operands[0] ?? ".");
  const all = findSources(project, operands, invocation.text("out") ?? "generated");
  const chosen = exportsOfCommandLine(invocation.list("export"));
  const targets = await selectTargets(invocation.list("arch"));
  const which = invocation.text("configs") ?? "first";
  // Read once, so that what is compiled is what the record of the build says.
  const tunings = new Map<Source, Tuning>();
  const tuningFor = (source: Source): Tuning => {
    const tuning = tunings.get(source) ?? tuningOf(source.path, which);
    tunings.set(source, tuning);
    return tuning;
  };
  return {
    project,
    all,
    sources: sound(all, project.reporter.diagnostics),
    optionsFor: (source) => {
      const { configurations } = tuningFor(source);
      return {
        ...compileOptionsFor(invocation, settingsOf(project, source), targets),
        ...(configurations === undefined ? {} : { configurations }),
      };
    },
    exportsFor: (source) => ({
      ...Object.fromEntries(
        settingsOf(project, source).flatMap(({ exports }) => exports).map((
          { kernel, name },
        ) => [kernel, name]),
      ),
      ...chosen,
    }),
    measuredFor: (source) => tuningFor(source).measured,
  };
}

function sound(sources: readonly Source[], mistakes: readonly Diagnostic[]): readonly Source[] {
  const broken = new Set(mistakes.map(({ span }) => span.file));
  const good = sources.filter(({ file }) => !broken.has(file));
  return good.length + broken.size > sources.length ? [] : good;
}

/** Refuses a `--kernel` or `--export` that no source has; of sources without errors all kernels are known. */
export function checkKernelNames(
  invocation: Invocation,
  known: readonly string[],
): void {
  const asked = [
    ...invocation.list("kernel").map((name) => ({ option: "--kernel", name })),
    ...Object.keys(exportsOfCommandLine(invocation.list("export")))
      .map((name) => ({ option: "--export", name })),
  ];
  const unknown = asked.find(({ name }) => !known.includes(name));
  if (unknown === undefined) return;
  throw usageError(
    `${unknown.option} ${unknown.name}: there is no such kernel`,
    didYouMean(unknown.name, known) ?? `Kernels here: ${known.join(", ") || "none"}.`,
  );
}

/** Whether there is an error among them. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === "error");
}
