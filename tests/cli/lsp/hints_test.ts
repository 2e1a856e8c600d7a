import { InlayHintRequest, SemanticTokensRequest } from "vscode-languageserver-protocol/node";
import { LEGEND } from "../../../cli/lsp/semantic_tokens.ts";
import { assertEquals } from "../../support/assert.ts";
import { LspClient } from "../support/lsp_client.ts";
import { Workspace } from "../support/tri_process.ts";

const TEXT = `#pragma tri variants TYPE in {half, float}
#pragma tri config TM=16, TN=32
#define EXTENT (TM * 2)
enum { FEW = 2 };
typedef float wide;
static float twice(float value) { return value * FEW; }
__global__ void f(TYPE *X, TYPE *Y, int N) {
  int r[EXTENT] = 0 ... EXTENT;
  int plain[8] = 0 ... 8;
  TYPE *px[TM, TN] = X + (0 ... TM)[:, newaxis] * N + (0 ... TN)[newaxis, :];
  wide w = twice(exp(1.0f));
  *?(r < N) (Y + r) = (TYPE)(w + F32_INFINITY);
  *(Y + plain) = (*px)[+, +];
}
`;

async function withServer<T>(text: string, ask: (client: LspClient) => Promise<T>): Promise<T> {
  using workspace = new Workspace();
  const client = await LspClient.start(workspace.path);
  await client.open("a.tc", text);
  const answer = await ask(client);
  await client.stop();
  assertEquals(client.logged, []);
  return answer;
}

const WHOLE = { start: { line: 0, character: 0 }, end: { line: 100, character: 0 } };

Deno.test("the server gives types and shapes where macros spell them", async () => {
  const hints = await withServer(
    TEXT,
    (client) =>
      client.connection.sendRequest(InlayHintRequest.type, {
        textDocument: { uri: client.uri("a.tc") },
        range: WHOLE,
      }),
  );
  const lines = TEXT.split("\n");
  const shown = hints?.map(({ position: { line, character }, label }) =>
    `${lines[line]?.slice(0, character).trim()}${String(label)}`
  );
  assertEquals(shown, [
    "__global__ void f(TYPE *X: half*",
    "__global__ void f(TYPE *X, TYPE *Y: half*",
    "int r[EXTENT]: int[32]",
    "TYPE *px[TM, TN]: half*[16, 32]",
  ]);
});

Deno.test("the server gives hints of a range only, and of broken text what it knows", async () => {
  const range = { start: { line: 7, character: 0 }, end: { line: 8, character: 0 } };
  const broken = TEXT.replace("= twice(exp(1.0f));", "= ;");
  const hints = await withServer(
    broken,
    (client) =>
      client.connection.sendRequest(InlayHintRequest.type, {
        textDocument: { uri: client.uri("a.tc") },
        range,
      }),
  );
  assertEquals(hints?.map(({ label }) => label), [": int[32]"]);
});

Deno.test("the server says what names mean", async () => {
  const tokens = await withServer(
    TEXT,
    (client) =>
      client.connection.sendRequest(SemanticTokensRequest.type, {
        textDocument: { uri: client.uri("a.tc") },
      }),
  );
  const lines = TEXT.split("\n");
  const shown: Record<string, string> = {};
  let [line, character] = [0, 0];
  const data = tokens?.data ?? [];
  for (let i = 0; i < data.length; i += 5) {
    const [down = 0, right = 0, length = 0, type = 0, modifiers = 0] = data.slice(i, i + 5);
    character = down === 0 ? character + right : right;
    line += down;
    const word = lines[line]?.slice(character, character + length) ?? "";
    const words = LEGEND.tokenModifiers.filter((_, bit) => (modifiers >> bit & 1) === 1);
    shown[`${line} ${word}`] ??= [LEGEND.tokenTypes[type], ...words].join(" ");
  }
  const expected = {
    "0 TYPE": "macro",
    "1 TM": "macro",
    "2 EXTENT": "macro declaration",
    "3 FEW": "enumMember declaration readonly",
    "4 wide": "type declaration",
    "5 twice": "function declaration",
    "5 FEW": "enumMember readonly",
    "6 f": "function declaration",
    "6 X": "parameter declaration",
    "7 r": "variable declaration",
    "7 EXTENT": "macro",
    "9 X": "parameter",
    "10 wide": "type",
    "10 twice": "function",
    "10 exp": "function defaultLibrary",
    "11 w": "variable",
    "11 F32_INFINITY": "enumMember readonly defaultLibrary",
  };
  assertEquals(Object.fromEntries(Object.keys(expected).map((key) => [key, shown[key]])), expected);
});
