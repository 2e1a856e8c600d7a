/** The two forms of a call, and how each brings its arguments into the frame. */
import { ArgumentError } from "../errors.ts";
import type { Stream } from "../stream.ts";
import type { Tensor } from "../tensor.ts";
import { bindTensors, checkComputed } from "./bind.ts";
import { streamOf } from "./check.ts";
import { describeValue, type Frame } from "./frame.ts";
import type { ArgumentModel, KernelModel, TensorCallModel, VariantModel } from "./model.ts";
import { allocateOutputs } from "./output.ts";
import type { CallOptions } from "./types.ts";
import { chooseVariant } from "./variant.ts";

/** What a call returns: nothing, a tensor, or several by name. */
export type CallResult = undefined | Tensor | Readonly<Record<string, Tensor>>;

/** Values by name, as callers pass them. */
export type NamedValues = Readonly<Record<string, unknown>>;

/** Options of a call; in the short form they also hold parameters that no tensor defines. */
export type AnyOptions = CallOptions & NamedValues;

/** A call whose arguments are in the frame, each of the right type. */
export interface Gathered<Name extends string> {
  readonly variant: VariantModel<Name>;
  readonly stream: Stream;
}

/** A form of call. `Args` is what stands before the options. */
export interface CallForm<Name extends string, Args> {
  gather(frame: Frame<Name>, args: Args, options: AnyOptions): Gathered<Name>;
  result(frame: Frame<Name>): CallResult;
}

/** The short form: tensors by place; sizes and strides are theirs, and missing results are allocated. */
export function tensorForm<Name extends string>(
  model: KernelModel<Name>,
  call: TensorCallModel,
): CallForm<Name, readonly unknown[]> {
  const { inputs, outputs, options: named, labels } = call;
  const optional = new Set(
    model.pointers.flatMap(({ position, isOptional }) => isOptional ? [position] : []),
  );
  const isPointer = ({ position }: ArgumentModel): boolean =>
    model.params[position]?.kind === "pointer";
  const pointers = named.filter(isPointer);
  const scalars = named.filter((argument) => !isPointer(argument));
  const takeOutputs = (frame: Frame<Name>, out: unknown): void => {
    if (out === undefined) return;
    if (typeof out !== "object" || out === null) {
      throw new ArgumentError({
        argument: `out of ${model.name}`,
        expected: outputs.length === 1
          ? "a tensor"
          : `an object with ${outputs.map(({ name }) => name).join(", ")}`,
        actual: describeValue(out),
      });
    }
    const byName = out as NamedValues;
    for (const { position, name } of outputs) {
      const value = outputs.length === 1 ? out : byName[name];
      if (value !== undefined) frame.setTensor(position, value, false);
    }
  };
  return {
    gather(frame, args, options): Gathered<Name> {
      frame.labels = labels;
      for (let i = 0; i < inputs.length; i++) {
        frame.setTensor(inputs[i]?.position ?? 0, args[i], false);
      }
      takeOutputs(frame, options["out"]);
      for (const { position, name } of pointers) {
        frame.setTensor(position, options[name], optional.has(position));
      }
      const variant = chooseVariant(frame, options.variant);
      for (const { position, name } of scalars) {
        // An optional tensor may define it instead.
        if (options[name] !== undefined) frame.setScalar(position, options[name], variant);
      }
      const stream = streamOf(frame, options.stream);
      frame.setConstants(variant.general);
      bindTensors(frame, variant);
      allocateOutputs(frame, variant, stream);
      frame.checkComplete(variant);
      checkComputed(frame, variant);
      return { variant, stream };
    },
    result(frame): CallResult {
      const [only] = outputs;
      if (outputs.length === 1 && only !== undefined) {
        return frame.tensors[only.position] ?? undefined;
      }
      if (only === undefined) return undefined;
      const results: Record<string, Tensor> = {};
      for (const { position, name } of outputs) {
        const tensor = frame.tensors[position];
        if (tensor !== undefined && tensor !== null) results[name] = tensor;
      }
      return results;
    },
  };
}

/** The explicit form: every parameter by name, tensors standing for their addresses. */
export function explicitForm<Name extends string>(
  model: KernelModel<Name>,
): CallForm<Name, NamedValues> {
  const labels = model.params.map(({ name }) => name);
  return {
    gather(frame, args, options): Gathered<Name> {
      frame.labels = labels;
      if (typeof args !== "object" || args === null) {
        throw new ArgumentError({
          argument: `arguments of ${model.name}`,
          expected: `an object with ${labels.join(", ")}`,
          actual: describeValue(args),
        });
      }
      for (const { position, name, isOptional } of model.pointers) {
        frame.setTensor(position, args[name], isOptional);
      }
      const variant = chooseVariant(frame, options.variant);
      for (const position of model.scalars) {
        frame.setScalar(position, args[labels[position] ?? ""], variant);
      }
      return { variant, stream: streamOf(frame, options.stream) };
    },
    result(): undefined {
      return undefined;
    },
  };
}
