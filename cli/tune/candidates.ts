/** What there is to time: every configuration of a file's kernels, compiled and assembled on its own. */
import type { CompiledKernel, CompiledModule, CompileOptions } from "../../compiler/options.ts";
import type { InstanceInfo } from "../../compiler/contract/types.ts";
import { groupBy } from "../../compiler/support/group_by.ts";
import { must } from "../../compiler/support/bug.ts";
import { ALL_TARGETS, type TargetName } from "../../compiler/targets.ts";
import { sha256 } from "../files/hash.ts";
import { instancesOn } from "../report/facts.ts";
import { occupancyOf } from "../report/occupancy.ts";
import { mapPool } from "../tools/process.ts";
import {
  assemble,
  type Assembler,
  chooseAssembler,
  ptxVersionOf,
  type Resources,
} from "../tools/ptxas.ts";
import type { Source } from "../project/project.ts";
import type { Compiler } from "../tools/toolchain.ts";

/** One configuration of a kernel for one target, with entries for all variants that may have it. */
export interface CompiledConfig {
  readonly config: string;
  readonly kernel: CompiledKernel;
  readonly module: CompiledModule;
  /** Undefined where no assembler is; the driver then takes PTX. */
  readonly cubin: Uint8Array | undefined;
  readonly resources: Readonly<Record<string, Resources>>;
}

/** An entry that can be timed. */
export interface Candidate {
  readonly compiled: CompiledConfig;
  readonly instance: InstanceInfo;
  /** Identifies the code, independent of the entry's name and its location in the source. */
  readonly code: string;
  /** Why it cannot run on the target, if that is known. */
  readonly misfit: string | undefined;
}

/** Entries of which a launch takes one: they differ in configuration alone. */
export interface Group {
  readonly source: Source;
  readonly target: TargetName;
  readonly kernel: string;
  readonly variant: string;
  readonly specialization: string;
  readonly key: readonly string[];
  readonly candidates: readonly Candidate[];
  /** The variant's instances, to see which of them a launch would take. */
  readonly siblings: readonly InstanceInfo[];
}

/** What went wrong with a configuration. */
export type Complaint = (config: string, message: string) => void;

/** Compiles all configurations of the kernels that have a choice. */
export async function compileGroups(
  source: Source,
  options: CompileOptions,
  compiler: Compiler,
  assemblers: readonly Assembler[],
  jobs: number,
  complain: Complaint,
): Promise<Group[]> {
  const choices = compiler.listConfigurations(source.file, options)
    .filter(({ isChoice }) => isChoice);
  const compiled: Omit<CompiledConfig, "cubin" | "resources">[] = [];
  for (const { kernel, configs } of choices) {
    for (const config of configs) {
      const result = compiler.compileFile(source.file, {
        ...options,
        kernels: [kernel],
        configurations: { only: config },
      });
      const error = result.diagnostics.find(({ severity }) => severity === "error");
      if (error !== undefined) complain(`${kernel}, ${config}`, `${error.code} ${error.message}`);
      for (const kernel of result.kernels) {
        for (const module of kernel.modules) {
          if (module.entries.length > 0) compiled.push({ config, kernel, module });
        }
      }
      await Promise.resolve();
    }
  }
  const assembled = await mapPool(compiled, jobs, async (one): Promise<CompiledConfig[]> => {
    const { module: { target, ptx }, config, kernel } = one;
    const assembler = chooseAssembler(assemblers, target, ptxVersionOf(ptx));
    if (typeof assembler === "string") return [{ ...one, cubin: undefined, resources: {} }];
    const outcome = await assemble(assembler, target, ptx);
    if (outcome.kind === "cubin") return [{ ...one, ...outcome }];
    complain(`${kernel.name}, ${config}`, outcome.message);
    return [];
  });
  return groupsOf(source, assembled.flat());
}

function groupsOf(source: Source, compiled: readonly CompiledConfig[]): Group[] {
  const entries = compiled.flatMap((one) =>
    instancesOn(one.kernel, one.module.target).map((instance) => ({ compiled: one, instance }))
  );
  const sets = groupBy(
    entries,
    ({ compiled: { kernel, module }, instance }) =>
      JSON.stringify([
        kernel.name,
        module.target,
        instance.variant.name,
        specializationOf(instance),
      ]),
  );
  return [...sets.values()].filter((set) => set.length > 1).map((set): Group => {
    const { compiled: { kernel, module }, instance } = must(set[0], "an entry");
    const siblings = new Map(
      entries.filter((entry) =>
        entry.compiled.kernel.name === kernel.name &&
        entry.compiled.module.target === module.target &&
        entry.instance.variant.name === instance.variant.name
      ).map((entry) => [specializationOf(entry.instance), entry.instance]),
    );
    return {
      source,
      target: module.target,
      kernel: kernel.name,
      variant: instance.variant.name,
      specialization: specializationOf(instance),
      key: kernel.key,
      candidates: set.map(({ compiled, instance }) => ({
        compiled,
        instance,
        code: codeOf(compiled.module, instance.symbol),
        misfit: misfitOf(compiled, instance),
      })),
      siblings: inOrder([...siblings.values()]),
    };
  });
}

/**
 * Instances by the number of their condition, as a launch tries them. Configurations list them in other orders: each has
 * those that its filter lets through.
 */
function inOrder(instances: readonly InstanceInfo[]): InstanceInfo[] {
  const numberOf = (one: InstanceInfo): number =>
    Number(/^s(\d+)/.exec(specializationOf(one))?.[1] ?? 0);
  return instances.toSorted((a, b) => numberOf(a) - numberOf(b));
}

/** `general`, or what the entry's name ends in. */
export function specializationOf({ symbol, specialization }: InstanceInfo): string {
  return specialization.length === 0 ? "general" : symbol.slice(symbol.lastIndexOf("_") + 1);
}

/** Lines that are source locations, or that depend on what is compiled with the entry: the most that one of all needs. */
const NOT_OF_THE_CODE = /^\s*\.(?:loc|file|version|extern \.shared)\b.*\n/gm;

/** The hash of the entry and its forms, without names; the same whatever is compiled with it. */
function codeOf({ ptx, entries }: CompiledModule, symbol: string): string {
  const { forms = [] } = must(entries.find((one) => one.symbol === symbol), `entry ${symbol}`);
  const names = [...forms.map((form) => form.symbol), symbol];
  const own = ptx.split(/(?=^\.visible \.entry )/m).filter((text) =>
    !text.startsWith(".visible .entry ") || names.some((name) => isEntry(text, name))
  );
  const parts = own.map((text) =>
    text.replace(NOT_OF_THE_CODE, "").replace(/\/\/.*$/gm, "").trimEnd()
  );
  const text = names.reduce((text, name) => text.replaceAll(name, "entry"), parts.join("\n"));
  return sha256(text).slice(0, 16);
}

function isEntry(text: string, symbol: string): boolean {
  return /^\.visible \.entry ([\w$]+)/.exec(text)?.[1] === symbol;
}

/** What the assembler's report says against running the entry. */
function misfitOf(
  { module, resources }: CompiledConfig,
  { symbol }: InstanceInfo,
): string | undefined {
  const target = ALL_TARGETS[module.target];
  const entry = must(module.entries.find((one) => one.symbol === symbol), `entry ${symbol}`);
  const found = resources[symbol];
  const sharedBytes = entry.sharedBytes + (found?.sharedBytes ?? 0);
  if (sharedBytes > target.sharedBytesPerBlock) {
    return `needs ${sharedBytes} bytes of shared memory; ${target.name} has ${target.sharedBytesPerBlock}`;
  }
  if (found === undefined) return undefined;
  const needs = { threads: entry.threads, registers: found.registers, sharedBytes };
  return occupancyOf(target, needs).blocks > 0
    ? undefined
    : `${entry.threads} threads of ${found.registers} registers are more than ${target.name} has`;
}
