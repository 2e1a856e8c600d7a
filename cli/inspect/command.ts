/** `tri inspect`: prints one phase of one file, or what passes make of it. */
import type { Diagnostic } from "../../compiler/support/diagnostic.ts";
import { type AssembledModule, assembleModules, noAssembler } from "../build/assembled_modules.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { inspectIrFile, isIrFile, passAfter, StepTimes } from "./passes.ts";
import { type Phase, PHASES } from "../words/options.ts";
import { environmentError, EXIT, usageError } from "../failure.ts";
import { showDiagnostics, type View } from "../diagnostics/format.ts";
import { includeFinder } from "../project/include.ts";
import { runProcess } from "../tools/process.ts";
import { scratchFile } from "../files/scratch_file.ts";
import { firstBuilds } from "../project/project.ts";
import { checkKernelNames, hasErrors, openSession } from "../project/session.ts";
import { COMPILER_PHASES } from "../tools/toolchain.ts";
import { findTools } from "../tools/tools.ts";

/** Phases of the compiler that differ between architectures. */
const PER_TARGET: ReadonlySet<string> = new Set(["views", "plan", "layout", "ptx"]);

/** The body of the command. */
export async function runInspect(invocation: Invocation, context: CommandContext): Promise<number> {
  const phase: Phase = PHASES.find((name) => name === invocation.text("stage")) ?? "ptx";
  const [own] = (["json", "size"] as const).filter((name) => invocation.list(name).length > 0);
  if (own !== undefined && phase !== "report") {
    throw usageError(`--${own} needs --stage report`);
  }
  if (invocation.operands.length !== 1) {
    throw usageError("tri inspect takes one file", "tri inspect FILE --stage ptx");
  }
  const [operand] = invocation.operands;
  if (isIrFile(operand)) return await inspectIrFile(operand, invocation, context);
  if (invocation.flag("passes")) throw usageError("--passes goes with a FILE.ir");
  const { project, all, optionsFor } = await openSession(invocation);
  const [source, another] = firstBuilds(all);
  if (source === undefined || another !== undefined) {
    throw usageError("tri inspect takes one file, not a folder of several");
  }
  const view: View = { format: "pretty", root: project.root };
  if (hasErrors(project.reporter.diagnostics)) {
    await showDiagnostics(project.reporter.diagnostics, context, view);
    return EXIT.kernels;
  }
  const { resolve } = includeFinder(project.root, invocation.list("include"));
  const kernels = invocation.list("kernel");
  const options = {
    ...optionsFor(source),
    include: resolve,
    ...(kernels.length === 0 ? {} : { kernels }),
  };
  const compiler = await context.toolchain.compiler();
  const after = passAfter(invocation, compiler);
  const times = invocation.flag("time") ? new StepTimes() : undefined;
  const isShown = after === undefined && times === undefined;
  const compilerPhase = COMPILER_PHASES.find((name) => name === phase);
  if (after !== undefined || (isShown && compilerPhase !== undefined)) {
    const isForTarget = after !== undefined || PER_TARGET.has(phase);
    for (const target of isForTarget ? options.targets : options.targets.slice(0, 1)) {
      const scope = { ...options, targets: [target] };
      const text = compiler.inspect(source.file, scope, compilerPhase ?? "ir", {
        ...(after === undefined ? {} : { after }),
      });
      context.terminal.print(withNewline(text));
    }
  }
  const result = compiler.compileFile(source.file, {
    ...options,
    ...(times === undefined ? {} : { clock: times }),
  });
  if (result.kernels.length < kernels.length && !hasErrors(result.diagnostics)) {
    const { kernels: _filter, ...whole } = options;
    const { kernels: known } = compiler.compileFile(source.file, whole);
    checkKernelNames(invocation, known.map(({ name }) => name));
  }
  // The early phases of a faulty file are there to be looked at; what is wrong is said beside them.
  if (compilerPhase !== undefined || !isShown || hasErrors(result.diagnostics)) {
    if (times !== undefined) context.terminal.print(times.text());
    return await finish(result.diagnostics, context, view);
  }
  if (phase === "report") {
    const { runReport } = await import("../report/run_report.ts");
    return await runReport(result, invocation, context);
  }
  const { images, missing } = await assembleModules(result);
  if (images.length === 0) throw noAssembler(missing);
  await printSass(images, context);
  return EXIT.ok;
}

async function finish(
  diagnostics: readonly Diagnostic[],
  context: CommandContext,
  view: View,
): Promise<number> {
  await showDiagnostics(diagnostics, context, view);
  return hasErrors(diagnostics) ? EXIT.kernels : EXIT.ok;
}

async function printSass(
  images: readonly AssembledModule[],
  { terminal }: CommandContext,
): Promise<void> {
  const tools = findTools("nvdisasm").filter(({ allowed }) => allowed);
  if (tools.length === 0) {
    throw environmentError(
      "no nvdisasm found",
      "Install the CUDA toolkit's nvdisasm (package cuda-nvdisasm) and put it on PATH.",
    );
  }
  for (const { kernel, arch, cubin } of images) {
    terminal.print(
      `// ${kernel} for ${arch}\n${
        withNewline(await disassemble(tools.map(({ path }) => path), arch, cubin))
      }`,
    );
  }
}

/** Tries one nvdisasm after the other: an old one does not read newer images. */
async function disassemble(
  paths: readonly string[],
  arch: string,
  cubin: Uint8Array,
): Promise<string> {
  using scratch = scratchFile(cubin);
  let reason = "";
  for (const path of paths) {
    const { code, stdout, stderr } = await runProcess(path, ["-c", scratch.path]);
    if (code === 0) return new TextDecoder().decode(stdout);
    reason = `${path}: ${stderr.trim()}`;
  }
  throw environmentError(
    `No nvdisasm here reads an image for ${arch} (${reason})`,
    "Install a newer nvdisasm and put it on PATH.",
  );
}

function withNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
