/** Kernels as functions: what a generated wrapper exports. */
import { KernelCalls, type LaunchResult } from "./calls.ts";
import { nameValue } from "../brands.ts";
import { ArgumentError } from "../errors.ts";
import { type ConstantBuffers, defineConstants } from "./constants.ts";
import type { KernelFacts } from "./facts.ts";
import {
  type AnyOptions,
  type CallForm,
  type CallResult,
  explicitForm,
  type NamedValues,
  tensorForm,
} from "./gather.ts";
import { modelKernel } from "./model.ts";
import { tune } from "./tune.ts";
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
 * if it has any. `Kernel` is the interface that the wrapper declares; wrapper and facts come from one description of
 * the kernel, so that the two agree. Nothing is opened, read or worked out before the first call. Kernels of one file
 * share their constant buffers: `shared` are those of the file, and the kernel's own where it is absent.
 */
export function defineKernel<Kernel extends object, Name extends string>(
  facts: KernelFacts<Name>,
  shared?: ConstantBuffers,
): Kernel {
  expectFacts(facts);
  let machinery: Machinery<Name> | undefined;
  const constants = pickConstants(facts, shared);
  const ready = (): Machinery<Name> => machinery ??= build(facts, constants ?? {});
  const positional = facts.tensorCall?.inputs.length ?? 1;
  /** Checked by those who read them. */
  const optionsOf = (args: readonly unknown[]): AnyOptions => {
    if (args.length > positional + 1) throw tooMany(facts.name, positional + 1, args.length);
    const options = args[positional];
    return options === undefined ? NO_OPTIONS : options as AnyOptions;
  };
  const refuseMore = (of: string, more: readonly unknown[]): void => {
    if (more.length > 0) throw tooMany(`${facts.name}.${of}`, 2, 2 + more.length);
  };
  const { images: _images, ...contract } = facts;
  const kernel: AnyKernel<Name> = Object.assign(
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
      ...facts.tuning === undefined ? {} : {
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
      variants: facts.variants.map(({ name }) => name),
      contract,
      ...constants === undefined ? {} : { constants },
    },
  );
  Object.defineProperty(kernel, "name", { value: facts.name });
  return kernel as object as Kernel;
}

function tooMany(of: string, most: number, count: number): ArgumentError {
  return new ArgumentError({
    argument: `arguments of ${of}`,
    expected: `at most ${most}, the options last`,
    actual: `${count}`,
  });
}

/** What else is wrong with facts is found where they are read: they come from `tri build`. */
function expectFacts(facts: unknown): void {
  const isFacts = typeof facts === "object" && facts !== null && "name" in facts &&
    typeof facts.name === "string" &&
    ["params", "variants", "instances", "images"].every((name) =>
      Array.isArray(Object.getOwnPropertyDescriptor(facts, name)?.value)
    ) && "contract" in facts && typeof facts.contract === "object" && facts.contract !== null;
  if (isFacts) return;
  throw new ArgumentError({
    argument: "facts of defineKernel",
    expected: "the facts of a kernel, as `tri build` writes them",
    actual: nameValue(facts),
  });
}

/** The buffers that the kernel uses; undefined where it uses none. */
function pickConstants<Name extends string>(
  { constantBuffers: wanted }: KernelFacts<Name>,
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
