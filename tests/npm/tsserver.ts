/** Asking TypeScript's server, as editors do, where something is defined. */
import * as path from "node:path";

interface Answer {
  readonly type: string;
  readonly command?: string;
  readonly body?: readonly { readonly file: string; readonly start: { readonly line: number } }[];
}

/** The file and line that "go to definition" on the first name of `text` leads to, as `file:line`. */
export async function definitionOf(folder: string, file: string, text: string): Promise<string> {
  const name = path.join(folder, file);
  const content = await Deno.readTextFile(name);
  const before = content.slice(0, content.indexOf(text)).split("\n");
  const requests = [
    { command: "open", arguments: { file: name } },
    {
      command: "definition",
      arguments: { file: name, line: before.length, offset: (before.at(-1) ?? "").length + 1 },
    },
  ];
  const server = new Deno.Command("node", {
    args: [
      path.join(folder, "node_modules/typescript/lib/tsserver.js"),
      "--disableAutomaticTypingAcquisition",
    ],
    cwd: folder,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = server.stdin.getWriter();
  for (const [seq, request] of requests.entries()) {
    await writer.write(
      new TextEncoder().encode(`${JSON.stringify({ seq, type: "request", ...request })}\n`),
    );
  }
  let said = "";
  let found: Answer | undefined;
  // The server ends with its input, answered or not.
  for await (const part of server.stdout.pipeThrough(new TextDecoderStream())) {
    said += part;
    const lines = said.split("\n");
    said = lines.pop() ?? "";
    const answers = lines.flatMap((line): Answer[] =>
      line.startsWith("{") ? [JSON.parse(line)] : []
    );
    found = answers.find(({ type, command }) => type === "response" && command === "definition");
    if (found !== undefined) break;
  }
  await writer.close();
  await server.status;
  return (found?.body ?? []).map(({ file: at, start }) => `${at}:${start.line}`).join("\n");
}
