/**
 * The language server: the messages and their handlers. Everything is computed from the texts that
 * the editor sent; a request that fails is answered with an error, and the server continues.
 */
import type { Readable, Writable } from "node:stream";
import {
  createProtocolConnection,
  DidChangeTextDocumentNotification,
  DidChangeWatchedFilesNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  DidSaveTextDocumentNotification,
  ErrorCodes,
  ExitNotification,
  InitializeRequest,
  type InitializeResult,
  LogMessageNotification,
  MessageType,
  PositionEncodingKind,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  ResponseError,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
  TextDocumentSyncKind,
} from "vscode-languageserver-protocol/node";
import { failureOf } from "../failure.ts";
import type { Compiler } from "../tools/toolchain.ts";
import { VERSION } from "../version.ts";
import { type LocatedDiagnostic, locateDiagnostic } from "./diagnostics.ts";
import { Documents } from "./documents.ts";
import { Publisher } from "./publisher.ts";
import { answerRequests, REQUEST_CAPABILITIES } from "./requests.ts";
import type { Workspace } from "./workspace.ts";

const CAPABILITIES: InitializeResult["capabilities"] = {
  positionEncoding: PositionEncodingKind.UTF16,
  textDocumentSync: {
    openClose: true,
    change: TextDocumentSyncKind.Incremental,
    save: true,
  },
  ...REQUEST_CAPABILITIES,
};

/** State of the session: requests outside `running` are errors (LSP 3.17, lifecycle messages). */
type Phase = "before" | "running" | "after";

/** Answers until `exit` or the end of the stream; the result is the exit code. */
export function serve(
  input: Readable,
  output: Writable,
  workspace: Workspace,
  compiler: Compiler,
): Promise<number> {
  const connection = createProtocolConnection(
    new StreamMessageReader(input),
    new StreamMessageWriter(output),
  );
  const documents = new Documents(workspace);
  const publisher = new Publisher({
    check: (uri) => attempt(connection, () => checkDocument(documents, compiler, uri)) ?? [],
    publish: (uri, diagnostics) => {
      void connection.sendNotification(PublishDiagnosticsNotification.type, { uri, diagnostics });
    },
  });
  followDocuments(connection, documents, publisher);
  return new Promise((resolve) => {
    const end = (code: number): void => {
      publisher.stop();
      resolve(code);
    };
    const { leave, ready } = followLifecycle(connection, end);
    answerRequests(connection, documents, (uri) => publisher.shownIn(uri), ready);
    // An editor that crashed sends no `exit`: its end of the pipe closes.
    input.once("end", leave);
    connection.listen();
  });
}

/** A failure, such as an unreadable file or a defect of ours, does not end the session: it is logged in the editor. */
function attempt<T>(connection: ProtocolConnection, body: () => T): T | undefined {
  try {
    return body();
  } catch (error) {
    const failure = failureOf(error);
    const shown = failure !== undefined
      ? `${failure.message} ${failure.remedy ?? ""}`.trimEnd()
      : error instanceof Error
      ? error.stack ?? error.message
      : String(error);
    void connection.sendNotification(LogMessageNotification.type, {
      type: MessageType.Error,
      message: shown,
    });
    return undefined;
  }
}

/** What the front end, the tile IR and the contracts of all instances say. */
function checkDocument(documents: Documents, compiler: Compiler, uri: string): LocatedDiagnostic[] {
  const prepared = documents.prepare(uri);
  if (prepared === undefined) return [];
  const { file, options, mistakes } = prepared;
  const { diagnostics, kernels } = compiler.compileFile(file, { ...options, checkOnly: true });
  if (kernels.length > 0) documents.keepCompiled(uri, kernels);
  return [...mistakes, ...diagnostics]
    // That a `-D` is used nowhere can be said of all files together only.
    .filter(({ code }) => code !== "W1023")
    .map((diagnostic) => locateDiagnostic(diagnostic, uri, prepared));
}

function followDocuments(
  connection: ProtocolConnection,
  documents: Documents,
  publisher: Publisher,
): void {
  connection.onNotification(DidOpenTextDocumentNotification.type, ({ textDocument }) => {
    documents.open(textDocument);
    publisher.schedule(textDocument.uri, 0);
  });
  connection.onNotification(
    DidChangeTextDocumentNotification.type,
    ({ textDocument, contentChanges }) => {
      documents.change(textDocument, contentChanges);
      publisher.schedule(textDocument.uri);
    },
  );
  connection.onNotification(DidCloseTextDocumentNotification.type, ({ textDocument }) => {
    documents.close(textDocument.uri);
    publisher.forget(textDocument.uri);
  });
  // Other documents may include what was saved, and deno.json speaks of all.
  const checkAll = (): void => {
    documents.refresh();
    for (const uri of documents.uris()) publisher.schedule(uri);
  };
  connection.onNotification(DidSaveTextDocumentNotification.type, checkAll);
  connection.onNotification(DidChangeWatchedFilesNotification.type, checkAll);
}

interface Lifecycle {
  /** Ends the session: with 0 only after `shutdown`. */
  readonly leave: () => void;
  /** Throws outside of the time in which requests are answered. */
  readonly ready: () => void;
}

function followLifecycle(
  connection: ProtocolConnection,
  end: (code: number) => void,
): Lifecycle {
  let phase: Phase = "before";
  connection.onRequest(InitializeRequest.type, () => {
    if (phase !== "before") {
      throw new ResponseError(ErrorCodes.InvalidRequest, "initialize was sent twice");
    }
    phase = "running";
    return { capabilities: CAPABILITIES, serverInfo: { name: "tri", version: VERSION } };
  });
  connection.onRequest(ShutdownRequest.type, () => {
    phase = "after";
  });
  const leave = (): void => end(phase === "after" ? 0 : 1);
  connection.onNotification(ExitNotification.type, leave);
  const ready = (): void => {
    if (phase === "before") {
      throw new ResponseError(ErrorCodes.ServerNotInitialized, "initialize comes first");
    }
    if (phase === "after") throw new ResponseError(ErrorCodes.InvalidRequest, "after shutdown");
  };
  return { leave, ready };
}
