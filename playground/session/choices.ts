/** What there is to choose from: kernels, variants and configurations of a text, without compiling any. */
import { planFile } from "../../compiler/driver/compile_file.ts";
import { DiagnosticCollector } from "../../compiler/driver/diagnostics.ts";
import { Reporter } from "../../compiler/support/diagnostic.ts";
import { prepare, type Program } from "./program.ts";

/** A kernel and its parameters. */
export interface KernelChoice {
  readonly kernel: string;
  readonly variants: readonly {
    readonly name: string;
    readonly bindings: Readonly<Record<string, string>>;
  }[];
  /** Those of the variant that is chosen. */
  readonly configs: readonly string[];
}

/** The kernels of a text; none where it cannot be read. */
export function choicesOf(program: Program): readonly KernelChoice[] {
  const all = planOf(program, "all");
  const chosen = planOf(program, "chosen");
  return all.map(({ site: { name }, plan: { instances } }) => {
    const own = chosen.find(({ site }) => site.name === name)?.plan.instances ?? [];
    const variants = new Map(instances.map(({ variant }) => [variant.name, variant]));
    const labels = own.map(({ configuration }) => configuration.label).filter((each) =>
      each !== ""
    );
    return { kernel: name, variants: [...variants.values()], configs: [...new Set(labels)] };
  });
}

function planOf(program: Program, which: "all" | "chosen"): ReturnType<typeof planFile>["kernels"] {
  const { config: _config, kernel: _kernel, ...whole } = program;
  const { file, options } = prepare(whole, which);
  const every = { ...options, configurations: "all" } as const;
  return planFile(file, every, new DiagnosticCollector(), new Reporter()).kernels;
}
