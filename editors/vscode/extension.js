/** Starts `tri lsp` for documents in Triton-C, and `tri debug` with its pictures, by the command that the settings name. */
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { registerPictures } = require("./pictures.js");

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

/** The command of the server up to `lsp`, with `debug` instead. */
function adapterOf({ configuration: { program, args = [] } }) {
  const words = vscode.workspace.getConfiguration("triton-c").get("server");
  const at = words.indexOf("lsp");
  const [command, ...before] = at < 0 ? words : words.slice(0, at);
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  return new vscode.DebugAdapterExecutable(command, [...before, "debug", program, ...args], {
    cwd: folder?.uri.fsPath,
  });
}

exports.activate = async ({ subscriptions, extensionUri }) => {
  subscriptions.push(
    ...registerPictures(extensionUri),
    vscode.debug.registerDebugAdapterDescriptorFactory("triton-c", {
      createDebugAdapterDescriptor: adapterOf,
    }),
    vscode.commands.registerCommand("triton-c.restart", restart),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("triton-c.server")) await restart();
    }),
  );
  await start();
};

exports.deactivate = () => client?.stop();
