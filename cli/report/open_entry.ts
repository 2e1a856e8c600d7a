/** An entry of a file in the forms that it takes: typed tree, tile IR before and after layouts. */
import { buildInstance, buildOptions } from "../../compiler/driver/instance_build.ts";
import { instanceTexts, targetsFrom } from "../../compiler/driver/instance_texts.ts";
import { planFile } from "../../compiler/driver/compile_file.ts";
import { DiagnosticCollector } from "../../compiler/driver/diagnostics.ts";
import { entryName } from "../../compiler/driver/entry_names.ts";
import type { CheckedKernel } from "../../compiler/driver/front/instance_front.ts";
import { lowerEntry } from "../../compiler/driver/lower_entry.ts";
import type { Func } from "../../compiler/ir/func.ts";
import { Unsupported } from "../../compiler/lower/unsupported.ts";
import { Reporter } from "../../compiler/support/diagnostic.ts";
import type { CompileOptions } from "../../compiler/options.ts";
import type { SourceFile } from "../../compiler/support/source.ts";
import { ALL_TARGETS, type TargetName } from "../../compiler/targets.ts";

/** An entry of the file. */
export interface OpenedEntry {
  /** Its name in the module. */
  readonly symbol: string;
  readonly checked: CheckedKernel;
  /** After the passes that all targets share. */
  readonly func: Func;
  /** With layouts, ready for lowering; undefined where the target has no room for it. */
  readonly laidOut: () => Func | undefined;
}

/** The entry of this name, or the first one; undefined where the text has an error. */
export function openEntry(
  file: SourceFile,
  options: CompileOptions,
  targetName: TargetName,
  symbol: string,
): OpenedEntry | undefined {
  const target = ALL_TARGETS[targetName];
  const { front, kernels } = planFile(file, options, new DiagnosticCollector(), new Reporter());
  const [first] = kernels;
  if (first === undefined) return undefined;
  let found: OpenedEntry | undefined;
  for (const plan of first.plan.instances) {
    const texts = instanceTexts(front, first.site, plan, targetsFrom(targetName, plan));
    const [{ value: checked }] = texts;
    const building = buildOptions(options, plan);
    const built = buildInstance(texts, first.plan, plan, building, new Reporter());
    for (const { func, specialization, entry } of built?.funcs ?? []) {
      const name = entryName(first.plan, plan, specialization).symbol;
      const lowering = { ...entry, target, symbol: name };
      const opened: OpenedEntry = {
        symbol: name,
        checked,
        func,
        laidOut: () => laidOutOf(func, lowering),
      };
      if (name === symbol) return opened;
      found ??= opened;
    }
  }
  return found;
}

function laidOutOf(func: Func, lowering: Parameters<typeof lowerEntry>[1]): Func | undefined {
  try {
    return lowerEntry(func, lowering).func;
  } catch (error) {
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}
