/** `--format`: how diagnostics are given, and where the files that they name lie. */
import type { Diagnostic } from "../../compiler/support/diagnostic.ts";
import type { CommandContext, Invocation } from "../command.ts";
import { type Format, FORMATS } from "../words/options.ts";
import { readEnv } from "../host/environment.ts";
import { usageError } from "../failure.ts";
import { absolutePath, joinPath, relativePath } from "../files/paths.ts";

/** `--format`, of which `--json` is another spelling; on GitHub's runners `github` unless another is given. */
export function formatOf(invocation: Invocation): Format {
  if (!invocation.flag("json")) {
    if (!invocation.flag("format") && readEnv("GITHUB_ACTIONS") === "true") return "github";
    return FORMATS.find((format) => format === invocation.text("format")) ?? "pretty";
  }
  if (invocation.flag("format") && invocation.text("format") !== "json") {
    throw usageError("--json and another --format exclude each other");
  }
  return "json";
}

/** Whether a possibly invalid command line requests JSON. */
export function asksForJson(words: readonly string[]): boolean {
  return words.some((word, at) =>
    word === "--json" || word === "--format=json" ||
    (word === "--format" && words[at + 1] === "json")
  );
}

/** Where diagnostics are shown and the project that they are about. */
export interface View {
  readonly format: Format;
  /** Absolute; the names of files are relative to it. */
  readonly root: string;
}

/** Prints diagnostics; those of `--format json` belong to the document that the command prints. */
export async function showDiagnostics(
  diagnostics: readonly Diagnostic[],
  { terminal, toolchain }: CommandContext,
  { format, root }: View,
): Promise<void> {
  if (format === "pretty") {
    if (diagnostics.length > 0) {
      const renderer = await toolchain.render();
      for (const one of diagnostics) terminal.say(renderer.text(one, terminal.color));
    }
  } else if (format === "github") {
    const { githubCommand } = await import("./github.ts");
    const name = repositoryName(root);
    for (const one of diagnostics) terminal.print(`${githubCommand(one, name)}\n`);
  } else if (format === "sarif") {
    const { sarifLog } = await import("./sarif.ts");
    const log = sarifLog(diagnostics, repositoryName(root));
    terminal.print(`${JSON.stringify(log, null, 2)}\n`);
  }
  if (diagnostics.length > 0) terminal.say(counted(diagnostics));
}

/** What a file of the project is called by tools that begin at the top of the repository. */
function repositoryName(root: string): (name: string) => string {
  const top = absolutePath(readEnv("GITHUB_WORKSPACE") ?? ".");
  return (name) => relativePath(top, joinPath(root, name));
}

function counted(diagnostics: readonly Diagnostic[]): string {
  return (["error", "warning"] as const)
    .map((severity) =>
      [severity, diagnostics.filter((one) => one.severity === severity).length] as const
    )
    .filter(([, count]) => count > 0)
    .map(([severity, count]) => plural(count, severity))
    .join(", ");
}

/** `1 error`, `2 errors`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
