/**
 * Diagnostics as workflow commands, which GitHub Actions shows beside the lines of a pull request: "Workflow
 * commands for GitHub Actions", setting an error message. Escapes are those of its toolkit.
 */
import type { Diagnostic } from "../../compiler/support/diagnostic.ts";
import { fileLocationOf } from "./file_location.ts";

/** One line: `::error file=a.tc,line=2,col=8,…::message`. */
export function githubCommand(diagnostic: Diagnostic, rename: (name: string) => string): string {
  const { severity, code, span, message, notes, hint } = diagnostic;
  const location = fileLocationOf(span, rename);
  const properties = {
    ...(location === undefined ? {} : {
      file: location.file,
      line: location.line,
      endLine: location.endLine,
      // GitHub ignores columns of a range of several lines.
      ...(location.line === location.endLine
        ? { col: location.column, endColumn: location.endColumn }
        : {}),
    }),
    title: code,
  };
  const text = [
    message,
    ...(hint === undefined ? [] : [`help: ${hint}`]),
    ...notes.map((note) => `note: ${note.message}`),
  ].join("\n");
  const listed = Object.entries(properties).map(([name, value]) =>
    `${name}=${escapeProperty(`${value}`)}`
  );
  return `::${severity} ${listed.join(",")}::${escapeText(text)}`;
}

function escapeText(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeText(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
