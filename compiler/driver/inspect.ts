/** One stage of the compiler as text, for people: `tri inspect`. */
import { buildInstance, buildOptions, checkInstance, entryOptions } from "./instance_build.ts";
import { DiagnosticCollector } from "./diagnostics.ts";
import { dumpAst } from "../parse/dump_ast.ts";
import { dumpTyped } from "../check/dump_typed.ts";
import { printTokens } from "../preprocess/spell.ts";
import { FuncDumps } from "./func_dumps.ts";
import type { CheckedKernel, ParsedFile } from "./instance_front.ts";
import { lowerFunc } from "../lower/mod.ts";
import type { InstancePlan, KernelPlan } from "../instances/instances.ts";
import type { CompileOptions } from "../options.ts";
import { compileFile, planFile } from "./pipeline.ts";
import { must } from "../support/bug.ts";
import { Reporter } from "../support/diagnostic.ts";
import type { SourceFile } from "../support/source.ts";
import { type TargetName, TARGETS } from "../targets.ts";
import { Unsupporteds } from "./unsupported.ts";

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
      return inspectPasses(checked, plan, instance, options, target.name, after);
    }
    switch (stage) {
      case "tokens":
      case "ast":
        return inspectText(checked.parsed, stage);
      case "types":
        return checked.kernel === undefined ? "" : dumpTyped({ kernels: [checked.kernel] });
      case "ir":
        return inspectPasses(checked, plan, instance, options, target.name, "drop-dead");
      case "layout":
        return inspectPasses(checked, plan, instance, options, target.name, "order-memory");
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
  targetName: TargetName,
  after: string,
): string {
  const { verify = false } = options;
  const target = TARGETS[targetName];
  const entry = entryOptions(instance);
  const dumps = new Map<string, FuncDumps>();
  const building = buildOptions(options, instance, ({ suffix }) => {
    const known = dumps.get(suffix) ?? new FuncDumps(after);
    dumps.set(suffix, known);
    return known.watch({ target: undefined, entry }, verify);
  });
  const built = buildInstance(checked, plan, instance, building, new Reporter());
  return (built?.funcs ?? []).map(({ func, specialization: { suffix, conditions } }) => {
    const known = must(dumps.get(suffix), "dumps of a specialisation");
    new Unsupporteds().attempt(target.name, () =>
      lowerFunc(func, {
        target,
        ...entry,
        symbol: func.name,
        onLayout: (laidOut) => known.add("order-memory", laidOut, { target: target.name, entry }),
      }));
    return known.text(conditions.map(({ text }) => `// where ${text}\n`).join(""));
  }).join("\n");
}
