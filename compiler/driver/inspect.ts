/** One stage of the compiler as text, for people: `tri inspect`. */
import { buildInstance, buildOptions, checkInstance, entryOptions } from "./instance_build.ts";
import { DiagnosticCollector } from "./diagnostics.ts";
import { dumpAst } from "../parse/dump_ast.ts";
import { dumpTyped } from "../check/dump_typed.ts";
import { printTokens } from "../preprocess/spell.ts";
import { FuncDumps } from "./func_dumps.ts";
import { printHeader } from "./ir_text.ts";
import { runTargetPasses } from "./lower_entry.ts";
import { lastStepOf, TILE_STEPS } from "./passes.ts";
import type { PassWatch } from "./run_passes.ts";
import type { Specialization } from "../instances/specialize.ts";
import type { CheckedKernel, ParsedFile } from "./instance_front.ts";
import type { InstancePlan, KernelPlan } from "../instances/instances.ts";
import type { CompileOptions } from "../options.ts";
import { compileFile, planFile } from "./pipeline.ts";
import { Reporter } from "../support/diagnostic.ts";
import type { SourceFile } from "../support/source.ts";
import { type Target, TARGETS } from "../targets.ts";

/** The stages there are to look at. */
export type Stage = "tokens" | "ast" | "types" | "ir" | "layout" | "ptx";

/** Which instance to show; the first one that matches. */
export interface Selection {
  /** Name of a kernel. */
  readonly kernel?: string;
  /** Name of a variant. */
  readonly variant?: string;
  /** A pass: the function after it, instead of a stage; `*`: after every pass. */
  readonly after?: string;
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
  const { kernel: wanted, variant, after } = selection;
  const scope = wanted === undefined ? options : { ...options, kernels: [wanted] };
  if (stage === "ptx" && after === undefined) return inspectPtx(file, scope);
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
    if (after !== undefined) {
      return inspectPasses(checked, plan, instance, options, target, after);
    }
    switch (stage) {
      case "tokens":
      case "ast":
        return inspectText(checked.parsed, stage);
      case "types":
        return checked.kernel === undefined ? "" : dumpTyped({ kernels: [checked.kernel] });
      case "ir":
        return inspectPasses(checked, plan, instance, options, target, lastStepOf("tile"));
      case "layout":
        return inspectPasses(checked, plan, instance, options, target, lastStepOf("schedule"));
    }
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

/** The functions of an instance after a step, one for each specialisation. */
function inspectPasses(
  checked: CheckedKernel,
  plan: KernelPlan,
  instance: InstancePlan,
  options: CompileOptions,
  target: Target,
  after: string,
): string {
  const { verify = false } = options;
  const entry = entryOptions(instance);
  const dumps = new Map<string, FuncDumps>();
  const dumpsOf = ({ suffix }: Specialization): FuncDumps => {
    const known = dumps.get(suffix) ?? new FuncDumps(after);
    dumps.set(suffix, known);
    return known;
  };
  const watchFor = (specialization: Specialization, target?: Target): PassWatch => ({
    verify,
    after: dumpsOf(specialization).watch((step) => printHeader({ after: step, target, entry })),
  });
  const building = buildOptions(options, instance, watchFor);
  const built = buildInstance(checked, plan, instance, building, new Reporter());
  const isTile = TILE_STEPS.some(({ name }) => name === after);
  return (built?.funcs ?? []).map(({ func, specialization }) => {
    if (!isTile) {
      const watch = watchFor(specialization, target);
      runTargetPasses(func, { ...entry, symbol: func.name, target, watch });
    }
    return dumpsOf(specialization)
      .text(specialization.conditions.map(({ text }) => `// where ${text}\n`).join(""));
  }).join("\n");
}
