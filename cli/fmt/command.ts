/** `tri fmt`: formats `.tc` files and headers, or says which are not formatted. */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { syntaxErrors } from "../../compiler/driver/syntax.ts";
import { formatFile } from "../../compiler/format/format.ts";
import type { Diagnostic } from "../../compiler/support/diagnostic.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { plural, showDiagnostics } from "../diagnostics/format.ts";
import { EXIT, usageError } from "../failure.ts";
import { absolutePath, relativePath } from "../files/paths.ts";
import { replaceFile } from "../files/replace_file.ts";
import { findFiles, readText, type TextFile } from "./files.ts";
import { workspaceFor } from "../lsp/workspace.ts";

/** What becomes of a text; it stays as it is where its syntax is wrong. */
type Outcome =
  | { readonly kind: "formatted"; readonly text: string }
  | { readonly kind: "broken"; readonly diagnostics: readonly Diagnostic[] };

/** The body of the command. */
export async function runFmt(invocation: Invocation, context: CommandContext): Promise<number> {
  const { terminal } = context;
  const { operands } = invocation;
  const isCheck = invocation.flag("check");
  if (operands.includes("-")) {
    if (operands.length > 1 || isCheck) {
      throw usageError("- must be the only operand: it is text on stdin");
    }
    return await formatInput(invocation, context);
  }
  const cwd = absolutePath(".");
  const files = findFiles(operands.length === 0 ? ["."] : operands)
    .map((path) => readText(path, relativePath(cwd, path)));
  const broken: Diagnostic[] = [];
  const changed: TextFile[] = [];
  for (const file of files) {
    const outcome = outcomeOf(file, invocation);
    if (outcome.kind === "broken") broken.push(...outcome.diagnostics);
    else if (outcome.text !== file.text) {
      changed.push(file);
      if (isCheck) terminal.print(await unifiedDiff(file, outcome.text));
      else replaceFile(file.path, outcome.text);
    }
  }
  await showDiagnostics(broken, context, { format: "pretty", root: cwd });
  const count = plural(files.length, "file");
  if (isCheck) {
    if (changed.length === 0) terminal.remark(`${count} checked`);
    else terminal.say(`not formatted: ${changed.map(({ name }) => name).join(", ")}`);
  } else terminal.remark(`${count} checked, ${changed.length} changed`);
  return broken.length > 0 || (isCheck && changed.length > 0) ? EXIT.kernels : EXIT.ok;
}

/** From stdin to stdout. */
async function formatInput(invocation: Invocation, context: CommandContext): Promise<number> {
  const name = "<stdin>";
  const text = readFileSync(0, "utf8");
  const outcome = outcomeOf({ name, path: absolutePath(name), text, mistakes: [] }, invocation);
  if (outcome.kind === "formatted") {
    context.terminal.print(outcome.text);
    return EXIT.ok;
  }
  const root = absolutePath(".");
  await showDiagnostics(outcome.diagnostics, context, { format: "pretty", root });
  return EXIT.kernels;
}

function outcomeOf({ name, path, text, mistakes }: TextFile, invocation: Invocation): Outcome {
  if (mistakes.length > 0) return { kind: "broken", diagnostics: mistakes };
  const file = { name, text };
  const formatted = formatFile(file);
  if (!formatted.ok) return { kind: "broken", diagnostics: formatted.diagnostics };
  // A header is what the file that includes it makes of it.
  if (formatted.text !== text && !path.endsWith(".h")) {
    const prepare = workspaceFor(invocation, ["sm_90"]);
    const { options } = prepare(pathToFileURL(path).href, text, () => undefined);
    const diagnostics = syntaxErrors(file, options);
    if (diagnostics.length > 0) return { kind: "broken", diagnostics };
  }
  return { kind: "formatted", text: formatted.text };
}

async function unifiedDiff({ name, text }: TextFile, formatted: string): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import("diff");
  return createTwoFilesPatch(name, name, text, formatted, "", "formatted", {
    headerOptions: FILE_HEADERS_ONLY,
  });
}
