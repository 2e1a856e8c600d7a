/** `tri inspect`: prints one stage of one file. */
import type { CompiledEntry, CompileResult } from "../compiler/options.ts";
import type { Diagnostic } from "../compiler/support/diagnostic.ts";
import { nearest } from "../compiler/support/spelling.ts";
import type { CommandContext } from "./commands.ts";
import { environmentError, EXIT, Failure, usageError } from "./failure.ts";
import { includeFinder } from "./include.ts";
import type { Invocation } from "./parse.ts";
import { runProcess } from "./process.ts";
import {
  assemble,
  type Assembler,
  chooseAssembler,
  findAssemblers,
  ptxVersionOf,
  type Resources,
} from "./ptxas.ts";
import { ScratchFile } from "./scratch_file.ts";
import { checkKernelNames, hasErrors, openSession, showDiagnostics } from "./session.ts";
import { COMPILER_STAGES } from "./toolchain.ts";
import { findTools } from "./tools.ts";

const STAGES = [...COMPILER_STAGES, "sass", "report"] as const;
/** Stages of the compiler that differ between architectures. */
const PER_TARGET: ReadonlySet<string> = new Set(["layout", "ptx"]);

/** The body of the command. */
export async function runInspect(invocation: Invocation, context: CommandContext): Promise<number> {
  const stage = stageNamed(invocation.text("stage") ?? "ptx");
  if (invocation.operands.length !== 1) {
    throw usageError("tri inspect takes one file", "tri inspect FILE --stage ptx");
  }
  const { project, sources, optionsFor } = await openSession(invocation);
  const [source, another] = sources;
  if (source === undefined || another !== undefined) {
    throw usageError("tri inspect takes one file, not a folder of several");
  }
  if (hasErrors(project.reporter.diagnostics)) {
    await showDiagnostics(project.reporter.diagnostics, context);
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
  const compilerStage = COMPILER_STAGES.find((name) => name === stage);
  if (compilerStage !== undefined) {
    for (const target of PER_TARGET.has(stage) ? options.targets : options.targets.slice(0, 1)) {
      const text = compiler.inspect(source.file, { ...options, targets: [target] }, compilerStage);
      context.terminal.print(withNewline(text));
    }
  }
  const result = compiler.compileFile(source.file, options);
  if (result.kernels.length < kernels.length && !hasErrors(result.diagnostics)) {
    const { kernels: _filter, ...whole } = options;
    checkKernelNames(invocation, compiler.compileFile(source.file, whole).kernels);
  }
  // The early stages of a faulty file are there to be looked at; what is wrong is said beside them.
  if (compilerStage !== undefined || hasErrors(result.diagnostics)) {
    return await finish(result.diagnostics, context);
  }
  const images = await assembleModules(result);
  if (stage === "sass") await printSass(images, context);
  else printReport(images, context);
  return EXIT.ok;
}

function stageNamed(word: string): (typeof STAGES)[number] {
  const stage = STAGES.find((name) => name === word);
  if (stage !== undefined) return stage;
  const near = nearest(word, STAGES);
  throw usageError(
    `Unknown stage: ${word}`,
    near === undefined ? `Known: ${STAGES.join(", ")}.` : `Did you mean ${near}?`,
  );
}

async function finish(
  diagnostics: readonly Diagnostic[],
  context: CommandContext,
): Promise<number> {
  await showDiagnostics(diagnostics, context);
  return hasErrors(diagnostics) ? EXIT.kernels : EXIT.ok;
}

interface AssembledModule {
  readonly kernel: string;
  readonly arch: string;
  readonly assembler: Assembler;
  readonly cubin: Uint8Array;
  readonly resources: Readonly<Record<string, Resources>>;
  /** What each entry is launched with; adds the dynamic shared memory that the assembler cannot see. */
  readonly entries: readonly CompiledEntry[];
}

/** One cubin for each kernel and each architecture that an assembler here knows; at least one. */
async function assembleModules(result: CompileResult): Promise<AssembledModule[]> {
  const { usable } = await findAssemblers();
  const reasons = new Set<string>();
  const images: AssembledModule[] = [];
  for (const { name, modules } of result.kernels) {
    for (const { target, ptx, entries } of modules) {
      const assembler = chooseAssembler(usable, target, ptxVersionOf(ptx));
      if (typeof assembler === "string") {
        reasons.add(assembler);
        continue;
      }
      const made = await assemble(assembler, target, ptx);
      if (made.kind === "failed") {
        throw new Failure(
          EXIT.kernels,
          `${assembler.path} refused the code of ${name} for ${target}:\n${made.message}`,
          "This is a defect in tri; please report it.",
        );
      }
      images.push({
        kernel: name,
        arch: target,
        assembler,
        cubin: made.cubin,
        resources: made.resources,
        entries,
      });
    }
  }
  if (images.length === 0) {
    throw environmentError(
      [...reasons].join("; ") || "there is no kernel",
      "Install the CUDA toolkit, or name its ptxas in TRI_PTXAS.",
    );
  }
  return images;
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
  using scratch = new ScratchFile("image.cubin", cubin);
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

const REPORT_COLUMNS = [
  "instance",
  "arch",
  "registers",
  "shared",
  "stack",
  "spill stores",
  "spill loads",
] as const;

function printReport(images: readonly AssembledModule[], { terminal }: CommandContext): void {
  const rows = images.flatMap(({ arch, resources, entries }) =>
    Object.entries(resources).map(([symbol, found]) => [
      symbol,
      arch,
      ...[
        found.registers,
        found.sharedBytes + (entries.find((entry) => entry.symbol === symbol)?.sharedBytes ?? 0),
        found.stackBytes,
        found.spillStoreBytes,
        found.spillLoadBytes,
      ].map(String),
    ])
  );
  const widths = REPORT_COLUMNS.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0))
  );
  const print = (cells: readonly string[]): string =>
    cells.map((cell, column) =>
      column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
    ).join("  ");
  terminal.print([REPORT_COLUMNS, ...rows].map((row) => `${print(row).trimEnd()}\n`).join(""));
}

function withNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
