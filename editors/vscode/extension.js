/** Starts `tri lsp` for documents in Triton-C, by the command that the settings name. */
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const [command, ...args] = vscode.workspace.getConfiguration("triton-c").get("server");
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  client = new LanguageClient(
    "triton-c",
    "Triton-C",
    { command, args, options: { cwd: folder?.uri.fsPath } },
    {
      documentSelector: [{ language: "triton-c" }],
      synchronize: {
        // Headers and settings that open documents depend on.
        fileEvents: vscode.workspace.createFileSystemWatcher("**/{deno.json,deno.jsonc,*.h,*.tc}"),
      },
    },
  );
  await client.start();
}

async function restart() {
  await client?.dispose();
  await start();
}

exports.activate = async ({ subscriptions }) => {
  subscriptions.push(
    vscode.commands.registerCommand("triton-c.restart", restart),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("triton-c.server")) await restart();
    }),
  );
  await start();
};

exports.deactivate = () => client?.stop();
