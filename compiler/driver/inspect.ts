/** One stage of the compiler as text, for people: `tri inspect`. */
import { buildInstance, checkInstance, passOptions } from "./instance_build.ts";
import { DiagnosticCollector } from "./diagnostics.ts";
import { dumpAst } from "../parse/dump_ast.ts";
import { dumpTyped } from "../check/dump_typed.ts";
import { printTokens } from "../preprocess/spell.ts";
import { printFunc } from "../ir/print.ts";
import type { ParsedFile } from "./instance_front.ts";
import { lowerFunc } from "../lower/mod.ts";
import type { CompileOptions } from "../options.ts";
import { compileFile, planFile } from "./pipeline.ts";
import { Reporter } from "../support/diagnostic.ts";
import type { SourceFile } from "../support/source.ts";
import { TARGETS } from "../targets.ts";
import { Unsupporteds } from "./unsupported.ts";

/** The stages there are to look at. */
export type Stage = "tokens" | "ast" | "types" | "ir" | "layout" | "ptx";

/** Which instance to show; the first one that matches. */
export interface Selection {
  /** Name of a kernel. */
  readonly kernel?: string;
  /** Name of a variant. */
  readonly variant?: string;
}

/**
 * The text of a stage for one instance and the first target of the options. Of a faulty file, what the stage
 * could make of it; empty when that is nothing. {@linkcode compileFile} says what is wrong.
 */
export function inspect(
  file: SourceFile,
  options: CompileOptions,
  stage: Stage,
  selection: Selection = {},
): string {
  const { kernel: wanted, variant } = selection;
  const scope = wanted === undefined ? options : { ...options, kernels: [wanted] };
  if (stage === "ptx") return inspectPtx(file, scope);
  const { front, parsed, kernels } = planFile(
    file,
    scope,
    new DiagnosticCollector(),
    new Reporter(),
  );
  const target = TARGETS[options.targets[0] ?? "sm_80"];
  for (const { site, plan } of kernels) {
    const instance = plan.instances.find((candidate) =>
      variant === undefined || candidate.variant.name === variant
    );
    if (instance === undefined) continue;
    const checked = checkInstance(front, site, instance, target.sm);
    if (stage === "tokens" || stage === "ast") return inspectText(checked.parsed, stage);
    if (stage === "types") {
      return checked.kernel === undefined ? "" : dumpTyped({ kernels: [checked.kernel] });
    }
    const built = buildInstance(
      checked,
      plan,
      instance,
      passOptions(options, instance),
      new Reporter(),
    );
    const funcs = built?.funcs ?? [];
    return funcs.map(({ func, specialization }) => {
      const title = specialization.conditions.map(({ text }) => `// where ${text}\n`).join("");
      if (stage === "ir") return title + printFunc(func);
      let laidOut = "";
      const { numWarps, numStages, maxRegisters, floats } = instance.options;
      new Unsupporteds().attempt(target.name, () =>
        lowerFunc(func, {
          target,
          numWarps,
          numStages,
          floats,
          maxRegisters,
          symbol: func.name,
          onLayout: (result) => laidOut = printFunc(result),
        }));
      return title + laidOut;
    }).join("\n");
  }
  const isWhole = wanted === undefined && variant === undefined;
  return isWhole && (stage === "tokens" || stage === "ast") ? inspectText(parsed, stage) : "";
}

function inspectText({ preprocessed, unit }: ParsedFile, stage: "tokens" | "ast"): string {
  return stage === "tokens" ? printTokens(preprocessed.tokens) : dumpAst(unit);
}

function inspectPtx(file: SourceFile, options: CompileOptions): string {
  const { kernels } = compileFile(file, { ...options, targets: options.targets.slice(0, 1) });
  return kernels.flatMap(({ modules }) => modules.map(({ ptx }) => ptx)).join("\n");
}
