/** Requests about a location in a document, each with the function that answers it. */
import {
  CodeActionRequest,
  CompletionRequest,
  DefinitionRequest,
  type Diagnostic,
  DocumentFormattingRequest,
  DocumentRangeFormattingRequest,
  DocumentSymbolRequest,
  ErrorCodes,
  HoverRequest,
  InlayHintRequest,
  type Position,
  PrepareRenameRequest,
  type ProtocolConnection,
  ReferencesRequest,
  RenameRequest,
  ResponseError,
  SemanticTokensRequest,
  type ServerCapabilities,
  SignatureHelpRequest,
  type TextDocumentPositionParams,
} from "vscode-languageserver-protocol";
import { actionsFor } from "./actions.ts";
import { type Analysis, type Spot, spotAt } from "./analysis.ts";
import { completionsAt } from "./completion.ts";
import { formattingEdits } from "./formatting.ts";
import { definitionAt } from "./definition.ts";
import type { Documents } from "./documents.ts";
import { withExplanations } from "./explanations.ts";
import { hoverAt } from "./hover.ts";
import { inlayHintsIn } from "./inlay_hints.ts";
import { referencesAt } from "./references.ts";
import { prepareRename, renameAt } from "./rename.ts";
import { LEGEND, semanticTokensOf } from "./semantic_tokens.ts";
import { signatureAt } from "./signature.ts";
import { symbolsOf } from "./symbols.ts";
import type { Prepared } from "./workspace.ts";

export const REQUEST_CAPABILITIES: ServerCapabilities = {
  hoverProvider: true,
  definitionProvider: true,
  referencesProvider: true,
  renameProvider: { prepareProvider: true },
  completionProvider: { triggerCharacters: ["#"] },
  signatureHelpProvider: { triggerCharacters: ["(", ","] },
  documentSymbolProvider: true,
  codeActionProvider: true,
  inlayHintProvider: true,
  semanticTokensProvider: { legend: LEGEND, full: true },
  documentFormattingProvider: true,
  documentRangeFormattingProvider: true,
};

/** `shownIn` gives the diagnostics of a document; `ready` throws while the server must not answer. */
export function answerRequests(
  connection: ProtocolConnection,
  documents: Documents,
  shownIn: (uri: string) => readonly Diagnostic[],
  ready: () => void,
): void {
  const analysisOf = (uri: string): Analysis => {
    ready();
    const analysis = documents.analysis(uri);
    if (analysis === undefined) {
      throw new ResponseError(ErrorCodes.InvalidParams, `${uri} is not open`);
    }
    return analysis;
  };
  const at = <P extends TextDocumentPositionParams, T>(
    answer: (analysis: Analysis, spot: Spot, params: P) => T,
  ) =>
  (params: P): T => {
    const { textDocument: { uri }, position } = params;
    const analysis = analysisOf(uri);
    return answer(analysis, spotAt(analysis, offsetIn(documents, uri, position)), params);
  };
  const hover = at((analysis, spot) => hoverAt(analysis, spot));
  connection.onRequest(HoverRequest.type, (params) => {
    const { textDocument: { uri }, position } = params;
    return withExplanations(hover(params), shownIn(uri), position) ?? null;
  });
  connection.onRequest(
    DefinitionRequest.type,
    at((analysis, spot) => definitionAt(analysis, spot) ?? null),
  );
  connection.onRequest(
    ReferencesRequest.type,
    at((analysis, spot, { context }) => referencesAt(analysis, spot, context.includeDeclaration)),
  );
  connection.onRequest(PrepareRenameRequest.type, at(prepareRename));
  connection.onRequest(
    RenameRequest.type,
    at((analysis, spot, { newName }) => renameAt(analysis, spot, newName)),
  );
  connection.onRequest(CompletionRequest.type, at((_, spot) => completionsAt(spot)));
  connection.onRequest(
    SignatureHelpRequest.type,
    at((analysis, spot) => signatureAt(analysis, spot) ?? null),
  );
  connection.onRequest(
    DocumentSymbolRequest.type,
    ({ textDocument: { uri } }) => symbolsOf(analysisOf(uri)),
  );
  const preparedOf = (uri: string): Prepared => {
    ready();
    const prepared = documents.prepare(uri);
    if (prepared === undefined) {
      throw new ResponseError(ErrorCodes.InvalidParams, `${uri} is not open`);
    }
    return prepared;
  };
  connection.onRequest(
    DocumentFormattingRequest.type,
    ({ textDocument: { uri } }) => formattingEdits(preparedOf(uri)),
  );
  connection.onRequest(
    DocumentRangeFormattingRequest.type,
    ({ textDocument: { uri }, range }) => formattingEdits(preparedOf(uri), range),
  );
  connection.onRequest(
    InlayHintRequest.type,
    ({ textDocument: { uri }, range }) => inlayHintsIn(analysisOf(uri), range),
  );
  connection.onRequest(
    SemanticTokensRequest.type,
    ({ textDocument: { uri } }) => semanticTokensOf(analysisOf(uri)),
  );
  connection.onRequest(CodeActionRequest.type, (params) => {
    ready();
    return actionsFor(params);
  });
}

function offsetIn(documents: Documents, uri: string, position: Position): number {
  return documents.get(uri)?.offsetAt(position) ?? 0;
}
