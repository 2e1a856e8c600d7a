/** Parameters that tensors define by their extents and strides, and the demands on the others. */
import type { ArgumentError } from "../../errors.ts";
import type { Tensor } from "../../tensors/tensor.ts";
import type { CallArguments } from "./call_arguments.ts";
import type { DimensionModel, DimensionSource, TensorModel, VariantModel } from "../facts/model.ts";

/** Lets the given tensors define parameters and compares them where several define the same. */
export function bindTensors<Name extends string>(
  call: CallArguments<Name>,
  variant: VariantModel<Name>,
): void {
  for (const contract of variant.general.contract.tensors) {
    const tensor = call.tensors[contract.position];
    if (tensor !== undefined && tensor !== null) bindTensor(call, variant, contract, tensor);
  }
}

/** Lets one tensor define parameters. */
export function bindTensor<Name extends string>(
  call: CallArguments<Name>,
  variant: VariantModel<Name>,
  contract: TensorModel<Name>,
  tensor: Tensor,
): void {
  const rank = contract.extents.length;
  if (tensor.shape.length !== rank) {
    throw call.error(
      contract.position,
      `a tensor of rank ${rank}`,
      `rank ${tensor.shape.length}: ${tensor}`,
    );
  }
  for (const dimension of contract.dimensions) bindDimension(call, variant, tensor, dimension);
}

function bindDimension<Name extends string>(
  call: CallArguments<Name>,
  variant: VariantModel<Name>,
  tensor: Tensor,
  dimension: DimensionModel<Name>,
): void {
  // Checked by checkComputed(), once every parameter has its value.
  if (dimension.kind === "computed") return;
  const actual = tensor[dimension.what][dimension.axis] ?? 0;
  const isIdle = isIdleStride(tensor, dimension);
  if (dimension.kind === "fixed") {
    if (actual !== dimension.value && !isIdle) {
      throw dimensionError(call, tensor, dimension, `${dimension.value}`);
    }
    return;
  }
  const { defines, name } = dimension;
  const earlier = call.definitions[defines];
  if (earlier === undefined || (!isIdle && isIdleDefinition(call, earlier))) {
    call.setScalar(defines, actual, variant);
    call.definitions[defines] = dimension;
  } else if (!isIdle && call.values[name] !== actual) {
    const source = `${call.labels[earlier.position]}.${earlier.what}[${earlier.axis}]`;
    throw dimensionError(
      call,
      tensor,
      dimension,
      `${call.values[name]} (${name}, as in ${source})`,
    );
  }
}

/**
 * The stride of an axis with one element is never used, nor are those of a tensor without elements, so they neither break
 * a demand nor outweigh what another tensor says.
 */
function isIdleStride({ shape }: Tensor, { what, axis }: DimensionSource): boolean {
  return what === "strides" && ((shape[axis] ?? 0) <= 1 || shape.includes(0));
}

function isIdleDefinition<Name extends string>(
  call: CallArguments<Name>,
  source: DimensionSource,
): boolean {
  const tensor = call.tensors[source.position];
  return tensor !== undefined && tensor !== null && isIdleStride(tensor, source);
}

function dimensionError<Name extends string>(
  call: CallArguments<Name>,
  tensor: Tensor,
  { position, what, axis }: DimensionSource,
  expected: string,
): ArgumentError {
  const of = what === "shape"
    ? `${tensor}`
    : `${tensor} with strides [${tensor.strides.join(", ")}]`;
  return call.error(position, `${what}[${axis}] = ${expected}`, `${tensor[what][axis]} in ${of}`);
}

/** Compares extents and strides with the expressions that say what they must be. */
export function checkComputed<Name extends string>(
  call: CallArguments<Name>,
  variant: VariantModel<Name>,
): void {
  for (const { position, dimensions } of variant.general.contract.tensors) {
    const tensor = call.tensors[position];
    if (tensor === undefined || tensor === null) continue;
    for (const dimension of dimensions) {
      if (dimension.kind !== "computed") continue;
      const { value, text } = dimension.expression;
      const wanted = value(call.values);
      if (tensor[dimension.what][dimension.axis] === wanted || isIdleStride(tensor, dimension)) {
        continue;
      }
      throw dimensionError(call, tensor, dimension, `${wanted} (${text})`);
    }
  }
}
