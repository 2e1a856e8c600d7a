/** An editor's side of the protocol, with `tri lsp` at the other end: here, or as a process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough, type Readable, type Writable } from "node:stream";
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
import { serve } from "../../../cli/lsp/server.ts";
import { workspaceFor } from "../../../cli/lsp/workspace.ts";
import { parseCommandLine } from "../../../cli/words/parse.ts";
import { selectTargets } from "../../../cli/project/targets.ts";
import { realToolchain } from "../../../cli/tools/real_toolchain.ts";
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

/** A server, as its editor sees it. */
interface Server {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly exit: Promise<number | null>;
}

function processServer(root: string, args: readonly string[]): Server {
  const child = spawnServer(root, args);
  return {
    stdin: must(child.stdin, "a pipe"),
    stdout: must(child.stdout, "a pipe"),
    exit: once(child, "exit").then(([code]: (number | null)[]) => code ?? null),
  };
}

/** What the body of the command does, on two pipes. */
async function serverHere(args: readonly string[]): Promise<Server> {
  const parsed = parseCommandLine(["lsp", ...args]);
  if (parsed.kind !== "run") throw new Error(`tri lsp ${args.join(" ")} runs nothing`);
  const targets = await selectTargets(parsed.invocation.list("arch"));
  const compiler = await realToolchain.compiler();
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const exit = serve(stdin, stdout, workspaceFor(parsed.invocation, targets), compiler);
  return { stdin, stdout, exit };
}

export class LspClient {
  readonly connection: ProtocolConnection;
  readonly #server: Server;
  readonly #exit: Promise<number | null>;
  readonly #root: string;
  readonly #shown = new Map<string, Diagnostic[]>();
  readonly #texts = new Map<string, string>();
  /** What the server logged: defects. */
  readonly logged: string[] = [];
  #wake: () => void = () => {};
  #version = 1;

  private constructor(root: string, server: Server) {
    this.#root = root;
    this.#server = server;
    this.#exit = server.exit;
    this.connection = createProtocolConnection(
      new StreamMessageReader(server.stdout),
      new StreamMessageWriter(server.stdin),
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

  /** A server for a folder that has said hello; it takes less than a process takes to start. */
  static async start(root: string, args: readonly string[] = []): Promise<LspClient> {
    return await LspClient.#greeted(new LspClient(root, await serverHere(args)));
  }

  /** The same as a process in the folder. */
  static async startProcess(root: string, args: readonly string[] = []): Promise<LspClient> {
    return await LspClient.#greeted(new LspClient(root, processServer(root, args)));
  }

  static async #greeted(client: LspClient): Promise<LspClient> {
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

  /** Where a text is in an open document: its `count`-th occurrence. */
  rangeOf(name: string, wanted: string, count = 1): Range {
    const text = must(this.#texts.get(name), "an open document");
    let start = -1;
    for (let i = 0; i < count; i++) start = text.indexOf(wanted, start + 1);
    if (start < 0) throw new Error(`no ${wanted} in ${name}`);
    return { start: positionIn(text, start), end: positionIn(text, start + wanted.length) };
  }

  /** A location for requests about it. */
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
    this.#server.stdin.end();
    const code = await this.#exit;
    this.connection.dispose();
    return code;
  }
}

function positionIn(text: string, offset: number): Position {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length - 1, character: must(before.at(-1), "a line").length };
}
