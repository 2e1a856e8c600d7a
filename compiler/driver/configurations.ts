/** Which configurations the kernels of a file can have, without compiling any. */
import { DiagnosticCollector } from "./diagnostics.ts";
import type { CompileOptions } from "../options.ts";
import { planFile } from "./compile_file.ts";
import { Reporter } from "../support/diagnostic.ts";
import type { SourceFile } from "../support/source.ts";

/** A kernel and what the tuner may choose. */
export interface KernelConfigurations {
  /** The kernel's name. */
  readonly kernel: string;
  /** What filters let through for any variant, in the order of the text, as `#pragma tri config` would spell it. */
  readonly configs: readonly string[];
  /** Whether some instance has more than one of them. */
  readonly isChoice: boolean;
}

/** The configurations of each kernel. {@linkcode compileFile} says what is wrong with the file, if anything. */
export function listConfigurations(
  file: SourceFile,
  options: CompileOptions,
): readonly KernelConfigurations[] {
  const all: CompileOptions = { ...options, configurations: "all" };
  const { kernels } = planFile(file, all, new DiagnosticCollector(), new Reporter());
  return kernels.map(({ site, plan: { instances } }) => ({
    kernel: site.name,
    configs: [...new Set(instances.map(({ configuration }) => configuration.label))],
    isChoice: instances.some(({ configuration }) => configuration.suffix !== ""),
  }));
}
