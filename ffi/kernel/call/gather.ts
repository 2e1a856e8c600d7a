/** The two forms of a call, and how each brings its arguments into the object of the call. */
import { nameValue } from "../../arguments/brands.ts";
import { ArgumentError } from "../../errors.ts";
import { checkOptions, type NamedValues, own } from "../../arguments/options.ts";
import type { Stream } from "../../stream.ts";
import type { Tensor } from "../../tensors/tensor.ts";
import { bindTensors, checkComputed } from "./bind.ts";
import { streamOf, withDivisors } from "./check.ts";
import type { CallArguments } from "./call_arguments.ts";
import type { ArgumentModel, KernelModel, TensorCallModel, VariantModel } from "../facts/model.ts";
import { CALL_OPTIONS } from "../option_names.ts";
import { allocateOutputs } from "./output.ts";
import type { CallOptions } from "../types.ts";
import { chooseVariant } from "../variant.ts";

/** What a call returns: nothing, a tensor, or several by name. */
export type CallResult = undefined | Tensor | Readonly<Record<string, Tensor>>;

export type { NamedValues } from "../../arguments/options.ts";

/** Options of a call; in the short form they also hold parameters that no tensor defines. */
export type AnyOptions = CallOptions & NamedValues;

/** A call whose arguments have been taken, each of the right type. */
export interface Gathered<Name extends string> {
  readonly variant: VariantModel<Name>;
  readonly stream: Stream;
}

/** A form of call. `Args` is what comes before the options. */
export interface CallForm<Name extends string, Args> {
  /** All that `options` may have. */
  readonly optionNames: ReadonlySet<string>;
  gather(call: CallArguments<Name>, args: Args, options: AnyOptions): Gathered<Name>;
  result(call: CallArguments<Name>): CallResult;
}

/** The short form: tensors by position; sizes and strides are theirs, and missing results are allocated. */
export function tensorForm<Name extends string>(
  model: KernelModel<Name>,
  tensorCall: TensorCallModel,
): CallForm<Name, readonly unknown[]> {
  const { inputs, outputs, options: named, labels } = tensorCall;
  const optional = new Set(
    model.pointers.flatMap(({ position, isOptional }) => isOptional ? [position] : []),
  );
  const isPointer = ({ position }: ArgumentModel): boolean =>
    model.params[position]?.kind === "pointer";
  const pointers = named.filter(isPointer);
  const scalars = named.filter((argument) => !isPointer(argument));
  const results = new Set(outputs.map(({ name }) => name));
  const takeOutputs = (call: CallArguments<Name>, out: unknown): void => {
    if (out === undefined) return;
    if (typeof out !== "object" || out === null) {
      throw new ArgumentError({
        argument: `out of ${model.name}`,
        expected: outputs.length === 1
          ? "a tensor"
          : `an object with ${outputs.map(({ name }) => name).join(", ")}`,
        actual: nameValue(out),
      });
    }
    if (outputs.length !== 1) checkOptions(`out of ${model.name}`, out, results);
    const byName = out as NamedValues;
    for (const { position, name } of outputs) {
      const value = outputs.length === 1 ? out : own(byName, name);
      if (value !== undefined) call.setTensor(position, value, false);
    }
  };
  return {
    optionNames: new Set([
      ...named.map(({ name }) => name),
      ...outputs.length === 0 ? [] : ["out"],
      ...CALL_OPTIONS,
    ]),
    gather(call, args, options): Gathered<Name> {
      call.labels = labels;
      for (let i = 0; i < inputs.length; i++) {
        call.setTensor(inputs[i]?.position ?? 0, args[i], false);
      }
      takeOutputs(call, own(options, "out"));
      for (const { position, name } of pointers) {
        call.setTensor(position, own(options, name), optional.has(position));
      }
      const variant = chooseVariant(call, own(options, "variant"));
      for (const { position, name } of scalars) {
        const value = own(options, name);
        // An optional tensor may define it instead.
        if (value !== undefined) call.setScalar(position, value, variant);
      }
      const stream = streamOf(call, own(options, "stream"));
      call.setConstants(variant.general);
      bindTensors(call, variant);
      withDivisors(call, variant, () => {
        allocateOutputs(call, variant, stream);
        call.checkComplete(variant);
        checkComputed(call, variant);
      });
      return { variant, stream };
    },
    result(call): CallResult {
      const [only] = outputs;
      if (outputs.length === 1 && only !== undefined) {
        return call.tensors[only.position] ?? undefined;
      }
      if (only === undefined) return undefined;
      const byName: Record<string, Tensor> = {};
      for (const { position, name } of outputs) {
        const tensor = call.tensors[position];
        if (tensor !== undefined && tensor !== null) byName[name] = tensor;
      }
      return byName;
    },
  };
}

/** The explicit form: every parameter by name, a tensor being its address. */
export function explicitForm<Name extends string>(
  model: KernelModel<Name>,
): CallForm<Name, NamedValues> {
  const labels = model.params.map(({ name }) => name);
  return {
    optionNames: CALL_OPTIONS,
    gather(call, args, options): Gathered<Name> {
      call.labels = labels;
      checkNames(model, args);
      for (const { position, name, isOptional } of model.pointers) {
        call.setTensor(position, own<NamedValues, string>(args, name), isOptional);
      }
      const variant = chooseVariant(call, own(options, "variant"));
      for (const position of model.scalars) {
        call.setScalar(position, own(args, labels[position] ?? ""), variant);
      }
      return { variant, stream: streamOf(call, own(options, "stream")) };
    },
    result(): undefined {
      return undefined;
    },
  };
}

/** Throws `ArgumentError` for arguments by name that have a name which is no parameter's. */
export function checkNames<Name extends string>(model: KernelModel<Name>, args: unknown): void {
  checkOptions(model.argumentsOf, args, model.paramNames);
}
