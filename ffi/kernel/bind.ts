/**
 * The short form of a call: which variant the tensors mean, which parameters their shapes and strides define,
 * and the results that the caller did not bring.
 */
import type { Tensor } from "../tensor.ts";
import { ArgumentError } from "../errors.ts";
import type { Stream } from "../stream.ts";
import type { Definition, Frame } from "./frame.ts";
import type { DimensionModel, KernelModel, TensorModel, VariantModel } from "./model.ts";

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
  for (const variant of model.variants) {
    if (firstMisfit(frame, variant) === undefined) return variant;
  }
  throw misfitError(frame);
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

/** Lets the given tensors define parameters and compares them where several define the same. */
export function bindTensors<Name extends string>(
  frame: Frame<Name>,
  variant: VariantModel<Name>,
): void {
  for (const contract of variant.general.contract.tensors) {
    const tensor = frame.tensors[contract.position];
    if (tensor !== undefined && tensor !== null) bindTensor(frame, variant, contract, tensor);
  }
}

function bindTensor<Name extends string>(
  frame: Frame<Name>,
  variant: VariantModel<Name>,
  contract: TensorModel<Name>,
  tensor: Tensor,
): void {
  const { position, extents, strides } = contract;
  const { shape } = tensor;
  if (shape.length !== extents.length) {
    throw frame.error(
      position,
      `a tensor of rank ${extents.length}`,
      `rank ${shape.length}: ${tensor}`,
    );
  }
  for (let axis = 0; axis < extents.length; axis++) {
    const extent = extents[axis];
    if (extent !== undefined) {
      bindDimension(frame, variant, tensor, extent, { position, what: "shape", axis });
    }
  }
  for (let axis = 0; axis < strides.length; axis++) {
    const stride = strides[axis];
    if (stride !== undefined) {
      bindDimension(frame, variant, tensor, stride, { position, what: "strides", axis });
    }
  }
}

function bindDimension<Name extends string>(
  frame: Frame<Name>,
  variant: VariantModel<Name>,
  tensor: Tensor,
  dimension: DimensionModel<Name>,
  place: Definition,
): void {
  const actual = tensor[place.what][place.axis] ?? 0;
  // The stride of an axis with one element is never used, so it neither breaks a demand nor outweighs another.
  const isIdle = isIdleStride(tensor, place);
  switch (dimension.kind) {
    case "fixed":
      if (actual !== dimension.value && !isIdle) {
        throw dimensionError(frame, tensor, place, `${dimension.value}`);
      }
      return;
    case "computed":
      // Checked by checkComputed(), once every parameter has its value.
      return;
    case "define": {
      const earlier = frame.definitions[dimension.position];
      if (earlier === undefined || (!isIdle && isIdleDefinition(frame, earlier))) {
        frame.setScalar(dimension.position, actual, variant);
        frame.definitions[dimension.position] = place;
      } else if (!isIdle && frame.values[dimension.name] !== actual) {
        const value = frame.values[dimension.name];
        const source = `${frame.labels[earlier.position]}.${earlier.what}[${earlier.axis}]`;
        throw dimensionError(frame, tensor, place, `${value} (${dimension.name}, as in ${source})`);
      }
    }
  }
}

function isIdleStride(tensor: Tensor, { what, axis }: Definition): boolean {
  return what === "strides" && (tensor.shape[axis] ?? 0) <= 1;
}

function isIdleDefinition<Name extends string>(frame: Frame<Name>, place: Definition): boolean {
  const tensor = frame.tensors[place.position];
  return tensor !== undefined && tensor !== null && isIdleStride(tensor, place);
}

function dimensionError<Name extends string>(
  frame: Frame<Name>,
  tensor: Tensor,
  { position, what, axis }: Definition,
  expected: string,
): ArgumentError {
  const of = what === "shape"
    ? `${tensor}`
    : `${tensor} with strides [${tensor.strides.join(", ")}]`;
  return frame.error(position, `${what}[${axis}] = ${expected}`, `${tensor[what][axis]} in ${of}`);
}

/** Compares extents and strides with the expressions that say what they must be. */
export function checkComputed<Name extends string>(
  frame: Frame<Name>,
  variant: VariantModel<Name>,
): void {
  for (const { position, extents, strides } of variant.general.contract.tensors) {
    const tensor = frame.tensors[position];
    if (tensor === undefined || tensor === null) continue;
    checkComputedOf(frame, tensor, position, "shape", extents);
    checkComputedOf(frame, tensor, position, "strides", strides);
  }
}

function checkComputedOf<Name extends string>(
  frame: Frame<Name>,
  tensor: Tensor,
  position: number,
  what: Definition["what"],
  dimensions: readonly DimensionModel<Name>[],
): void {
  for (let axis = 0; axis < dimensions.length; axis++) {
    const dimension = dimensions[axis];
    if (dimension?.kind !== "computed") continue;
    const { value, text } = dimension.expression;
    const wanted = value(frame.values);
    const place = { position, what, axis };
    if (tensor[what][axis] === wanted || isIdleStride(tensor, place)) continue;
    throw dimensionError(frame, tensor, place, `${wanted} (${text})`);
  }
}

/** Makes the results that the caller did not bring; their extents follow from what is bound already. */
export function allocateOutputs<Name extends string>(
  frame: Frame<Name>,
  variant: VariantModel<Name>,
  stream: Stream,
): void {
  const outputs = frame.model.tensorCall?.outputs ?? [];
  for (const { position } of outputs) {
    if (frame.tensors[position] !== undefined) continue;
    const contract = variant.general.contract.tensors.find((tensor) =>
      tensor.position === position
    );
    const dtype = variant.dtypes[position];
    if (contract === undefined || dtype === undefined) continue;
    const shape = contract.extents.map((extent) => dimensionValue(frame, extent));
    if (!shape.every((extent) => extent !== undefined)) {
      throw frame.error(position, "a tensor, because the inputs do not say its shape", "undefined");
    }
    for (const [axis, extent] of shape.entries()) {
      if (Number.isSafeInteger(extent) && extent >= 0) continue;
      throw frame.error(position, `shape[${axis}] of at least 0`, `${extent}`);
    }
    const strides = outputStrides(
      shape,
      contract.strides.map((stride) => dimensionValue(frame, stride)),
    );
    const tensor = stream.device.empty(dtype, shape, { strides, stream });
    frame.tensors[position] = tensor;
    frame.allocated.push(tensor);
    bindTensor(frame, variant, contract, tensor);
  }
}

function dimensionValue<Name extends string>(
  frame: Frame<Name>,
  dimension: DimensionModel<Name>,
): number | undefined {
  if (dimension.kind === "fixed") return dimension.value;
  if (dimension.kind === "computed") return dimension.expression.value(frame.values);
  return frame.scalars[dimension.position] === undefined ? undefined : frame.values[dimension.name];
}

/** Strides without gaps where the contract leaves them open; the axis with stride 1 is innermost. */
function outputStrides(shape: readonly number[], known: readonly (number | undefined)[]): number[] {
  const strides = known.map((stride) => stride ?? 0);
  const inner = known.lastIndexOf(1);
  const axes = shape.map((_, axis) => axis).filter((axis) => axis !== inner).reverse();
  let dense = inner < 0 ? 1 : Math.max(shape[inner] ?? 1, 1);
  for (const axis of axes) {
    const stride = known[axis] ?? dense;
    strides[axis] = stride;
    dense = Math.max(dense, stride * Math.max(shape[axis] ?? 1, 1));
  }
  return strides;
}
