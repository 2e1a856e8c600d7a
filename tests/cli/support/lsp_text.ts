/** Texts as the language server sees them, without an editor. */
import type { TextEdit } from "vscode-languageserver-protocol";
import { TextDocument } from "vscode-languageserver-textdocument";
import { includeFinder } from "../../../cli/project/include.ts";
import type { Prepared } from "../../../cli/lsp/workspace.ts";

const KERNELS = new URL("../../../kernels", import.meta.url).pathname;

/** A document `a.tc` beside the shipped kernels. */
export function preparedText(text: string): Prepared {
  const file = { name: "a.tc", text };
  return {
    file,
    options: { targets: ["sm_80"], include: includeFinder(KERNELS, []).resolve },
    mistakes: [],
    uriOf: (other) => other === file ? "file:///a.tc" : undefined,
  };
}

export function withEdits(text: string, edits: TextEdit[]): string {
  return TextDocument.applyEdits(TextDocument.create("file:///a.tc", "triton-c", 1, text), edits);
}
