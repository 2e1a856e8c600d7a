/** Kernels as functions: what a generated wrapper exports. */
import { KernelCalls, type LaunchResult } from "./call/calls.ts";
import { nameValue } from "../arguments/brands.ts";
import { WRAPPER_ABI } from "../../compiler/support/abi.ts";
import { ArgumentError, WrapperError } from "../errors.ts";
import { type ConstantBuffers, defineConstants } from "./images/constants.ts";
import { expandKernel } from "./facts/expand.ts";
import type { ConstantFacts, KernelFacts, VariantFacts } from "./facts/facts.ts";
import {
  type AnyOptions,
  type CallForm,
  type CallResult,
  explicitForm,
  type NamedValues,
  tensorForm,
} from "./call/gather.ts";
import { modelKernel } from "./facts/model.ts";
import type { KernelRows } from "./facts/rows.ts";
import { tune } from "./tuning/tune.ts";
import type {
  Grid,
  KernelDescription,
  PreparedCall,
  TuneOptions,
  TuneResult,
  VariantOptions,
} from "./types.ts";

/** Every kernel function, as far as it can be said without knowing the kernel. */
interface AnyKernel<Name extends string> {
  (...args: readonly unknown[]): LaunchResult;
  prepare(...args: readonly unknown[]): PreparedCall<CallResult>;
  launch(args: NamedValues, options?: AnyOptions, ...more: readonly unknown[]): LaunchResult;
  grid(args: NamedValues, options?: VariantOptions, ...more: readonly unknown[]): Grid;
  tune?(
    args: NamedValues,
    options?: AnyOptions & TuneOptions,
    ...more: readonly unknown[]
  ): Promise<TuneResult>;
  readonly variants: readonly string[];
  readonly contract: KernelDescription<Name>;
  readonly constants?: ConstantBuffers;
}

/** What a kernel function calls. */
interface Machinery<Name extends string> {
  readonly calls: KernelCalls<Name>;
  readonly explicit: CallForm<Name, NamedValues>;
  /** The form of the function itself: `args` are all before the options. */
  readonly own: CallForm<Name, readonly unknown[]>;
}

const NO_OPTIONS: AnyOptions = {};

/**
 * The function that calls a kernel, with `prepare`, `launch`, `grid`, `variants` and `contract` on it, and `constants`
 * if it has any, from the kernel's facts. `Kernel` is the interface that its callers see, which must agree with the facts.
 * Nothing is opened, read or worked out before the first call. Kernels of one file share their constant buffers: `shared`
 * are those of the file, and the kernel's own where it is absent.
 */
export function defineKernel<Kernel extends object, Name extends string>(
  facts: KernelFacts<Name>,
  shared?: ConstantBuffers,
): Kernel {
  expectKernel("facts of defineKernel", "the facts of a kernel", facts, "params", "images");
  return makeKernel(
    { ...facts, inputs: facts.tensorCall?.inputs.length, variants: facts.variants.map(nameOf) },
    () => facts,
    shared,
  );
}

/**
 * `defineKernel` from the rows that generated wrappers carry, which are expanded at the first call. Throws `WrapperError`
 * for rows of an ABI that this run time does not serve.
 */
export function wrapKernel<Kernel extends object, Name extends string>(
  rows: KernelRows<Name>,
  shared?: ConstantBuffers,
): Kernel {
  expectAbi(rows);
  expectKernel("rows of wrapKernel", "the rows of a kernel", rows);
  const { tensorCall, variants } = rows;
  let facts: KernelFacts<Name> | undefined;
  return makeKernel(
    {
      ...rows,
      inputs: tensorCall && Object.keys(tensorCall.inputs ?? {}).length,
      variants: variants.map(([name]) => name),
    },
    () => facts ??= expandKernel(rows),
    shared,
  );
}

/** What a kernel function needs to know before its first call. */
interface Outline {
  readonly name: string;
  /** Positional arguments of the short form; undefined where there is none. */
  readonly inputs: number | undefined;
  readonly variants: readonly string[];
  readonly constantBuffers?: readonly ConstantFacts[];
  readonly tuning?: unknown;
}

function makeKernel<Kernel extends object, Name extends string>(
  outline: Outline,
  factsOf: () => KernelFacts<Name>,
  shared: ConstantBuffers | undefined,
): Kernel {
  const { name } = outline;
  let machinery: Machinery<Name> | undefined;
  const constants = pickConstants(outline, shared);
  const ready = (): Machinery<Name> => machinery ??= build(factsOf(), constants ?? {});
  const positional = outline.inputs ?? 1;
  /** Checked by those who read them. */
  const optionsOf = (args: readonly unknown[]): AnyOptions => {
    if (args.length > positional + 1) throw tooMany(name, positional + 1, args.length);
    const options = args[positional];
    return options === undefined ? NO_OPTIONS : options as AnyOptions;
  };
  const refuseMore = (of: string, more: readonly unknown[]): void => {
    if (more.length > 0) throw tooMany(`${name}.${of}`, 2, 2 + more.length);
  };
  const kernel: Omit<AnyKernel<Name>, "contract"> = Object.assign(
    (...args: readonly unknown[]): LaunchResult => {
      const { calls, own } = ready();
      return calls.launch(own, args, optionsOf(args));
    },
    {
      prepare(...args: readonly unknown[]): PreparedCall<CallResult> {
        const { calls, own } = ready();
        return calls.prepare(own, args, optionsOf(args));
      },
      launch(args: NamedValues, options = NO_OPTIONS, ...more: readonly unknown[]): LaunchResult {
        refuseMore("launch", more);
        const { calls, explicit } = ready();
        return calls.launch(explicit, args, options);
      },
      grid(
        args: NamedValues,
        options: VariantOptions = NO_OPTIONS,
        ...more: readonly unknown[]
      ): Grid {
        refuseMore("grid", more);
        const { calls, explicit } = ready();
        return calls.grid(explicit, args, options as AnyOptions);
      },
      ...outline.tuning === undefined ? {} : {
        async tune(
          args: NamedValues,
          options: AnyOptions & TuneOptions = NO_OPTIONS,
          ...more: readonly unknown[]
        ): Promise<TuneResult> {
          refuseMore("tune", more);
          const { calls, explicit } = ready();
          return await tune(calls.alternatives(explicit, args, options), options);
        },
      },
      variants: outline.variants,
      ...constants === undefined ? {} : { constants },
    },
  );
  Object.defineProperty(kernel, "name", { value: name });
  let contract: KernelDescription<Name> | undefined;
  const describe = (): KernelDescription<Name> => {
    const { images: _images, ...description } = factsOf();
    return description;
  };
  Object.defineProperty(kernel, "contract", {
    get: () => contract ??= describe(),
    enumerable: true,
  });
  return kernel as object as Kernel;
}

function tooMany(of: string, most: number, count: number): ArgumentError {
  return new ArgumentError({
    argument: `arguments of ${of}`,
    expected: `at most ${most}, the options last`,
    actual: `${count}`,
  });
}

function nameOf({ name }: VariantFacts): string {
  return name;
}

/** The rows of another ABI may look like anything: nothing else is read of them. What has no number is refused later. */
function expectAbi(rows: Partial<Pick<KernelRows, "made" | "name">> | null | undefined): void {
  const { abi, by } = rows?.made ?? {};
  if (typeof abi !== "number" || abi === WRAPPER_ABI) return;
  throw new WrapperError({
    kernel: `${rows?.name}`,
    abi,
    by: `${by}`,
    served: WRAPPER_ABI,
  });
}

/** What else is wrong with facts or rows is found where they are read: they come from `tri build`. */
function expectKernel(
  argument: string,
  what: string,
  actual: unknown,
  ...lists: readonly string[]
): void {
  const isKernel = typeof actual === "object" && actual !== null && "name" in actual &&
    typeof actual.name === "string" &&
    [...lists, "variants", "instances"].every((name) =>
      Array.isArray(Object.getOwnPropertyDescriptor(actual, name)?.value)
    ) && "contract" in actual && typeof actual.contract === "object" && actual.contract !== null;
  if (isKernel) return;
  throw new ArgumentError({
    argument,
    expected: `${what}, as \`tri build\` writes them`,
    actual: nameValue(actual),
  });
}

/** The buffers that the kernel uses; undefined where it uses none. */
function pickConstants(
  { constantBuffers: wanted }: Outline,
  shared: ConstantBuffers | undefined,
): ConstantBuffers | undefined {
  if (wanted === undefined || shared === undefined) return wanted && defineConstants(wanted);
  const names = new Set(wanted.map(({ name }) => name));
  return Object.fromEntries(Object.entries(shared).filter(([name]) => names.has(name)));
}

function build<Name extends string>(
  facts: KernelFacts<Name>,
  constants: ConstantBuffers,
): Machinery<Name> {
  const model = modelKernel(facts);
  const explicit = explicitForm(model);
  const own: CallForm<Name, readonly unknown[]> = model.tensorCall !== undefined
    ? tensorForm(model, model.tensorCall)
    : {
      ...explicit,
      gather: (call, args, options) => explicit.gather(call, args[0] as NamedValues, options),
    };
  return { calls: new KernelCalls(facts, model, constants), explicit, own };
}
