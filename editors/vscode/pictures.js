/** A panel with pictures of the launch that is debugged: a page that asks the debug adapter through this module. */
const vscode = require("vscode");

/** The panel's type, which VS Code keeps to bring it back, and that of the debug sessions. */
const PANEL = "triton-c.pictures";
const SESSION = "triton-c";

/** The page: files of the extension alone, and nothing from elsewhere. */
function pageOf(webview, folder) {
  const file = (name) => webview.asWebviewUri(vscode.Uri.joinPath(folder, name));
  const { cspSource } = webview;
  const policy =
    `default-src 'none'; script-src ${cspSource}; style-src ${cspSource}; img-src ${cspSource} data:`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <link rel="stylesheet" href="${file("panel.css")}">
    <script type="module" src="${file("panel.js")}"></script>
    <title>Pictures of the launch</title>
  </head>
  <body>
    <div id="tabs" role="tablist"></div>
    <p id="status" role="status"></p>
    <div id="view" role="tabpanel"></div>
  </body>
</html>
`;
}

/** Registers the panel; the result is what to dispose of. */
exports.registerPictures = (extensionUri) => {
  const folder = vscode.Uri.joinPath(extensionUri, "dist");
  const marked = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor("editor.wordHighlightBackground"),
    isWholeLine: true,
  });
  let panel;
  let session;

  const post = (message) => panel?.webview.postMessage(message);

  /** Marks a line where its file is open; a line that a person chose is also scrolled to. */
  const reveal = ({ path, line, isChosen }) => {
    const file = vscode.Uri.file(path).toString();
    const ranges = line > 0 ? [new vscode.Range(line - 1, 0, line - 1, 0)] : [];
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.toString() !== file) continue;
      editor.setDecorations(marked, ranges);
      if (isChosen && line > 0) {
        editor.revealRange(ranges[0], vscode.TextEditorRevealType.InCenterIfOutsideViewport);
      }
    }
  };

  const take = async (message) => {
    if (message.kind === "reveal") return reveal(message);
    const { id, command } = message;
    try {
      if (session === undefined) throw new Error("No kernel is being debugged: start one with F5.");
      // The panel may ask for pictures, and for nothing else.
      if (!command.startsWith("tri/")) throw new Error(`${command} is not for panels`);
      const body = await session.customRequest(command, message.arguments);
      post({ kind: "answer", id, body });
    } catch (error) {
      post({ kind: "failure", id, message: error.message });
    }
  };

  const fill = (made) => {
    panel = made;
    panel.webview.options = { enableScripts: true, localResourceRoots: [folder] };
    panel.webview.onDidReceiveMessage(take);
    panel.onDidDispose(() => {
      if (panel === made) panel = undefined;
    });
    panel.webview.html = pageOf(panel.webview, folder);
  };

  const show = () => {
    const beside = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    if (panel !== undefined) return panel.reveal(undefined, true);
    fill(vscode.window.createWebviewPanel(PANEL, "Pictures of the launch", beside, {}));
  };

  const tracker = (of) => ({
    onDidSendMessage({ type, event }) {
      if (type !== "event" || event !== "stopped") return;
      if (session !== of) post({ kind: "began" });
      session = of;
      if (of.configuration.pictures !== false) show();
      post({ kind: "stopped" });
    },
  });

  return [
    marked,
    vscode.commands.registerCommand("triton-c.pictures", show),
    vscode.window.registerWebviewPanelSerializer(PANEL, {
      deserializeWebviewPanel: (made) => Promise.resolve(fill(made)),
    }),
    vscode.debug.registerDebugAdapterTrackerFactory(SESSION, {
      createDebugAdapterTracker: tracker,
    }),
    vscode.debug.onDidTerminateDebugSession((ended) => {
      if (ended !== session) return;
      session = undefined;
      post({ kind: "ended" });
    }),
  ];
};
