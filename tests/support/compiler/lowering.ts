/** Source text to laid-out functions and PTX data, instance by instance, for tests of the back end. */
import { assertEquals } from "../assert.ts";
import { DiagnosticCollector } from "../../../compiler/driver/diagnostics.ts";
import { buildInstance, buildOptions } from "../../../compiler/driver/instance_build.ts";
import type { Func, Op } from "../../../compiler/ir/func.ts";
import { walkOps } from "../../../compiler/ir/walk.ts";
import { type LoweredEntry, lowerEntry } from "../../../compiler/driver/lower_entry.ts";
import { instanceTexts } from "../../../compiler/driver/instance_texts.ts";
import { planFile } from "../../../compiler/driver/compile_file.ts";
import type { PtxKernel } from "../../../compiler/ptx/func.ts";
import { printModule } from "../../../compiler/ptx/print.ts";
import { requiredVersion } from "../../../compiler/ptx/version.ts";
import { must } from "../../../compiler/support/bug.ts";
import { Reporter } from "../../../compiler/support/diagnostic.ts";
import { ALL_TARGETS, type TargetName } from "../../../compiler/targets.ts";

/** One specialisation of one instance, all the way down. */
export interface LoweredInstance {
  /** Name of the kernel's variant. */
  readonly variant: string;
  /** Conditions of the specialisation; empty for the general one. */
  readonly conditions: readonly string[];
  /** After layout assignment and ordering. */
  readonly laidOut: Func;
  readonly kernel: PtxKernel;
  readonly globals: LoweredEntry["globals"];
  readonly externs: LoweredEntry["externs"];
  readonly threads: number;
  readonly sharedBytes: number;
  /** Another target has the same code, unless the text asks for the architecture. */
  readonly sameAnswers: LoweredEntry["sameAnswers"];
}

/** All instances of the kernels in a text without mistakes, or of one; laid-out functions are verified. */
export function lowerText(
  text: string,
  target: TargetName = "sm_80",
  kernel?: string,
): LoweredInstance[] {
  const options = {
    targets: [target],
    verify: true,
    ...(kernel === undefined ? {} : { kernels: [kernel] }),
  };
  const collector = new DiagnosticCollector();
  const reporter = new Reporter();
  const { front, kernels } = planFile({ name: "k.tc", text }, options, collector, reporter);
  const found = kernels.flatMap(({ site, plan }) =>
    plan.instances.flatMap((instance): LoweredInstance[] => {
      const texts = instanceTexts(front, site, instance, [target]);
      const [{ value: checked }] = texts;
      collector.addInstance(site.offset, "", [...checked.general, ...checked.own]);
      const built = buildInstance(
        texts,
        plan,
        instance,
        buildOptions(options, instance),
        reporter,
      );
      return (built?.funcs ?? []).map(({ func, specialization, entry }) => {
        const { func: laidOut, ...lowered } = lowerEntry(func, {
          ...entry,
          target: ALL_TARGETS[target],
          symbol: site.name,
          watch: { verify: true },
        });
        const { kernel, globals, externs, threads, sharedBytes, sameAnswers } = lowered;
        return {
          variant: instance.variant.name,
          conditions: specialization.conditions.map((one) => one.text),
          laidOut,
          kernel,
          globals,
          externs,
          threads,
          sharedBytes,
          sameAnswers,
        };
      });
    })
  );
  collector.addGeneral(reporter.diagnostics);
  const diagnostics = collector.finish("k.tc", {});
  assertEquals(diagnostics.map(({ code, message }) => `${code} ${message}`), []);
  return found;
}

/** The instance without assumptions of a text with one kernel. */
export function lowerGeneral(text: string, target: TargetName = "sm_80"): LoweredInstance {
  return must(
    lowerText(text, target).find(({ conditions }) => conditions.length === 0),
    "general instance",
  );
}

/** The operations of a function that have this name, in order. */
export function opsNamed(func: Func, name: Op["name"]): Op[] {
  const found: Op[] = [];
  walkOps(func.body, (op) => {
    if (op.name === name) found.push(op);
  });
  return found;
}

/** A module with this entry alone, as text. */
export function printEntry(kernel: PtxKernel, target: TargetName = "sm_80"): string {
  const version = requiredVersion([kernel], ALL_TARGETS[target].ptx);
  return printModule({
    version,
    target,
    files: [],
    variables: [],
    functions: [],
    kernels: [kernel],
  });
}
