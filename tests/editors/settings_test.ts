/** The settings that docs/editor.md and the extension give editors start a server that answers. */
import manifest from "../../editors/vscode/package.json" with { type: "json" };
import { assert, assertEquals } from "../support/assert.ts";
import { readBlocks } from "../docs/blocks.ts";
import { testsInTurn } from "../support/sampled.ts";

const test = testsInTurn(3);

const ROOT = new URL("../../", import.meta.url);
const page = Deno.readTextFileSync(new URL("docs/editor.md", ROOT));

/** The strings in the first bracket or assignment after a word. */
function stringsBehind(word: string, text: string): string[] {
  const [, list = ""] = new RegExp(`^\\s*${word} = ([^\\n]*)$`, "m").exec(text) ?? [];
  return [...list.matchAll(/"([^"]*)"/g)].map(([, inside = ""]) => inside);
}

const COMMANDS: Readonly<Record<string, (text: string) => string[]>> = {
  lua: (text) => stringsBehind("cmd", text),
  toml: (text) => [...stringsBehind("command", text), ...stringsBehind("args", text)],
};

const found = readBlocks(page).flatMap(({ language, text }) => {
  const command = COMMANDS[language]?.(text);
  return command === undefined ? [] : [{ name: language, command }];
});
found.push({
  name: "the extension of VS Code",
  command: manifest.contributes.configuration.properties["triton-c.server"].default,
});

Deno.test("docs/editor.md has settings of two editors", () => assertEquals(found.length, 3));

for (const { name, command: [program = "", ...args] } of found) {
  test(`the server that ${name} names answers`, async () => {
    assertEquals(program, "deno");
    const child = new Deno.Command(Deno.execPath(), {
      args,
      cwd: ROOT,
      env: { NO_COLOR: "1" },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const message = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { processId: null, rootUri: null, capabilities: {} },
    });
    const writer = child.stdin.getWriter();
    await writer.write(
      new TextEncoder().encode(`Content-Length: ${message.length}\r\n\r\n${message}`),
    );
    let said = "";
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
      said += part;
      // The server ends with its input, so that stays open until there is an answer.
      if (said.includes('"id":1')) await writer.close();
    }
    assertEquals((await child.status).code, 1, "the input ended without a shutdown");
    assert(said.includes('"hoverProvider":true'), said);
  });
}
