/** `tri doc`: a page about kernels, from their comments and contracts. */
import { mkdirSync } from "node:fs";
import type { CommandContext, Invocation } from "../command.ts";
import { showDiagnostics } from "../diagnostics/format.ts";
import { kernelsPage } from "./page.ts";
import { EXIT, writeFailure } from "../failure.ts";
import { absolutePath, joinPath, relativePath } from "../files/paths.ts";
import { replaceFile } from "../files/replace_file.ts";
import { includeFinder } from "../project/include.ts";
import { labelOf } from "../project/project.ts";
import { hasErrors, openSession } from "../project/session.ts";

/** The body of the command. */
export async function runDoc(invocation: Invocation, context: CommandContext): Promise<number> {
  const { terminal, toolchain } = context;
  const { project, sources, optionsFor, exportsFor } = await openSession(invocation);
  const compiler = await toolchain.compiler();
  const { check } = await toolchain.codegen();
  const results = sources.map((source) => {
    const { resolve } = includeFinder(project.root, invocation.list("include"));
    const options = { ...optionsFor(source), include: resolve, checkOnly: true };
    const exports = exportsFor(source);
    return { name: labelOf(source), exports, ...compiler.compileFile(source.file, options) };
  });
  const diagnostics = [
    ...project.reporter.diagnostics,
    ...results.flatMap((result) => result.diagnostics),
  ].filter(({ severity }) => severity === "error");
  await showDiagnostics(diagnostics, context, { format: "pretty", root: project.root });
  const files = results.filter(({ kernels, exports }) =>
    kernels.length > 0 && check(kernels, exports) === undefined
  );
  const page = kernelsPage(files);
  const folder = invocation.text("out") ?? "";
  if (folder === "") terminal.print(page);
  else await writePages(page, folder, context);
  return hasErrors(diagnostics) ? EXIT.kernels : EXIT.ok;
}

async function writePages(
  page: string,
  folder: string,
  { terminal }: CommandContext,
): Promise<void> {
  const { htmlPage } = await import("./html.ts");
  const out = absolutePath(folder);
  try {
    mkdirSync(out, { recursive: true });
  } catch (error) {
    throw writeFailure(out, error);
  }
  const pages = { "kernels.md": page, "kernels.html": htmlPage("Kernels", page) };
  for (const [name, text] of Object.entries(pages)) {
    const path = joinPath(out, name);
    replaceFile(path, text);
    terminal.say(`written: ${relativePath(absolutePath("."), path)}`);
  }
}
