/** A compiled kernel with chosen arguments: it can be launched as often as somebody wants to look at it. */
import { fillElements } from "../../ffi/tensors/elements.ts";
import {
  type DebugLaunch,
  defineKernel,
  Device,
  type LaunchProfile,
  type Stream,
} from "../../ffi/mod.ts";
import type { InstanceInfo } from "../../compiler/contract/types.ts";
import type { CompiledKernel, CompiledModule, CompileOptions } from "../../compiler/options.ts";
import type { SourceFile } from "../../compiler/support/source.ts";
import { type Arguments, scalarValues } from "../report/arguments.ts";
import { factsOf } from "../report/facts.ts";
import { LISTED_CHECKS } from "../report/finding.ts";
import type { PlacedTensor } from "./tensors.ts";

/** What is launched. */
export interface PreparedLaunch {
  readonly file: SourceFile;
  /** What the kernel was compiled with. */
  readonly options: CompileOptions;
  readonly kernel: CompiledKernel;
  readonly module: CompiledModule;
  readonly instance: InstanceInfo;
  readonly chosen: Arguments;
}

/** Who looks on, and what becomes of what the kernel prints. */
export interface Onlooker {
  /** Walks through the launch before it runs to its end. */
  readonly debug?: (launch: DebugLaunch, tensors: readonly PlacedTensor[]) => void;
  readonly print: (text: string) => void;
}

/** The part of a kernel function that this needs. */
interface Launchable {
  launch(
    args: Readonly<Record<string, unknown>>,
    options: { readonly variant: string; readonly stream: Stream; readonly profile: true },
  ): LaunchProfile;
}

/** Elements of inputs repeat after so many. */
const PERIOD = 17;

/** Launches on a device of its own. */
export function launchPrepared(
  prepared: PreparedLaunch,
  { debug, print }: Onlooker,
): LaunchProfile {
  const { kernel, module, instance, chosen } = prepared;
  const placed: PlacedTensor[] = [];
  using device = Device.open({
    device: "emulator",
    arch: module.target.replace(/a$/, ""),
    checks: LISTED_CHECKS,
    workers: 1,
    print,
    warn: () => {},
    ...(debug === undefined ? {} : { debug: (launch: DebugLaunch) => debug(launch, placed) }),
  });
  const args = scalarValues(chosen);
  for (const name of chosen.absent) args[name] = null;
  for (const { param: name, dtype, shape, strides, isRead } of chosen.tensors) {
    const tensor = device.empty(dtype, shape, { strides });
    // Integers may be indices, which 0 is in every extent.
    const isRamp = dtype.includes("float");
    if (isRead) {
      tensor.write(fillElements(dtype, tensor.elements, (at) => isRamp ? at % PERIOD : 0));
    }
    placed.push({ name, dtype, shape, strides, address: tensor.address });
    args[name] = tensor;
  }
  const launchable: Launchable = defineKernel(factsOf(kernel, module));
  return launchable.launch(args, {
    variant: instance.symbol,
    stream: device.defaultStream,
    profile: true,
  });
}
