/** Runs the chosen entry on the emulator, with inputs that can be seen and every check on. */
import { chooseArguments, scalarValues, type Sizes } from "../../cli/report/arguments.ts";
import { factsOf, instancesOn } from "../../cli/report/facts.ts";
import { type Finding, findingOf, LISTED_CHECKS } from "../../cli/report/finding.ts";
import type { TracedTensor } from "../../cli/report/trace.ts";
import { compileFile, planFile } from "../../compiler/driver/compile_file.ts";
import { DiagnosticCollector } from "../../compiler/driver/diagnostics.ts";
import { evaluate } from "../../compiler/contract/expr.ts";
import type { InstanceInfo } from "../../compiler/contract/types.ts";
import type {
  CompiledKernel,
  CompiledModule,
  CompileOptions,
  KernelOutline,
} from "../../compiler/options.ts";
import { Reporter } from "../../compiler/support/diagnostic.ts";
import { elementReader, fillElements } from "../../ffi/tensors/elements.ts";
import {
  type DebugLaunch,
  defineKernel,
  Device,
  DTYPES,
  EmulatorError,
  type LaunchProfile,
  type Stream,
  type Tensor,
  TriError,
} from "../../ffi/mod.ts";
import { DEFAULT_FILL, elementsOf, type Fill } from "./inputs.ts";
import { prepare, type Program, targetOf } from "./program.ts";

/** What a launch is called with. */
export interface Call {
  /** Values of scalar parameters; others are chosen. */
  readonly sizes: Readonly<Record<string, number>>;
  /** Extents that nothing says. */
  readonly extent: number;
  /** Instructions of a block after which it is taken for one that never ends. */
  readonly budget: number;
  /** By the name of the tensor; others have {@linkcode DEFAULT_FILL}. */
  readonly fills: Readonly<Record<string, Fill>>;
  /** The entry; what a wrapper would choose when empty. */
  readonly entry: string;
}

/** A tensor as it is seen. */
export interface SeenTensor {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly role: "in" | "out" | "inout";
  /** Row by row; absent where the kernel only writes. */
  readonly before?: Float64Array;
  /** Absent where the kernel only reads, or nothing was written. */
  readonly after?: Float64Array;
}

/** What became of a launch. */
export interface Ran {
  readonly kind: "ran";
  readonly entry: string;
  readonly scalars: Readonly<Record<string, number>>;
  readonly tensors: readonly SeenTensor[];
  /** Absent where the launch ended early. */
  readonly profile?: LaunchProfile;
  readonly findings: readonly Finding[];
  readonly printed: string;
  readonly milliseconds: number;
}

/** Why there was no launch. */
export interface NotRun {
  readonly kind: "not run";
  readonly reason: string;
  readonly hint: string;
}

/** A kernel function, as far as this needs it. */
interface Launchable {
  launch(
    args: Readonly<Record<string, unknown>>,
    options: {
      readonly variant: string;
      readonly stream: Stream;
      readonly profile: true;
    },
  ): LaunchProfile;
}

/** Walks through a launch before it runs to its end; `options` are those that its kernel was compiled with. */
export type Walk = (
  launch: DebugLaunch,
  tensors: readonly TracedTensor[],
  options: CompileOptions,
) => void;

/**
 * Compiles and launches. Contracts are made until one decides which entry is taken, and code for that one alone. A launch
 * that is walked through is not profiled.
 */
export function run(program: Program, call: Call, walk?: Walk): Ran | NotRun {
  const { file, options } = prepare(program, "chosen");
  const { kernels: [outline], diagnostics } = compileFile(file, {
    ...options,
    checkOnly: true,
    isEnough: (instances) => decidedAmong(instances, program, call) !== undefined,
  });
  if (outline === undefined) {
    const error = diagnostics.find(({ severity }) => severity === "error");
    return {
      kind: "not run",
      reason: error === undefined ? "the text has no kernel" : error.message,
      hint: error?.hint ?? "",
    };
  }
  const chosen = chooseInstance(outline, program, call);
  const only = chosen === undefined ? undefined : labelOf(program, outline.name, chosen);
  const choice = only === undefined ? options : { ...options, configurations: { only } };
  const { kernels: [kernel], diagnostics: [refusal] } = compileFile(file, choice);
  const [module] = kernel?.modules ?? [];
  const instance = kernel?.instances.find(({ symbol }) => symbol === chosen?.symbol);
  if (kernel === undefined || module === undefined || instance === undefined) {
    const reason = refusal?.message ?? "the target has no entry of this kernel";
    return { kind: "not run", reason, hint: refusal?.hint ?? "" };
  }
  const walked = walk &&
    ((debugged: DebugLaunch, placed: readonly TracedTensor[]): void =>
      walk(debugged, placed, choice));
  return launch(kernel, module, instance, program, call, walked);
}

/** How `--configuration` would name the configuration of an instance; undefined where there is no choice. */
function labelOf(program: Program, name: string, instance: InstanceInfo): string | undefined {
  const { file, options } = prepare(program, "chosen");
  const collector = new DiagnosticCollector();
  const { kernels } = planFile(file, options, collector, new Reporter());
  const plans = kernels.find(({ site }) => site.name === name)?.plan.instances ?? [];
  const same = (
    a: Readonly<Record<string, string>>,
    b: Readonly<Record<string, string>>,
  ): boolean => Object.entries(a).every(([key, value]) => b[key] === value);
  const labels = plans.flatMap(({ config, options: { numWarps }, configuration: { label } }) =>
    same(config, instance.config.bindings) &&
      [undefined, instance.config.numWarps].includes(numWarps)
      ? [label]
      : []
  );
  // Options beside these two are not part of an instance: where they decide, everything is compiled.
  return new Set(labels).size === 1 && labels[0] !== "" ? labels[0] : undefined;
}

/** The entry that is asked for, else the most special one whose conditions hold. */
function chooseInstance(
  kernel: KernelOutline,
  program: Program,
  call: Call,
): InstanceInfo | undefined {
  const decided = decidedAmong(kernel.instances, program, call);
  if (decided !== undefined) return decided;
  const all = instancesOn(kernel, targetOf(program));
  const fitting = fittingOf(all, call);
  return fitting.find(isSpecial) ?? fitting[0] ?? all[0];
}

/** What the first instances of a kernel already decide, whatever others follow them. */
function decidedAmong(
  instances: readonly InstanceInfo[],
  program: Program,
  call: Call,
): InstanceInfo | undefined {
  const known = instancesOn({ instances }, targetOf(program));
  return call.entry === ""
    ? fittingOf(known, call).find(isSpecial)
    : known.find(({ symbol }) => symbol === call.entry);
}

const isSpecial = ({ specialization }: InstanceInfo): boolean => specialization.length > 0;

/** Those whose conditions hold. */
function fittingOf(
  instances: readonly InstanceInfo[],
  { sizes, extent }: Call,
): readonly InstanceInfo[] {
  const [general] = instances;
  if (general === undefined) return [];
  const chosen = chooseArguments(general, mapOf(sizes), extent);
  if (typeof chosen === "string") return [];
  const { scalars } = chosen;
  // Allocations begin at multiples of every alignment.
  const environment = { param: (name: string): number => scalars.get(name) ?? 0 };
  return instances.filter(({ specialization }) =>
    specialization.every(({ condition }) => evaluate(condition, environment) !== 0n)
  );
}

function launch(
  kernel: CompiledKernel,
  module: CompiledModule,
  instance: InstanceInfo,
  program: Program,
  call: Call,
  walk: ((launch: DebugLaunch, tensors: readonly TracedTensor[]) => void) | undefined,
): Ran | NotRun {
  const chosen = chooseArguments(instance, mapOf(call.sizes), call.extent);
  if (typeof chosen === "string") {
    const hint = "`#pragma tri tensor X : in float[M, N]` states the shape of X.";
    return { kind: "not run", reason: chosen, hint };
  }
  const printed: string[] = [];
  const arch = targetOf(program).replace(/a$/, "");
  const placed: TracedTensor[] = [];
  const device = Device.open({
    device: "emulator",
    arch,
    checks: LISTED_CHECKS,
    budget: call.budget,
    workers: 1,
    print: (text) => printed.push(text),
    warn: () => {},
    ...(walk === undefined ? {} : { debug: (launch: DebugLaunch) => walk(launch, placed) }),
  });
  try {
    const made = chosen.tensors.map((plan) => {
      const { param, dtype, shape, strides, isRead } = plan;
      if (!isRead) return { plan, tensor: device.empty(dtype, shape, { strides }) };
      const isInteger = !dtype.includes("float");
      const fill = call.fills[param] ?? DEFAULT_FILL;
      const at = elementsOf(fill, shape, isInteger);
      const tensor = device.empty(dtype, shape, { strides });
      if (fill.kind === "unwritten") return { plan, tensor };
      tensor.write(fillElements(dtype, tensor.elements, at));
      return { plan, tensor };
    });
    const args = scalarValues(chosen);
    for (const name of chosen.absent) args[name] = null;
    for (const { plan, tensor } of made) args[plan.param] = tensor;
    const before = made.map(({ plan: { param, isRead }, tensor }) =>
      isRead && call.fills[param]?.kind !== "unwritten" ? valuesOf(tensor) : undefined
    );
    for (const { plan: { param: name, dtype, shape }, tensor: { address } } of made) {
      placed.push({ name, shape, address, bytes: DTYPES[dtype].bytes });
    }
    const launchable: Launchable = defineKernel(factsOf(kernel, module));
    const started = performance.now();
    const outcome = attempt(() =>
      launchable.launch(args, {
        variant: instance.symbol,
        stream: device.defaultStream,
        profile: true,
      })
    );
    const milliseconds = performance.now() - started;
    if ("refused" in outcome) {
      const [reason = "", hint = ""] = outcome.refused.message.split("\nhint: ");
      return { kind: "not run", reason, hint };
    }
    const writes = new Map(
      instance.contract.params.flatMap((param) =>
        param.kind === "pointer" ? [[param.name, param.access]] : []
      ),
    );
    const { profile, fault } = outcome;
    return {
      kind: "ran",
      entry: profile?.kernel ?? instance.symbol,
      scalars: Object.fromEntries(chosen.scalars),
      tensors: made.map(({ plan: { param, dtype, shape }, tensor }, index): SeenTensor => {
        const access = writes.get(param);
        const role = access === "out" || access === "inout" ? access : "in";
        const [old, after] = [before[index], role === "in" ? undefined : valuesOf(tensor)];
        return {
          name: param,
          dtype,
          shape,
          role,
          ...(old === undefined ? {} : { before: old }),
          ...(after === undefined ? {} : { after }),
        };
      }),
      ...(profile === undefined ? {} : { profile }),
      findings: [
        ...(profile?.warnings ?? []).map((each) => findingOf(each, false)),
        ...fault === undefined ? [] : [findingOf(fault, true)],
      ],
      printed: printed.join(""),
      milliseconds,
    };
  } finally {
    device.dispose();
  }
}

/** A profile, the fault that ended the launch, or why there was none. */
function attempt(launch: () => LaunchProfile): {
  readonly profile?: LaunchProfile;
  readonly fault?: EmulatorError;
} | { readonly refused: TriError } {
  try {
    return { profile: launch() };
  } catch (error) {
    if (error instanceof EmulatorError) return { fault: error };
    if (error instanceof TriError) return { refused: error };
    throw error;
  }
}

/** Elements row by row, as numbers. */
function valuesOf(tensor: Tensor): Float64Array {
  const { dtype, shape } = tensor;
  const count = shape.reduce((a, b) => a * b, 1);
  const values = new Float64Array(count);
  if (count === 0) return values;
  const host = tensor.readSync();
  const bytes = new Uint8Array(host.byteLength);
  bytes.set(new Uint8Array(host.buffer, host.byteOffset, host.byteLength));
  const read = elementReader(dtype, bytes);
  for (let i = 0; i < count; i++) values[i] = Number(read(i));
  return values;
}

const mapOf = (sizes: Readonly<Record<string, number>>): Sizes => new Map(Object.entries(sizes));
