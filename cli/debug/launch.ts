/** Compiles one file and launches one of its kernels on the emulator, for a debugger. */
import { evaluate } from "../../compiler/contract/expr.ts";
import type { DebugLaunch } from "../../ffi/mod.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { usageError } from "../failure.ts";
import { resolvePath } from "../files/paths.ts";
import { includeFinder } from "../project/include.ts";
import { firstBuilds } from "../project/project.ts";
import { checkKernelNames, openSession } from "../project/session.ts";
import { chooseArguments, type Sizes } from "../report/arguments.ts";
import { instancesOn } from "../report/facts.ts";
import { numberParams, readSizes } from "../words/sizes.ts";
import { launchPrepared, type PreparedLaunch } from "./prepared.ts";
import type { PlacedTensor } from "./tensors.ts";

/** What a launch is called with. */
export interface LaunchArguments {
  readonly scalars: Sizes;
  readonly tensors: readonly PlacedTensor[];
  /** Where the files lie that instructions name. */
  readonly pathOf: (file: string) => string;
  /** To launch the same again, for those who look at it in another way. */
  readonly prepared: PreparedLaunch;
}

/** Walks through a launch. */
export type Walk = (launch: DebugLaunch, called: LaunchArguments) => void;

/** Launches; what the kernel prints goes to `print`. Returns when the launch is over. */
export type Start = (walk: Walk, print: (text: string) => void) => void;

/** The default of an extent: small, because each instruction is observed. */
const EXTENT = 64;

/** Compiles the file that a command line names; throws a `Failure` that says why there is nothing to launch. */
export async function prepareLaunch(
  invocation: Invocation,
  { toolchain }: CommandContext,
): Promise<Start> {
  const [operand, more] = invocation.operands;
  if (operand === undefined || more !== undefined) {
    throw usageError("tri debug takes one file", "tri debug FILE.tc --size M=64");
  }
  const { project, all, optionsFor } = await openSession(invocation);
  const [source, another] = firstBuilds(all);
  if (source === undefined || another !== undefined) {
    throw usageError("tri debug takes one file, not a folder of several");
  }
  const [mistake] = project.reporter.diagnostics.filter(({ severity }) => severity === "error");
  if (mistake !== undefined) throw usageError(mistake.message, mistake.hint);
  const names = invocation.list("kernel");
  const { resolve } = includeFinder(project.root, invocation.list("include"));
  const compiler = await toolchain.compiler();
  const options = optionsFor(source);
  const compiling = { ...options, targets: options.targets.slice(0, 1), include: resolve };
  const { kernels, diagnostics } = compiler.compileFile(source.file, compiling);
  const error = diagnostics.find(({ severity }) => severity === "error");
  if (error !== undefined) throw usageError(`${operand}: ${error.message}`, error.hint);
  checkKernelNames(invocation, kernels.map(({ name }) => name));
  const kernel = kernels.find(({ name }) => names.length === 0 || names.includes(name));
  const [module] = kernel?.modules ?? [];
  if (kernel === undefined || module === undefined) {
    throw usageError(`${operand} has no kernel`, "A kernel is a __global__ function.");
  }
  const sizes = readSizes(invocation.list("size"), numberParams([kernel]));
  // As a wrapper does: the most special entry whose conditions hold, else the general one.
  const choices = instancesOn(kernel, module.target).map((instance) => {
    const chosen = chooseArguments(instance, sizes, EXTENT);
    const holds = typeof chosen !== "string" &&
      instance.specialization.every(({ condition }) =>
        evaluate(condition, { param: (name) => chosen.scalars.get(name) ?? 0 }) !== 0n
      );
    return { instance, chosen, holds };
  });
  const fitting = choices.filter(({ holds }) => holds);
  const taken = fitting.find(({ instance }) => instance.specialization.length > 0) ??
    fitting[0] ?? choices[0];
  if (taken === undefined) throw usageError(`${operand}: ${module.target} has no entry`);
  const { instance, chosen } = taken;
  if (typeof chosen === "string") {
    throw usageError(chosen, "`#pragma tri tensor X : in float[M, N]` states the shape of X.");
  }
  const pathOf = (file: string): string => resolvePath(project.root, file);
  const { file } = source;
  const prepared = { file, options: compiling, kernel, module, instance, chosen };
  return (walk, print) => {
    launchPrepared(prepared, {
      print,
      debug(launch, tensors): void {
        const names = compiler.namesOf(file, compiling, module.target, launch.kernel);
        if (names !== undefined) launch.nameValues(names);
        walk(launch, { scalars: chosen.scalars, tensors, pathOf, prepared });
      },
    });
  };
}
