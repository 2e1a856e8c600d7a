/** Runs every entry of compiled kernels once on the emulator, to count what it does. */
import type { CompiledKernel } from "../../compiler/options.ts";
import { must } from "../../compiler/support/bug.ts";
import {
  defineKernel,
  Device,
  type FormChoice,
  type LaunchProfile,
  type Stream,
  TriError,
} from "../../ffi/mod.ts";
import { type Arguments, chooseArguments, scalarValues, type Sizes } from "./arguments.ts";
import { factsOf, instancesOn } from "./facts.ts";

/** An entry or a form of one, and what it did. */
export interface EntryRun {
  readonly kernel: string;
  /** Its name in the module. */
  readonly instance: string;
  readonly arch: string;
  readonly outcome: Ran | NotRun;
}

/** An entry that finished. */
export interface Ran {
  readonly kind: "ran";
  readonly scalars: Sizes;
  readonly profile: LaunchProfile;
}

/** An entry that could not be launched, or failed. */
export interface NotRun {
  readonly kind: "not run";
  readonly reason: string;
}

/** The part of a kernel function that this needs. */
interface Launchable {
  launch(
    args: Readonly<Record<string, unknown>>,
    options: {
      readonly variant: string;
      readonly form: FormChoice;
      readonly stream: Stream;
      readonly profile: true;
    },
  ): LaunchProfile;
}

/**
 * Runs all entries of a kernel for all of its targets, and the form that such a launch takes where an entry has forms;
 * `sizes` replaces what contracts would choose.
 */
export function runKernel(kernel: CompiledKernel, sizes: Sizes): EntryRun[] {
  return kernel.modules.flatMap((module) => {
    const { target } = module;
    const facts = factsOf(kernel, module);
    const launchable: Launchable = defineKernel(facts);
    using device = Device.open({ device: "emulator", arch: target.replace(/a$/, "") });
    return instancesOn(kernel, target).flatMap((instance) => {
      const { symbol } = instance;
      const chosen = chooseArguments(instance, sizes);
      const run = (form: FormChoice, name: string): EntryRun => {
        const outcome = runInstance(launchable, symbol, form, chosen, device);
        const ran = outcome.kind === "ran" ? outcome.profile.kernel : name;
        return { kernel: kernel.name, instance: ran, arch: target, outcome };
      };
      const [first] = module.entries.find((entry) => entry.symbol === symbol)?.forms ?? [];
      return [run("plain", symbol), ...first === undefined ? [] : [run("fast", first.symbol)]];
    });
  });
}

function runInstance(
  kernel: Launchable,
  variant: string,
  form: FormChoice,
  chosen: Arguments | string,
  device: Device,
): Ran | NotRun {
  if (typeof chosen === "string") return { kind: "not run", reason: chosen };
  const { scalars, tensors, absent } = chosen;
  using made = new DisposableStack();
  try {
    const arguments_ = scalarValues(chosen);
    for (const name of absent) arguments_[name] = null;
    for (const { param, dtype, shape, strides, isRead } of tensors) {
      const make = isRead ? device.zeros.bind(device) : device.empty.bind(device);
      arguments_[param] = made.use(make(dtype, shape, { strides }));
    }
    const profile = kernel.launch(arguments_, {
      variant,
      form,
      stream: device.defaultStream,
      profile: true,
    });
    return { kind: "ran", scalars, profile };
  } catch (error) {
    if (!(error instanceof TriError)) throw error;
    return { kind: "not run", reason: must(error.message.split("\nhint: ")[0], "message") };
  }
}
