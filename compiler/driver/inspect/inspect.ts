/** One phase of the compiler as text, for people: `tri inspect`. */
import type { StatedOptions } from "../entry_options.ts";
import { buildInstance, type BuildOptions, buildOptions } from "../instance_build.ts";
import { instanceTexts } from "../instance_texts.ts";
import { DiagnosticCollector } from "../diagnostics.ts";
import { dumpAst } from "../../parse/dump_ast.ts";
import { dumpTyped } from "../../check/tree/dump_typed.ts";
import { printTokens } from "../../preprocess/spell.ts";
import { FuncDumps } from "./func_dumps.ts";
import { printHeader } from "./ir_text.ts";
import { lowerEntry, lowerForms, runTargetPasses } from "../lower_entry.ts";
import { entryPlan, printPlans } from "../entry_plan.ts";
import { entryName } from "../entry_names.ts";
import { loadOnce } from "../../views/repeated_loads.ts";
import { decideLoads, readyLoops } from "../../views/tensor_views.ts";
import { lastStepOf, TILE_STEPS } from "../passes/passes.ts";
import type { PassWatch } from "../passes/run_passes.ts";
import { cloneFunc } from "../../ir/walk.ts";
import { findViews } from "../../views/find_views.ts";
import { printViews } from "../../views/print_views.ts";
import { axisAnalysis } from "../../tile/axis.ts";
import type { Specialization } from "../../instances/specialize.ts";
import type { OfTexts } from "../../contract/unite.ts";
import type { CheckedKernel, InstanceFront, ParsedFile } from "../front/instance_front.ts";
import type { KernelSite } from "../../instances/items.ts";
import type { InstancePlan, KernelPlan } from "../../instances/instances.ts";
import type { CompileOptions } from "../../options.ts";
import { compileFile, planFile } from "../compile_file.ts";
import { Reporter } from "../../support/diagnostic.ts";
import type { SourceFile } from "../../support/source.ts";
import { ALL_TARGETS, type Target, type TargetName } from "../../targets.ts";

/** The phases there are to look at. */
export type Phase = "tokens" | "ast" | "types" | "ir" | "views" | "plan" | "layout" | "ptx";

/** Which instance to show; the first one that matches. */
export interface Selection {
  /** Name of a kernel. */
  readonly kernel?: string;
  /** Name of a variant. */
  readonly variant?: string;
  /** A pass: the function after it, instead of a phase; `*`: after every pass. */
  readonly after?: string;
}

/**
 * The text of a phase for one instance and the first target of the options. Of a faulty file, what the phase
 * could make of it; empty when that is nothing. {@linkcode compileFile} says what is wrong.
 */
export function inspect(
  file: SourceFile,
  options: CompileOptions,
  phase: Phase,
  selection: Selection = {},
): string {
  const { kernel: wanted, variant, after } = selection;
  const only = { ...options, targets: options.targets.slice(0, 1) };
  const scope = wanted === undefined ? only : { ...only, kernels: [wanted] };
  if (phase === "ptx" && after === undefined) return inspectPtx(file, scope);
  const { front, parsed, kernels } = planFile(
    file,
    scope,
    new DiagnosticCollector(),
    new Reporter(),
  );
  const { targets: [targetName = "sm_80"] } = options;
  const target = ALL_TARGETS[targetName];
  for (const { site, plan } of kernels) {
    const instance = plan.instances.find((candidate) =>
      variant === undefined || candidate.variant.name === variant
    );
    if (instance === undefined) continue;
    const texts = instanceTexts(front, site, instance, [targetName]);
    const [{ value: checked }] = texts;
    if (after !== undefined) {
      return inspectPasses(texts, plan, instance, options, target, after);
    }
    switch (phase) {
      case "views":
      case "plan":
        return plan.instances.filter(({ variant }) => variant.name === instance.variant.name)
          .map((one) => inspectLoads(front, site, plan, one, options, targetName, phase)).join(
            "\n",
          );
      case "tokens":
      case "ast":
        return inspectText(checked.parsed, phase);
      case "types":
        return checked.kernel === undefined ? "" : dumpTyped({ kernels: [checked.kernel] });
      case "ir":
        return inspectPasses(texts, plan, instance, options, target, lastStepOf("tile"));
      case "layout":
        return inspectPasses(texts, plan, instance, options, target, lastStepOf("schedule"));
    }
  }
  const isWhole = wanted === undefined && variant === undefined;
  return isWhole && (phase === "tokens" || phase === "ast") ? inspectText(parsed, phase) : "";
}

function inspectText({ preprocessed, unit }: ParsedFile, phase: "tokens" | "ast"): string {
  return phase === "tokens" ? printTokens(preprocessed.tokens) : dumpAst(unit);
}

function inspectPtx(file: SourceFile, options: CompileOptions): string {
  const { kernels } = compileFile(file, options);
  return kernels.flatMap(({ modules }) => modules.map(({ ptx }) => ptx)).join("\n");
}

/** The loads of dot operands of an instance, for each specialisation: their views, or what the passes make of them. */
function inspectLoads(
  front: InstanceFront,
  site: KernelSite,
  plan: KernelPlan,
  instance: InstancePlan,
  options: CompileOptions,
  targetName: TargetName,
  phase: "views" | "plan",
): string {
  const texts = instanceTexts(front, site, instance, [targetName]);
  const target = ALL_TARGETS[targetName];
  const building = buildOptions(options, instance);
  const built = buildInstance(texts, plan, instance, building, new Reporter());
  return (built?.funcs ?? []).map(({ func, specialization, entry }) => {
    // As the form with tensor copies begins.
    const viewed = cloneFunc(func);
    loadOnce(viewed);
    readyLoops(viewed);
    const viewing = { target, numWarps: entry.numWarps, axisInfo: axisAnalysis(viewed) };
    if (phase === "plan") {
      const { symbol } = entryName(plan, instance, specialization);
      const lowering = { ...entry, target, symbol };
      const { forms, numWarps } = lowerForms(func, lowering);
      const lowered = [...forms.map((form) => form.lowered), lowerEntry(func, lowering)];
      const loads = decideLoads(viewed, { ...viewing, numWarps });
      return `${symbol}\n${printPlans(lowered.map(entryPlan), loads)}`;
    }
    const loads = findViews(viewed, viewing);
    const name = `${func.name}${specialization.suffix}`;
    return `${name}\n${loads.length === 0 ? "no loads of dot operands\n" : printViews(loads)}`;
  }).join("\n");
}

/** The functions of an instance after a step, one for each specialisation. */
function inspectPasses(
  texts: OfTexts<CheckedKernel>,
  plan: KernelPlan,
  instance: InstancePlan,
  options: CompileOptions,
  target: Target,
  after: string,
): string {
  const { verify = false } = options;
  const dumps = new Map<string, FuncDumps>();
  const dumpsOf = ({ suffix }: Specialization): FuncDumps => {
    const known = dumps.get(suffix) ?? new FuncDumps(after);
    dumps.set(suffix, known);
    return known;
  };
  const watchFor = (
    specialization: Specialization,
    entry: StatedOptions,
    target?: Target,
  ): PassWatch => ({
    verify,
    after: dumpsOf(specialization).watch((step) => printHeader({ after: step, target, entry })),
  });
  const building: BuildOptions = buildOptions(
    options,
    instance,
    (specialization) => watchFor(specialization, building.entry),
  );
  const built = buildInstance(texts, plan, instance, building, new Reporter());
  const isTile = TILE_STEPS.some(({ name }) => name === after);
  return (built?.funcs ?? []).map(({ func, specialization, entry }) => {
    if (!isTile) {
      const watch = watchFor(specialization, entry, target);
      runTargetPasses(func, { ...entry, symbol: func.name, target, watch });
    }
    return dumpsOf(specialization)
      .text(specialization.conditions.map(({ text }) => `// where ${text}\n`).join(""));
  }).join("\n");
}
