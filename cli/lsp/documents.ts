/** The documents that the editor holds open, and each as the compiler sees it. */
import type {
  TextDocumentContentChangeEvent,
  TextDocumentItem,
  VersionedTextDocumentIdentifier,
} from "vscode-languageserver-protocol";
import { TextDocument } from "vscode-languageserver-textdocument";
import type { CompiledKernel } from "../../compiler/options.ts";
import { analyse, type Analysis } from "./analysis.ts";
import type { Prepared, Workspace } from "./workspace.ts";

export class Documents {
  readonly #workspace: Workspace;
  readonly #open = new Map<string, TextDocument>();
  /** Until any text changes: documents include one another. */
  readonly #analyses = new Map<string, Analysis>();
  /** By document, as it was when it last had no error. */
  readonly #compiled = new Map<string, readonly CompiledKernel[]>();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Files may have changed on disk. */
  refresh(): void {
    this.#analyses.clear();
  }

  open({ uri, languageId, version, text }: TextDocumentItem): void {
    this.refresh();
    this.#open.set(uri, TextDocument.create(uri, languageId, version, text));
  }

  change(
    { uri, version }: VersionedTextDocumentIdentifier,
    changes: TextDocumentContentChangeEvent[],
  ): void {
    this.refresh();
    const document = this.#open.get(uri);
    if (document !== undefined) {
      this.#open.set(uri, TextDocument.update(document, changes, version));
    }
  }

  close(uri: string): void {
    this.refresh();
    this.#open.delete(uri);
    this.#compiled.delete(uri);
  }

  uris(): readonly string[] {
    return [...this.#open.keys()];
  }

  get(uri: string): TextDocument | undefined {
    return this.#open.get(uri);
  }

  /** A document was compiled without errors. */
  keepCompiled(uri: string, kernels: readonly CompiledKernel[]): void {
    this.#compiled.set(uri, kernels);
    this.#analyses.delete(uri);
  }

  /** Undefined for a document that is not open. */
  analysis(uri: string): Analysis | undefined {
    const known = this.#analyses.get(uri);
    if (known !== undefined) return known;
    const prepared = this.prepare(uri);
    if (prepared === undefined) return undefined;
    const made = analyse(prepared, this.#compiled.get(uri) ?? []);
    this.#analyses.set(uri, made);
    return made;
  }

  /** What the compiler takes; undefined for a document that is not open. */
  prepare(uri: string): Prepared | undefined {
    const text = this.#open.get(uri)?.getText();
    if (text === undefined) return undefined;
    return this.#workspace(uri, text, (other) => this.#open.get(other)?.getText());
  }
}
