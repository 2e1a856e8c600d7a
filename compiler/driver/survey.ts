/**
 * A file as an editor looks at it: what each piece of its text is in each instance. Works on broken text too, as far
 * as the parser and the checker get.
 */
import type { InstancePlan, KernelPlan } from "../instances/instances.ts";
import { readOptions } from "../instances/kernel_options.ts";
import { DiagnosticCollector } from "./diagnostics.ts";
import type { FunctionDefinition, Unit } from "../parse/ast.ts";
import type { FrontRequest, ParsedFile, SurveyedText } from "./front/instance_front.ts";
import type { CompileOptions } from "../options.ts";
import { planFile } from "./compile_file.ts";
import { Reporter } from "../support/diagnostic.ts";
import { type SourceFile, useSite } from "../support/source.ts";
import { ALL_TARGETS } from "../targets.ts";

/** The text as one instance of a kernel sees it. */
export type View = SurveyedText;

/** A kernel, or the whole of a file that has none. */
export interface SurveyedKernel {
  /** Undefined: there is no kernel. */
  readonly plan: KernelPlan | undefined;
  /** Its definition in the first instance. */
  readonly definition: FunctionDefinition | undefined;
  /** One for each instance, computed when asked for; never empty. */
  readonly views: readonly [() => View, ...(() => View)[]];
}

export interface Survey {
  readonly file: SourceFile;
  /** Never empty. */
  readonly kernels: readonly [SurveyedKernel, ...SurveyedKernel[]];
}

/** Looks at a file, as it is for the newest of the targets that have an instance, without saying what is wrong with it. */
export function surveyFile(file: SourceFile, options: CompileOptions): Survey {
  const targets = options.targets.toReversed();
  const { front, kernels, standIns } = planFile(
    file,
    { ...options, targets },
    new DiagnosticCollector(),
    new Reporter(),
  );
  // While the head of a kernel is being typed, there is no instance, but its parameters are known.
  const requestOf = (plan?: InstancePlan): FrontRequest => ({
    defines: plan?.defines ?? standIns,
    options: plan?.options ?? readOptions([]),
    arch: ALL_TARGETS[plan?.targets[0] ?? targets[0] ?? "sm_80"],
  });
  const viewOf = (site: { readonly name: string; readonly offset: number }, plan?: InstancePlan) =>
    once((): View => front.survey(requestOf(plan), site));
  const definitions = new Map<Unit, ReadonlyMap<number, FunctionDefinition>>();
  const definitionOf = ({ unit }: ParsedFile, offset: number): FunctionDefinition | undefined => {
    const known = definitions.get(unit) ?? definitionsByOffset(unit);
    definitions.set(unit, known);
    return known.get(offset);
  };
  const surveyed = kernels.map(({ site, plan }): SurveyedKernel => {
    const [first = undefined, ...others] = plan.instances;
    const views: SurveyedKernel["views"] = [
      viewOf(site, first),
      ...others.map((instance) => viewOf(site, instance)),
    ];
    return { plan, definition: definitionOf(front.parse(requestOf(first)), site.offset), views };
  });
  const [first, ...others] = surveyed;
  const whole: SurveyedKernel = {
    plan: undefined,
    definition: undefined,
    views: [viewOf({ name: "", offset: -1 })],
  };
  return { file, kernels: first === undefined ? [whole] : [first, ...others] };
}

/**
 * The kernel that an offset of a file belongs to: the first one that the pragma there is for; elsewhere the next one that ends
 * after it, as comments precede a kernel.
 */
export function kernelAt({ file, kernels }: Survey, offset: number, of = file): SurveyedKernel {
  const isOfPragma = ({ plan }: SurveyedKernel): boolean =>
    plan?.items.some(({ item: { span } }) =>
      span.file === of && span.start <= offset && offset <= span.end
    ) ?? false;
  const isBefore = ({ definition }: SurveyedKernel): boolean =>
    definition !== undefined && definition.span.file === file && offset <= definition.span.end;
  return kernels.find(isOfPragma) ?? kernels.find(isBefore) ?? kernels.at(-1) ?? kernels[0];
}

function definitionsByOffset({ items }: Unit): ReadonlyMap<number, FunctionDefinition> {
  const found = new Map<number, FunctionDefinition>();
  for (const item of items) {
    if (item.kind !== "function" || item.declarator.name === undefined) continue;
    const { start } = useSite(item.declarator.name.span);
    if (!found.has(start)) found.set(start, item);
  }
  return found;
}

function once<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => (known ??= { value: compute() }).value;
}
