/** Results that the caller did not bring: their extents follow from what the inputs say, their strides are dense. */
import type { Stream } from "../../stream.ts";
import { bindTensor } from "./bind.ts";
import type { CallArguments } from "./call_arguments.ts";
import type { DimensionModel, VariantModel } from "../facts/model.ts";

/** Makes the missing results and binds them like the others. */
export function allocateOutputs<Name extends string>(
  call: CallArguments<Name>,
  variant: VariantModel<Name>,
  stream: Stream,
): void {
  const outputs = call.model.tensorCall?.outputs ?? [];
  for (const { position } of outputs) {
    if (call.tensors[position] !== undefined) continue;
    const contract = variant.general.contract.tensors.find((tensor) =>
      tensor.position === position
    );
    const dtype = variant.dtypes[position];
    if (contract === undefined || dtype === undefined) continue;
    const shape = contract.extents.map((extent) => dimensionValue(call, extent));
    if (!shape.every((extent) => extent !== undefined)) {
      throw call.error(position, "a tensor, because the inputs do not say its shape", "undefined");
    }
    for (const [axis, extent] of shape.entries()) {
      if (Number.isSafeInteger(extent) && extent >= 0) continue;
      throw call.error(position, `shape[${axis}] of at least 0`, `${extent}`);
    }
    const strides = outputStrides(
      shape,
      contract.strides.map((stride) => dimensionValue(call, stride)),
    );
    const tensor = stream.device.empty(dtype, shape, { strides, stream });
    call.tensors[position] = tensor;
    call.allocated.push(tensor);
    bindTensor(call, variant, contract, tensor);
  }
}

function dimensionValue<Name extends string>(
  call: CallArguments<Name>,
  dimension: DimensionModel<Name>,
): number | undefined {
  if (dimension.kind === "fixed") return dimension.value;
  if (dimension.kind === "computed") return dimension.expression.value(call.values);
  return call.scalars[dimension.defines] === undefined ? undefined : call.values[dimension.name];
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
