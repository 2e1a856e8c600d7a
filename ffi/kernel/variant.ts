/**
 * Which variant of a kernel a call means: the caller names it, or the tensors say it: by their element types, and where
 * several variants have these, by extents that a variant's constants fix.
 */
import { ArgumentError } from "../errors.ts";
import type { Frame } from "./frame.ts";
import type { DimensionModel, KernelModel, VariantModel } from "./model.ts";

/** The variant that the frame's tensors have the types of; `wanted` is the caller's choice by name. */
export function chooseVariant<Name extends string>(
  frame: Frame<Name>,
  wanted: string | undefined,
): VariantModel<Name> {
  const { model } = frame;
  if (wanted !== undefined) {
    const variant = namedVariant(model, wanted);
    const misfit = firstMisfit(frame, variant);
    if (misfit === undefined) return variant;
    throw frame.error(
      misfit,
      `${variant.dtypes[misfit]} in variant ${wanted}`,
      `${frame.tensors[misfit]}`,
    );
  }
  let first: VariantModel<Name> | undefined;
  for (const variant of model.variants) {
    if (firstMisfit(frame, variant) !== undefined) continue;
    if (hasExtents(frame, variant)) return variant;
    first ??= variant;
  }
  // Its extents do not fit: checking them says which and how.
  if (first !== undefined) return first;
  throw misfitError(frame);
}

/** Tensors have the extents that are constants of the variant. Whatever else is wrong with them is found later. */
function hasExtents<Name extends string>(
  { tensors }: Frame<Name>,
  { general: { constants, contract } }: VariantModel<Name>,
): boolean {
  const wanted = (extent: DimensionModel<Name>): number | undefined => {
    if (extent.kind === "fixed") return extent.value;
    if (extent.kind === "define") return undefined;
    return constants.find(({ name }) => name === extent.expression.text)?.value;
  };
  for (const { position, extents } of contract.tensors) {
    const shape = tensors[position]?.shape;
    if (shape === undefined || shape.length !== extents.length) continue;
    for (const [axis, extent] of extents.entries()) {
      const value = wanted(extent);
      if (value !== undefined && shape[axis] !== value) return false;
    }
  }
  return true;
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
    actual: JSON.stringify(name),
  });
}

/** The first tensor whose element type the variant does not have. */
function firstMisfit<Name extends string>(
  frame: Frame<Name>,
  variant: VariantModel<Name>,
): number | undefined {
  const { model: { pointers }, tensors } = frame;
  for (const { position } of pointers) {
    const tensor = tensors[position];
    if (tensor === undefined || tensor === null) continue;
    if (tensor.dtype !== variant.dtypes[position]) return position;
  }
  return undefined;
}

/** Blames the first tensor that no variant has together with those before it. */
function misfitError<Name extends string>(frame: Frame<Name>): ArgumentError {
  const { model } = frame;
  let candidates = model.variants;
  const given: string[] = [];
  for (const { position } of model.pointers) {
    const tensor = frame.tensors[position];
    if (tensor === undefined || tensor === null) continue;
    const fitting = candidates.filter(({ dtypes }) => dtypes[position] === tensor.dtype);
    if (fitting.length === 0) {
      const known = [...new Set(candidates.map(({ dtypes }) => dtypes[position]))];
      const beside = given.length === 0 ? "" : ` beside ${given.join(", ")}`;
      return frame.error(
        position,
        `${known.join(" or ")}${beside}`,
        `${tensor}`,
        "a variant for another element type is a line `#pragma tri variants` in the kernel's source",
      );
    }
    candidates = fitting;
    given.push(`${tensor.dtype} ${frame.labels[position]}`);
  }
  throw new TypeError(`${model.name} has no variants`);
}
