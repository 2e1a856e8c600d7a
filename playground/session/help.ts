/** Hover and completion: the answers of the language server, as the page shows them. */
import { analyse, type Analysis, spotAt } from "../../cli/lsp/analysis.ts";
import { completionsAt } from "../../cli/lsp/completion.ts";
import { hoverAt } from "../../cli/lsp/hover.ts";
import { compileFile } from "../../compiler/driver/compile_file.ts";
import type { CompiledKernel } from "../../compiler/options.ts";
import { prepare, type Program } from "./program.ts";

/** A candidate for the word at the cursor. */
export interface Candidate {
  readonly label: string;
  readonly detail: string;
  readonly doc: string;
}

/** Text under the pointer, as Markdown. */
export interface Hint {
  readonly markdown: string;
}

/** Contracts that the last text without errors had. */
let lastGood: readonly CompiledKernel[] = [];

/** What the thing at an offset is; undefined where there is nothing to say. */
export function hintAt(program: Program, offset: number): Hint | undefined {
  const { analysis, spot } = look(program, offset);
  const contents = hoverAt(analysis, spot)?.contents;
  return typeof contents === "object" && "value" in contents
    ? { markdown: contents.value }
    : undefined;
}

/** Candidates at an offset, best first. */
export function candidatesAt(program: Program, offset: number): readonly Candidate[] {
  const { spot } = look(program, offset);
  return completionsAt(spot).map(({ label, detail = "", documentation }) => ({
    label,
    detail,
    doc: typeof documentation === "object" ? documentation.value : documentation ?? "",
  }));
}

function look(
  program: Program,
  offset: number,
): { readonly analysis: Analysis; readonly spot: ReturnType<typeof spotAt> } {
  const { file, options } = prepare(program, "chosen");
  const { kernels } = compileFile(file, { ...options, checkOnly: true });
  if (kernels.length > 0) lastGood = kernels;
  const prepared = { file, options, mistakes: [], uriOf: (): undefined => undefined };
  const analysis = analyse(prepared, lastGood);
  return { analysis, spot: spotAt(analysis, offset) };
}
