/** Quick fixes: the changes that diagnostics bring along. */
import {
  type CodeAction,
  CodeActionKind,
  type CodeActionParams,
  type Diagnostic,
} from "vscode-languageserver-protocol";
import type { DiagnosticData } from "./diagnostics.ts";

export function actionsFor({ context: { diagnostics } }: CodeActionParams): CodeAction[] {
  return diagnostics.flatMap((diagnostic) => {
    const data = dataOf(diagnostic);
    if (data === undefined) return [];
    return [{
      title: data.title,
      kind: CodeActionKind.QuickFix,
      diagnostics: [diagnostic],
      isPreferred: true,
      edit: { changes: { [data.uri]: [data.edit] } },
    }];
  });
}

/** What we sent with a diagnostic, if the editor sends it back as it was. */
function dataOf({ data }: Diagnostic): DiagnosticData | undefined {
  return isData(data) ? data : undefined;
}

function isData(data: unknown): data is DiagnosticData {
  return typeof data === "object" && data !== null && "title" in data && "uri" in data &&
    "edit" in data && typeof data.title === "string" && typeof data.uri === "string";
}
