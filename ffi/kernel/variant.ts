/**
 * Which variant of a kernel a call means: the caller names it, or the tensors say it: by their element types, and where
 * several variants have these, by extents that a variant's constants fix.
 */
import { ArgumentError } from "../errors.ts";
import { describeValue } from "../arguments/values.ts";
import type { CallArguments } from "./call/call_arguments.ts";
import type { DimensionModel, KernelModel, VariantModel } from "./facts/model.ts";

/** The variant that the call's tensors have the types of; `wanted` is the caller's choice by name. */
export function chooseVariant<Name extends string>(
  call: CallArguments<Name>,
  wanted: string | undefined,
): VariantModel<Name> {
  const { model } = call;
  if (wanted !== undefined) {
    const variant = namedVariant(model, wanted);
    const misfit = firstMisfit(call, variant);
    if (misfit === undefined) return variant;
    throw call.error(
      misfit,
      `${variant.dtypes[misfit]} in variant ${wanted}`,
      `${call.tensors[misfit]}`,
    );
  }
  let first: VariantModel<Name> | undefined;
  for (const variant of model.variants) {
    if (firstMisfit(call, variant) !== undefined) continue;
    if (hasExtents(call, variant)) return variant;
    first ??= variant;
  }
  if (first === undefined) throw misfitError(call);
  const error = extentError(call);
  if (error !== undefined) throw error;
  return first;
}

/** Tensors have the extents that are constants of the variant. Whatever else is wrong with them is found later. */
function hasExtents<Name extends string>(
  call: CallArguments<Name>,
  variant: VariantModel<Name>,
): boolean {
  for (const { position, extents } of variant.general.contract.tensors) {
    const shape = call.tensors[position]?.shape;
    if (shape === undefined || shape.length !== extents.length) continue;
    for (let axis = 0; axis < extents.length; axis++) {
      const value = constantExtent(variant, extents[axis]);
      if (value !== undefined && shape[axis] !== value) return false;
    }
  }
  return true;
}

function constantExtent<Name extends string>(
  { general: { constants } }: VariantModel<Name>,
  extent: DimensionModel<Name> | undefined,
): number | undefined {
  if (extent === undefined || extent.kind === "define") return undefined;
  if (extent.kind === "fixed") return extent.value;
  return constants.find(({ name }) => name === extent.expression.text)?.value;
}

/** Names the first extent that no variant has together with those before it, and all values that would do. */
function extentError<Name extends string>(
  call: CallArguments<Name>,
): ArgumentError | undefined {
  const { variants } = call.model;
  let candidates = variants.filter((variant) => firstMisfit(call, variant) === undefined);
  const given: string[] = [];
  for (const { position } of call.model.pointers) {
    const tensor = call.tensors[position];
    if (tensor === undefined || tensor === null) continue;
    for (const [axis, actual] of tensor.shape.entries()) {
      const wanted = candidates.map((variant) => {
        const { tensors } = variant.general.contract;
        const extents = tensors.find((contract) => contract.position === position)?.extents;
        return extents?.length === tensor.shape.length
          ? constantExtent(variant, extents[axis])
          : undefined;
      });
      const fitting = candidates.filter((_, index) => (wanted[index] ?? actual) === actual);
      if (fitting.length === 0) {
        const known = anyOf([...new Set(wanted)]);
        const beside = given.length === 0 ? "" : ` beside ${given.join(", ")}`;
        return call.error(
          position,
          `shape[${axis}] = ${known}${beside}`,
          `${actual} in ${tensor}`,
          "a variant for another extent is a line `#pragma tri variants` in the kernel's source",
        );
      }
      if (fitting.length < candidates.length) {
        given.push(`shape[${axis}] = ${actual} of ${call.labels[position]}`);
      }
      candidates = fitting;
    }
  }
  return undefined;
}

/** `64, 96 or 128`. */
function anyOf(numbers: readonly (number | undefined)[]): string {
  const [last, ...others] = numbers.toReversed();
  return others.length === 0 ? `${last}` : `${others.toReversed().join(", ")} or ${last}`;
}

/** The variant with this name. */
export function namedVariant<Name extends string>(
  model: KernelModel<Name>,
  name: string,
): VariantModel<Name> {
  const variant = model.variants.find((candidate) => candidate.name === name);
  if (variant !== undefined) return variant;
  throw new ArgumentError({
    argument: `variant of ${model.name}`,
    expected: `one of ${model.variants.map((candidate) => candidate.name).join(", ")}`,
    actual: describeValue(name),
  });
}

/** The first tensor whose element type the variant does not have. */
function firstMisfit<Name extends string>(
  call: CallArguments<Name>,
  variant: VariantModel<Name>,
): number | undefined {
  const { model: { pointers }, tensors } = call;
  for (const { position } of pointers) {
    const tensor = tensors[position];
    if (tensor === undefined || tensor === null) continue;
    if (tensor.dtype !== variant.dtypes[position]) return position;
  }
  return undefined;
}

/** Blames the first tensor that no variant has together with those before it. */
function misfitError<Name extends string>(call: CallArguments<Name>): ArgumentError {
  const { model } = call;
  let candidates = model.variants;
  const given: string[] = [];
  for (const { position } of model.pointers) {
    const tensor = call.tensors[position];
    if (tensor === undefined || tensor === null) continue;
    const fitting = candidates.filter(({ dtypes }) => dtypes[position] === tensor.dtype);
    if (fitting.length === 0) {
      const known = [...new Set(candidates.map(({ dtypes }) => dtypes[position]))];
      const beside = given.length === 0 ? "" : ` beside ${given.join(", ")}`;
      return call.error(
        position,
        `${known.join(" or ")}${beside}`,
        `${tensor}`,
        "a variant for another element type is a line `#pragma tri variants` in the kernel's source",
      );
    }
    candidates = fitting;
    given.push(`${tensor.dtype} ${call.labels[position]}`);
  }
  throw new TypeError(`${model.name} has no variants`);
}
