/** The texts of an instance: conditional text and macros may differ from target to target. */
import { type Declared, readDeclared } from "../contract/declared.ts";
import { type KernelParams, kernelParams } from "../contract/kernel_params.ts";
import { haveSameParams, type OfTexts, uniteDeclared } from "../contract/unite.ts";
import type { TypedKernel } from "../check/tree/typed.ts";
import type { SourcedItem } from "../pragma/pragma.ts";
import type { InstancePlan } from "../instances/instances.ts";
import type { KernelSite } from "../instances/items.ts";
import type { MacroTable } from "../preprocess/preprocess.ts";
import type { TargetFacts } from "../preprocess/predefined.ts";
import type { Reporter } from "../support/diagnostic.ts";
import { ALL_TARGETS, type TargetName } from "../targets.ts";
import type { CheckedKernel, InstanceFront } from "./front/instance_front.ts";

/** What one target takes. */
export type InstanceText = OfTexts<CheckedKernel>[0];

/** The typed kernel of an instance for one architecture. */
export function checkInstance(
  front: InstanceFront,
  site: KernelSite,
  plan: InstancePlan,
  arch: TargetFacts,
): CheckedKernel {
  return front.check({ defines: plan.defines, options: plan.options, arch }, site);
}

/** The different texts that the targets take, that of the first target first. */
export function instanceTexts(
  front: InstanceFront,
  site: KernelSite,
  plan: InstancePlan,
  [first, ...others]: readonly [TargetName, ...TargetName[]],
): OfTexts<CheckedKernel> {
  const textOf = (target: TargetName): InstanceText => ({
    target,
    value: checkInstance(front, site, plan, ALL_TARGETS[target]),
  });
  const texts: [InstanceText, ...InstanceText[]] = [textOf(first)];
  for (const target of others) {
    if (front.work.isSpent) break;
    const text = textOf(target);
    if (texts.every(({ value }) => value.parsed !== text.value.parsed)) texts.push(text);
  }
  return texts;
}

/** For looking at one target: its text, then those of the other targets that share its entries. */
export function targetsFrom(
  target: TargetName,
  { targets }: InstancePlan,
): readonly [TargetName, ...TargetName[]] {
  return [target, ...targets.filter((one) => one !== target)];
}

/** What the texts have in common before code is built. */
export interface ReadTexts {
  readonly params: KernelParams;
  readonly declared: Declared;
  /** The different kernels, that of the first text first. */
  readonly kernels: OfTexts<TypedKernel>;
}

/** Texts with mistakes count for nothing, unless it is the first one: then there is no instance. */
export function readTexts(
  [first, ...others]: OfTexts<CheckedKernel>,
  items: readonly SourcedItem[],
  reporter: Reporter,
): ReadTexts | undefined {
  const main = whole(first);
  if (main === undefined) return undefined;
  const texts: [WholeText, ...WholeText[]] = [main, ...others.flatMap((text) => whole(text) ?? [])];
  const params = mapTexts(texts, ({ kernel }) => kernelParams(kernel));
  if (!haveSameParams(params, reporter)) return undefined;
  const [{ value: own }] = params;
  const declared = mapTexts(texts, ({ macros }) => readDeclared(items, own, macros, reporter));
  return {
    params: own,
    declared: uniteDeclared(declared, reporter),
    kernels: differentKernels(texts),
  };
}

type WholeText = OfTexts<{ readonly kernel: TypedKernel; readonly macros: MacroTable }>[0];

function whole({ value: { kernel, parsed }, target }: InstanceText): WholeText | undefined {
  const { macros } = parsed.preprocessed;
  return kernel === undefined ? undefined : { value: { kernel, macros }, target };
}

function differentKernels([first, ...others]: OfTexts<WholeText["value"]>): OfTexts<TypedKernel> {
  const found: [OfTexts<TypedKernel>[0], ...OfTexts<TypedKernel>[0][]] = [kernelOf(first)];
  for (const text of others.map(kernelOf)) {
    if (found.every(({ value }) => value !== text.value)) found.push(text);
  }
  return found;
}

const kernelOf = ({ value: { kernel }, target }: WholeText): OfTexts<TypedKernel>[0] => ({
  value: kernel,
  target,
});

/** The same for each text. */
export function mapTexts<From, To>(
  [first, ...others]: OfTexts<From>,
  change: (value: From) => To,
): OfTexts<To> {
  const changed = ({ value, target }: OfTexts<From>[0]): OfTexts<To>[0] => ({
    value: change(value),
    target,
  });
  return [changed(first), ...others.map(changed)];
}
