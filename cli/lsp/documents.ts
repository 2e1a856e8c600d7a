/** The documents that the editor holds open, and each as the compiler sees it. */
import type {
  TextDocumentContentChangeEvent,
  TextDocumentItem,
  VersionedTextDocumentIdentifier,
} from "vscode-languageserver-protocol";
import { TextDocument } from "vscode-languageserver-textdocument";
import type { Prepared, Workspace } from "./workspace.ts";

export class Documents {
  readonly #workspace: Workspace;
  readonly #open = new Map<string, TextDocument>();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  open({ uri, languageId, version, text }: TextDocumentItem): void {
    this.#open.set(uri, TextDocument.create(uri, languageId, version, text));
  }

  change(
    { uri, version }: VersionedTextDocumentIdentifier,
    changes: TextDocumentContentChangeEvent[],
  ): void {
    const document = this.#open.get(uri);
    if (document !== undefined) {
      this.#open.set(uri, TextDocument.update(document, changes, version));
    }
  }

  close(uri: string): void {
    this.#open.delete(uri);
  }

  uris(): readonly string[] {
    return [...this.#open.keys()];
  }

  get(uri: string): TextDocument | undefined {
    return this.#open.get(uri);
  }

  /** What the compiler takes; undefined for a document that is not open. */
  prepare(uri: string): Prepared | undefined {
    const text = this.#open.get(uri)?.getText();
    if (text === undefined) return undefined;
    return this.#workspace(uri, text, (other) => this.#open.get(other)?.getText());
  }
}
