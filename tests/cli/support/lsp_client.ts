/** An editor's side of the protocol, with `tri lsp` as a process at the other end. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { pathToFileURL } from "node:url";
import {
  createProtocolConnection,
  type Diagnostic,
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  ExitNotification,
  InitializedNotification,
  InitializeRequest,
  type InitializeResult,
  LogMessageNotification,
  type Position,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  type Range,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver-protocol/node";
import { must } from "../../../compiler/support/bug.ts";
import { REAL_MAIN } from "./tri_process.ts";

const CONFIG = new URL("../../../deno.json", import.meta.url).pathname;

/** Starts the server; it may read files and the environment, and nothing else. */
export function spawnServer(cwd: string, args: readonly string[] = []): ChildProcess {
  const words = ["run", "-q", "--no-prompt", "--no-check", "--config", CONFIG];
  return spawn(
    Deno.execPath(),
    [...words, "--allow-read", "--allow-env", REAL_MAIN, "lsp", ...args],
    { cwd, stdio: ["pipe", "pipe", "inherit"] },
  );
}

export class LspClient {
  readonly connection: ProtocolConnection;
  readonly #process: ChildProcess;
  readonly #exit: Promise<number | null>;
  readonly #root: string;
  readonly #shown = new Map<string, Diagnostic[]>();
  readonly #texts = new Map<string, string>();
  /** What the server logged: defects. */
  readonly logged: string[] = [];
  #wake: () => void = () => {};
  #version = 1;

  private constructor(root: string, args: readonly string[]) {
    this.#root = root;
    this.#process = spawnServer(root, args);
    this.#exit = once(this.#process, "exit").then(([code]: (number | null)[]) => code ?? null);
    const { stdout, stdin } = this.#process;
    this.connection = createProtocolConnection(
      new StreamMessageReader(must(stdout, "a pipe")),
      new StreamMessageWriter(must(stdin, "a pipe")),
    );
    this.connection.onNotification(
      PublishDiagnosticsNotification.type,
      ({ uri, diagnostics }) => {
        this.#shown.set(uri, diagnostics);
        this.#wake();
      },
    );
    this.connection.onNotification(LogMessageNotification.type, ({ message }) => {
      this.logged.push(message);
    });
    this.connection.listen();
  }

  /** A server in a folder that has said hello. */
  static async start(root: string, args: readonly string[] = []): Promise<LspClient> {
    const client = new LspClient(root, args);
    await client.initialize();
    await client.connection.sendNotification(InitializedNotification.type, {});
    return client;
  }

  initialize(): Promise<InitializeResult> {
    const rootUri = this.uri("");
    const params = { processId: null, rootUri, capabilities: {}, workspaceFolders: null };
    return this.connection.sendRequest(InitializeRequest.type, params);
  }

  uri(name: string): string {
    return pathToFileURL(`${this.#root}/${name}`).href;
  }

  async open(name: string, text: string): Promise<void> {
    this.#texts.set(name, text);
    await this.connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri: this.uri(name), languageId: "triton-c", version: 1, text },
    });
  }

  /** Replaces the first occurrence of a text, as typing does. */
  async replace(name: string, old: string, replacement: string): Promise<void> {
    const range = this.rangeOf(name, old);
    const text = must(this.#texts.get(name), "an open document");
    this.#texts.set(name, text.replace(old, () => replacement));
    await this.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri: this.uri(name), version: ++this.#version },
      contentChanges: [{ range, text: replacement }],
    });
  }

  async close(name: string): Promise<void> {
    const textDocument = { uri: this.uri(name) };
    await this.connection.sendNotification(DidCloseTextDocumentNotification.type, { textDocument });
  }

  /** Where a text stands in an open document: its `count`-th occurrence. */
  rangeOf(name: string, wanted: string, count = 1): Range {
    const text = must(this.#texts.get(name), "an open document");
    let start = -1;
    for (let i = 0; i < count; i++) start = text.indexOf(wanted, start + 1);
    if (start < 0) throw new Error(`no ${wanted} in ${name}`);
    return { start: positionIn(text, start), end: positionIn(text, start + wanted.length) };
  }

  /** A place for requests about it. */
  at(
    name: string,
    wanted: string,
    count = 1,
  ): { textDocument: { uri: string }; position: Position } {
    return {
      textDocument: { uri: this.uri(name) },
      position: this.rangeOf(name, wanted, count).start,
    };
  }

  /** The text of a range of an open document. */
  textIn(name: string, { start, end }: Range): string {
    const lines = must(this.#texts.get(name), "an open document").split("\n");
    if (start.line !== end.line) return lines.slice(start.line, end.line + 1).join("\n");
    return must(lines[start.line], "a line").slice(start.character, end.character);
  }

  /** The diagnostics of a document, as soon as they fulfil a condition. */
  async diagnostics(
    name: string,
    wanted: (diagnostics: readonly Diagnostic[]) => boolean = () => true,
  ): Promise<readonly Diagnostic[]> {
    for (;;) {
      const shown = this.#shown.get(this.uri(name));
      if (shown !== undefined && wanted(shown)) return shown;
      const ended = this.#exit.then(() => {
        throw new Error("the server has ended");
      });
      await Promise.race([new Promise<void>((resolve) => this.#wake = resolve), ended]);
    }
  }

  /** The exit code after a polite end. */
  async stop(): Promise<number | null> {
    await this.connection.sendRequest(ShutdownRequest.type);
    return await this.exit();
  }

  /** The exit code after `exit` alone. */
  async exit(): Promise<number | null> {
    await this.connection.sendNotification(ExitNotification.type);
    const code = await this.#exit;
    this.connection.dispose();
    return code;
  }

  /** The exit code after the editor vanished. */
  async vanish(): Promise<number | null> {
    must(this.#process.stdin, "a pipe").end();
    const code = await this.#exit;
    this.connection.dispose();
    return code;
  }
}

function positionIn(text: string, offset: number): Position {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length - 1, character: must(before.at(-1), "a line").length };
}
