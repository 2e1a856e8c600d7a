/**
 * What the variables of one entry are while it runs. The entry is compiled once more, with someone who notes names: it
 * is the same code, and ordinary builds do without.
 */
import { NameRecorder } from "../build/names.ts";
import type { Func } from "../ir/func.ts";
import { cloneFunc, definedIn } from "../ir/walk.ts";
import { GENERAL, type Specialization } from "../instances/specialize.ts";
import type { Homes } from "../lower/homes.ts";
import { FileTable } from "../lower/source_locations.ts";
import { Unsupported } from "../lower/unsupported.ts";
import { sourceNames } from "../names/source_names.ts";
import type { SourceNames } from "../support/variables.ts";
import type { CompileOptions } from "../options.ts";
import type { PtxKernel } from "../ptx/func.ts";
import { printInstruction } from "../ptx/print.ts";
import { Reporter } from "../support/diagnostic.ts";
import type { SourceFile } from "../support/source.ts";
import { ALL_TARGETS, type TargetName } from "../targets.ts";
import { planFile } from "./compile_file.ts";
import { DiagnosticCollector } from "./diagnostics.ts";
import { entryName, readFormName } from "./entry_names.ts";
import { buildInstance, buildOptions } from "./instance_build.ts";
import { instanceTexts, targetsFrom } from "./instance_texts.ts";
import {
  lowerEntry,
  lowerRingForm,
  lowerShiftedForm,
  lowerTensorForm,
  type TargetLowering,
  withWarpsOfRows,
} from "./lower_entry.ts";
import type { PassWatch } from "./passes/run_passes.ts";

/** The variables of an entry; undefined where the text has an error or no such entry for the target. */
export function namesOf(
  file: SourceFile,
  options: CompileOptions,
  target: TargetName,
  symbol: string,
): SourceNames | undefined {
  // Builds have more entries than the options say: those that `tri tune` found.
  return namesWith(file, options, target, symbol) ??
    namesWith(file, { ...options, configurations: "all" }, target, symbol);
}

function namesWith(
  file: SourceFile,
  options: CompileOptions,
  target: TargetName,
  symbol: string,
): SourceNames | undefined {
  const { entry: wanted, form } = readFormName(symbol);
  const { front, kernels } = planFile(file, options, new DiagnosticCollector(), new Reporter());
  for (const { plan, site } of kernels) {
    for (const instance of plan.instances) {
      const { first } = entryName(plan, instance, GENERAL);
      const { suffix } = instance.configuration;
      if (!wanted.startsWith(first) || !wanted.endsWith(suffix)) continue;
      const noted = new Noted();
      const texts = instanceTexts(front, site, instance, targetsFrom(target, instance));
      const building = {
        ...buildOptions(options, instance, (specialization) => noted.watch(specialization)),
        namesOf: (specialization: Specialization) => noted.recorderOf(specialization),
      };
      const built = buildInstance(texts, plan, instance, building, new Reporter());
      const found = built?.funcs.find(({ specialization }) =>
        entryName(plan, instance, specialization).symbol === wanted
      );
      if (found === undefined) continue;
      return lowerNamed(found.func, noted.partsOf(found.specialization), {
        ...found.entry,
        ...{ target: ALL_TARGETS[target], symbol, debug: options.debug === true, form },
      });
    }
  }
  return undefined;
}

/** What is noted while functions are built. */
interface Parts {
  readonly recorder: NameRecorder;
  /** The function before all passes. */
  built: Func | undefined;
}

class Noted {
  readonly #parts = new Map<Specialization, Parts>();

  partsOf(specialization: Specialization): Parts {
    let parts = this.#parts.get(specialization);
    if (parts === undefined) {
      parts = { recorder: new NameRecorder(), built: undefined };
      this.#parts.set(specialization, parts);
    }
    return parts;
  }

  recorderOf(specialization: Specialization): NameRecorder {
    return this.partsOf(specialization).recorder;
  }

  /** Keeps the function as it is built, whose values are those that others equal. */
  watch(specialization: Specialization): PassWatch {
    return {
      after: (step, _milliseconds, func): void => {
        if (step !== "build" || func === undefined) return;
        this.partsOf(specialization).built = cloneFunc(func);
        for (const value of [...func.params, ...definedIn(func.body)]) value.sources = [value.id];
      },
    };
  }
}

function lowerNamed(
  func: Func,
  { recorder, built }: Parts,
  entry: Omit<TargetLowering, "files">,
): SourceNames | undefined {
  let homes: Homes | undefined;
  const lowering = {
    ...entry,
    files: new FileTable(),
    onHomes: (found: Homes): void => {
      homes = found;
    },
  };
  const kernel = kernelOf(func, lowering);
  if (built === undefined || kernel === undefined || homes === undefined) return undefined;
  const instructions = kernel.body.flatMap((item) =>
    item.kind === "instruction" ? [printInstruction(item)] : []
  );
  return sourceNames({ built, recorder, homes, instructions });
}

/** The entry's code; undefined where the target has no room for it. */
function kernelOf(func: Func, lowering: TargetLowering): PtxKernel | undefined {
  if (lowering.form === "ring") return lowerRingForm(func, lowering).form?.lowered.kernel;
  if (lowering.form === "shifted") {
    return lowerShiftedForm(func, lowering).form?.lowered.kernel;
  }
  if (lowering.form !== "plain") {
    const otherwise = withWarpsOfRows(func, lowering);
    const form = lowerTensorForm(func, lowering).form ??
      (otherwise && lowerTensorForm(func, otherwise).form);
    return form?.lowered.kernel;
  }
  try {
    return lowerEntry(func, lowering).kernel;
  } catch (error) {
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}
