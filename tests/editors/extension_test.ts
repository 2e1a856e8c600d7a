import manifest from "../../editors/vscode/package.json" with { type: "json" };
import { assert, assertEquals } from "../support/assert.ts";
import { loadModule, textOfExtension } from "./extension.ts";

interface Extension {
  activate(
    context: { readonly subscriptions: unknown[]; readonly extensionUri: unknown },
  ): Promise<void>;
  deactivate(): unknown;
}

interface AdapterFactory {
  createDebugAdapterDescriptor(session: unknown): unknown;
}

/** The extension with an editor that only notes what is done to it. */
function load(server: readonly string[]): { extension: Extension; log: string[] } {
  const log: string[] = [];
  const modules: Readonly<Record<string, unknown>> = {
    vscode: {
      workspace: {
        workspaceFolders: [{ uri: { fsPath: "/project" } }],
        getConfiguration: (section: string) => ({
          get: (key: string) => [...server, section, key],
        }),
        createFileSystemWatcher: (glob: string) => log.push(`watch ${glob}`),
        onDidChangeConfiguration: () => log.push("configuration"),
      },
      debug: {
        registerDebugAdapterDescriptorFactory: (type: string, factory: AdapterFactory) => {
          const session = { configuration: { program: "a.tc", args: ["--size", "M=64"] } };
          const adapter = factory.createDebugAdapterDescriptor(session);
          return log.push(`debug ${type} ${JSON.stringify(adapter)}`);
        },
        registerDebugAdapterTrackerFactory: (type: string) => log.push(`follow ${type}`),
        onDidTerminateDebugSession: () => {},
      },
      window: {
        createTextEditorDecorationType: () => {},
        registerWebviewPanelSerializer: (type: string) => log.push(`panel ${type}`),
      },
      Uri: { joinPath: () => {} },
      ThemeColor: class {},
      DebugAdapterExecutable: class {
        constructor(readonly command: string, readonly args: readonly string[]) {}
      },
      commands: { registerCommand: (name: string) => log.push(`command ${name}`) },
    },
    "vscode-languageclient/node": {
      LanguageClient: class {
        constructor(id: string, _name: string, how: unknown, { documentSelector }: {
          readonly documentSelector: unknown;
        }) {
          log.push(`client ${id} ${JSON.stringify(how)} ${JSON.stringify(documentSelector)}`);
        }
        start(): void {
          log.push("start");
        }
        stop(): void {
          log.push("stop");
        }
      },
    },
  };
  const { activate, deactivate } = loadModule(manifest.main, modules) as Partial<Extension>;
  assert(activate !== undefined && deactivate !== undefined);
  return { extension: { activate, deactivate }, log };
}

Deno.test("the VS Code extension starts the server that the settings name, and stops it", async () => {
  const { extension, log } = load(["tri", "lsp"]);
  await extension.activate({ subscriptions: [], extensionUri: {} });
  await extension.deactivate();
  assertEquals(log, [
    "command triton-c.pictures",
    "panel triton-c.pictures",
    "follow triton-c",
    'debug triton-c {"command":"tri","args":["debug","a.tc","--size","M=64"]}',
    "command triton-c.restart",
    "configuration",
    "watch **/{deno.json,deno.jsonc,*.h,*.tc}",
    'client triton-c {"command":"tri","args":["lsp","triton-c","server"],"options":{"cwd":"/project"}} ' +
    '[{"language":"triton-c"}]',
    "start",
    "stop",
  ]);
});

Deno.test("the VS Code extension's manifest names files and identifiers that exist", () => {
  const { contributes: { languages, grammars, commands, configuration } } = manifest;
  for (const path of [...languages.map((l) => l.configuration), ...grammars.map((g) => g.path)]) {
    JSON.parse(textOfExtension(path));
  }
  assertEquals(grammars.map(({ language }) => language), languages.map(({ id }) => id));
  const text = textOfExtension(manifest.main) + textOfExtension("pictures.js");
  for (const { command } of commands) assert(text.includes(`"${command}"`), command);
  for (const key of Object.keys(configuration.properties)) {
    const [section, name] = key.split(".");
    assert(text.includes(`getConfiguration("${section}").get("${name}")`), key);
  }
});
