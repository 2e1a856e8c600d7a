/** An editor that only has what the panel of pictures needs: one debug session, one panel, one open file. */
import { loadModule } from "./extension.ts";
import type { AdapterMessage } from "./live_adapter.ts";

type Take = (value: unknown) => void;

/** The editor, and the extension's module in it. */
export interface PanelEditor {
  /** The page of the panel; empty before there is one. */
  html(): string;
  /** What the extension has sent to the page since this was asked last. */
  sent(): readonly unknown[];
  /** Gives the extension a message of the page. */
  take(message: unknown): void;
  /** The debug adapter has sent something; the session has ended. */
  told(message: AdapterMessage): void;
  end(): void;
  /** Lines that were marked in the file. */
  readonly marked: readonly number[];
}

/** Registers the panel; its files are at `base`, and requests of the session go to `ask`. */
export function openPanelEditor(
  base: string,
  ask: (command: string, args: unknown) => Promise<unknown>,
  path: string,
): PanelEditor {
  const session = { configuration: {}, customRequest: ask };
  const marked: number[] = [];
  const toPage: unknown[] = [];
  let [take, end]: [Take, Take] = [() => {}, () => {}];
  let told = (_message: AdapterMessage): void => {};
  const webview = {
    cspSource: base,
    html: "",
    asWebviewUri: (uri: { readonly path: string }) => base + uri.path,
    onDidReceiveMessage: (taker: Take) => take = taker,
    postMessage: (message: unknown) => toPage.push(message),
  };
  const panel = { webview, reveal: () => {}, onDidDispose: () => {} };
  const file = { toString: () => path };
  const vscode = {
    Uri: {
      joinPath: (folder: { readonly path: string }, name: string) => ({
        path: `${folder.path}/${name}`,
      }),
      file: () => file,
    },
    ThemeColor: class {},
    Range: class {
      constructor(readonly line: number) {}
    },
    ViewColumn: { Beside: -2 },
    TextEditorRevealType: {},
    window: {
      createTextEditorDecorationType: () => ({}),
      createWebviewPanel: () => panel,
      registerWebviewPanelSerializer: () => {},
      visibleTextEditors: [{
        document: { uri: file },
        setDecorations: (_type: unknown, [range]: readonly { readonly line: number }[]) => {
          if (range !== undefined) marked.push(range.line + 1);
        },
        revealRange: () => {},
      }],
    },
    commands: { registerCommand: () => {} },
    debug: {
      onDidTerminateDebugSession: (taker: Take) => end = taker,
      registerDebugAdapterTrackerFactory: (_type: string, factory: {
        createDebugAdapterTracker(of: unknown): {
          onDidSendMessage(message: AdapterMessage): void;
        };
      }) => {
        const tracker = factory.createDebugAdapterTracker(session);
        told = (message) => tracker.onDidSendMessage(message);
      },
    },
  };
  const { registerPictures } = loadModule("pictures.js", { vscode });
  if (typeof registerPictures === "function") registerPictures({ path: "" });
  return {
    html: () => webview.html,
    sent: () => toPage.splice(0),
    take: (message) => take(message),
    told: (message) => told(message),
    end: () => end(session),
    marked,
  };
}
