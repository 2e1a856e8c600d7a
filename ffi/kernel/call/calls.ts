/** Calls of a kernel in either form: the arguments are gathered and checked, then the driver launches. */
import type { PreparedLaunch } from "../../driver.ts";
import { ArgumentError, EMULATOR_REQUEST, LaunchError } from "../../errors.ts";
import { checkOptions, own } from "../../arguments/options.ts";
import { emptyProfile, type LaunchProfile, type Profiled } from "../../profile.ts";
import type { Stream } from "../../stream.ts";
import { isTensor } from "../../tensors/tensor.ts";
import { describeValue } from "../../arguments/values.ts";
import { checkDemands, chooseInstance, computeGrid, holdsFor } from "./check.ts";
import type { Choice } from "../tuning/choice.ts";
import type { ConstantBuffers } from "../images/constants.ts";
import type { KernelFacts } from "../facts/facts.ts";
import { CallArguments } from "./call_arguments.ts";
import {
  type AnyOptions,
  type CallForm,
  type CallResult,
  checkNames,
  type Gathered,
  type NamedValues,
} from "./gather.ts";
import { blocksOf, type Launcher, readFormChoice } from "../forms/forms.ts";
import { gridForSizes } from "../grid.ts";
import { type LoadedKernel, LoadedKernels } from "../images/load.ts";
import { checkBounds, checkOverlap, checkSelfOverlap, Touched } from "./memory.ts";
import type { InstanceModel, KernelModel } from "../facts/model.ts";
import { SCALARS } from "./scalars.ts";
import { GRID_OPTIONS, TUNE_OPTIONS } from "../option_names.ts";
import type { Grid, PreparedCall } from "../types.ts";

/** What a call returns: its result, or with `profile` the counters, beside the result if there is one. */
export type LaunchResult = CallResult | LaunchProfile | Profiled<CallResult>;

/** A configuration, ready to be launched. */
export interface Alternative {
  /** As `#pragma tri config` would spell it. */
  readonly config: string;
  /** Its index in the choice. */
  readonly index: number;
  readonly launch: () => void;
}

/** What a call could launch. */
export interface Alternatives<Name extends string> {
  readonly kernel: string;
  readonly variant: string;
  readonly choice: Choice<Name, InstanceModel<Name>>;
  /** That of the image on the device. */
  readonly target: string;
  /** Values of the key's parameters. */
  readonly key: readonly number[];
  readonly stream: Stream;
  readonly launches: readonly Alternative[];
}

/** All calls of one kernel. */
export class KernelCalls<Name extends string> {
  readonly #model: KernelModel<Name>;
  readonly #call: CallArguments<Name>;
  readonly #loaded: LoadedKernels<Name>;
  /** The grid of the call in hand. */
  readonly #grid: [number, number, number] = [1, 1, 1];
  readonly #touched = new Touched();
  /** What messages call the options. */
  readonly #optionsOf: string;

  constructor(
    facts: KernelFacts<Name>,
    model: KernelModel<Name>,
    constants: ConstantBuffers,
  ) {
    this.#model = model;
    this.#call = new CallArguments(model);
    this.#optionsOf = `options of ${model.name}`;
    this.#loaded = new LoadedKernels(facts, constants);
  }

  /** Checks and launches; with `profile` it also returns what the kernel did. */
  launch<Args>(form: CallForm<Name, Args>, args: Args, options: AnyOptions): LaunchResult {
    const call = this.#call;
    checkOptions(this.#optionsOf, options, form.optionNames);
    const isProfiled = wantsProfile(options);
    let profile: LaunchProfile | undefined;
    call.enter();
    try {
      const { variant, stream } = form.gather(call, args, options);
      const choice = readFormChoice(this.#model.name, own(options, "form"));
      const instance = this.#check({ variant, stream }, options);
      if (instance !== undefined) {
        const loaded = this.#loaded.on(stream.device);
        const launcher = loaded.launcher(instance).take(call, choice);
        this.#fill(launcher, instance);
        this.#use(stream, loaded);
        const blocks = blocksOf(launcher, this.#grid, stream);
        const [x, y, z] = blocks;
        if (isProfiled) profile = this.#profile(launcher.prepared, blocks, stream);
        else launcher.prepared.launch(x, y, z, stream.handle);
      } else if (isProfiled) {
        profile = emptyProfile(this.#model.name, this.#grid);
      }
      const result = form.result(call);
      if (profile === undefined) return result;
      return result === undefined ? profile : { result, profile };
    } catch (error) {
      for (const tensor of call.allocated) tensor[Symbol.dispose]();
      throw error;
    } finally {
      call.clear();
    }
  }

  /** Checks now; each call of what it returns launches. */
  prepare<Args>(
    form: CallForm<Name, Args>,
    args: Args,
    options: AnyOptions,
  ): PreparedCall<CallResult> {
    const call = this.#call;
    checkOptions(this.#optionsOf, options, form.optionNames);
    if (wantsProfile(options)) {
      throw new ArgumentError({
        argument: `profile of ${this.#model.name}.prepare`,
        expected: "undefined, because prepared calls are for many launches",
        actual: "true",
      });
    }
    call.enter();
    try {
      const { variant, stream } = form.gather(call, args, options);
      const choice = readFormChoice(this.#model.name, own(options, "form"));
      const instance = this.#check({ variant, stream }, options);
      const result = form.result(call);
      if (instance === undefined) return () => result;
      const loaded = this.#loaded.on(stream.device);
      const launcher = loaded.newLauncher(instance).take(call, choice);
      this.#fill(launcher, instance);
      const launch = this.#launchAgain(launcher, stream, loaded);
      return () => {
        launch();
        return result;
      };
    } catch (error) {
      for (const tensor of call.allocated) tensor[Symbol.dispose]();
      throw error;
    } finally {
      call.clear();
    }
  }

  /** Every configuration of the code that the call would launch, ready to be launched. */
  alternatives<Args>(
    form: CallForm<Name, Args>,
    args: Args,
    options: AnyOptions,
  ): Alternatives<Name> {
    const call = this.#call;
    const { name } = this.#model;
    checkOptions(`options of ${name}.tune`, options, TUNE_OPTIONS);
    call.enter();
    try {
      const { variant, stream } = form.gather(call, args, options);
      const wanted = readFormChoice(name, own(options, "form"));
      const { info, label } = stream.device;
      if (info.kind === "emulator") {
        throw new LaunchError(`Cannot tune ${name} on ${label}: its times say nothing of a GPU`, {
          hint: "use a GPU; `tri tune --estimate` ranks configurations by a model",
        });
      }
      call.setAddresses();
      const target = this.#targetOn(stream);
      const taken = chooseInstance(call, variant, target, info);
      const choice = variant.choices.find((choice) => choice?.instances.includes(taken));
      const isOffered = (_: unknown, index: number): boolean =>
        choice?.isAvailable(index, target) === true;
      if (choice === undefined || choice.instances.filter(isOffered).length < 2) {
        throw new LaunchError(`Cannot tune ${name}: there is one configuration for such a call`, {
          hint: "build with `tri build --configs all` to ship the others",
        });
      }
      const launches = choice.instances.map((instance, index): Alternative | undefined => {
        const config = choice.configs[index] ?? "";
        if (!isOffered(instance, index)) return undefined;
        if (!holdsFor(call, instance)) return undefined;
        if (!computeGrid(call, instance, undefined, this.#grid)) {
          throw new LaunchError(`Cannot tune ${name}: the launch grid is empty`, {
            hint: "pass arguments of the sizes that matter",
          });
        }
        checkDemands(call, instance);
        checkBounds(call, instance, this.#grid, this.#touched);
        checkOverlap(call, instance, this.#touched);
        checkSelfOverlap(call, instance);
        const loaded = this.#loaded.on(stream.device);
        const launcher = loaded.newLauncher(instance).take(call, wanted);
        this.#fill(launcher, instance);
        return { config, index, launch: this.#launchAgain(launcher, stream, loaded) };
      });
      return {
        kernel: name,
        variant: variant.name,
        choice,
        target,
        key: choice.key.map((name) => call.values[name]),
        stream,
        launches: launches.filter((launch) => launch !== undefined),
      };
    } finally {
      call.clear();
    }
  }

  /**
   * The grid of a launch with these arguments that is given its grid. For sizes alone, the grid that all code for them
   * has, of the first variant unless another is named.
   */
  grid(form: CallForm<Name, NamedValues>, args: NamedValues, options: AnyOptions): Grid {
    const call = this.#call;
    const grid: [number, number, number] = [1, 1, 1];
    checkOptions(`options of ${this.#model.name}.grid`, options, GRID_OPTIONS);
    checkNames(this.#model, args);
    call.enter();
    try {
      if (!this.#model.pointers.some(({ name }) => isTensor(own(args, name)))) {
        return gridForSizes(call, args, own(options, "variant"));
      }
      const { variant, stream } = form.gather(call, args, options);
      call.setAddresses();
      const instance = chooseInstance(call, variant, this.#targetOn(stream), undefined);
      computeGrid(call, instance, undefined, grid);
      return grid;
    } finally {
      call.clear();
    }
  }

  /** The instance to launch; undefined when the grid is empty. */
  #check(
    { variant, stream }: Gathered<Name>,
    options: AnyOptions,
  ): InstanceModel<Name> | undefined {
    const call = this.#call;
    call.setAddresses();
    const wanted = own(options, "grid");
    const device = wanted === undefined ? stream.device.info : undefined;
    const instance = chooseInstance(call, variant, this.#targetOn(stream), device);
    // An empty launch touches nothing and can break no promise.
    if (!computeGrid(call, instance, wanted, this.#grid)) return undefined;
    checkDemands(call, instance);
    checkBounds(call, instance, this.#grid, this.#touched);
    checkOverlap(call, instance, this.#touched);
    checkSelfOverlap(call, instance);
    return instance;
  }

  /** The target of the device's image, which is loaded for it; empty where all targets have the same instances. */
  #targetOn({ device }: Stream): string {
    return this.#model.isByTarget ? this.#loaded.on(device).target : "";
  }

  /** Writes the call's arguments into a launcher's block. */
  #fill({ view }: Launcher, { layout: { dtypes, offsets } }: InstanceModel<Name>): void {
    const { tensors, scalars, model } = this.#call;
    for (const { position } of model.pointers) {
      view.setBigUint64(offsets[position] ?? 0, tensors[position]?.address ?? 0n, true);
    }
    for (const position of model.scalars) {
      const value = scalars[position];
      if (value !== undefined) {
        SCALARS[dtypes[position] ?? "int32"].write(view, offsets[position] ?? 0, value);
      }
    }
  }

  /** Launches and counts. */
  #profile(prepared: PreparedLaunch, [x, y, z]: Grid, stream: Stream): LaunchProfile {
    const { name } = this.#model;
    if (stream.recording !== undefined) {
      throw new LaunchError(`Cannot profile ${name}: its launch is recorded, not done`, {
        hint: "profile a launch outside `stream.capture()`",
      });
    }
    if (prepared.profile === undefined) {
      throw new LaunchError(`Cannot profile ${name} on ${stream.device.label}`, {
        hint: `only the emulator counts what kernels do: ${EMULATOR_REQUEST}`,
      });
    }
    return prepared.profile(x, y, z, stream.handle);
  }

  /** Lets the stream wait for other streams' work on the memory. */
  #use(stream: Stream, { constants }: LoadedKernel<Name>): void {
    const { tensors, model } = this.#call;
    for (const constant of constants) constant.use(stream, false);
    for (const { position, isWritten } of model.pointers) {
      tensors[position]?.buffer.use(stream, isWritten);
    }
  }

  /** What a prepared call does; it keeps the tensors alive. */
  #launchAgain(
    launcher: Launcher,
    stream: Stream,
    { constants }: LoadedKernel<Name>,
  ): () => void {
    const { tensors, model } = this.#call;
    const uses = model.pointers.flatMap(({ position, isWritten }) => {
      const tensor = tensors[position];
      return tensor === undefined || tensor === null ? [] : [{ tensor, isWritten }];
    });
    const { prepared } = launcher;
    const grid: Grid = [...this.#grid];
    return () => {
      for (const constant of constants) constant.use(stream, false);
      for (const { tensor, isWritten } of uses) {
        // A disposed view's buffer may live on; its address says that it must not be used.
        if (tensor.disposed) tensor.address;
        tensor.buffer.use(stream, isWritten);
      }
      const [x, y, z] = blocksOf(launcher, grid, stream);
      prepared.launch(x, y, z, stream.handle);
    };
  }
}

function wantsProfile(options: NamedValues): boolean {
  const profile = own(options, "profile");
  if (profile === undefined || typeof profile === "boolean") return profile === true;
  throw new ArgumentError({
    argument: "profile",
    expected: "true",
    actual: describeValue(profile),
  });
}
