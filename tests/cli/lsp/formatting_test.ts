import {
  DocumentFormattingRequest,
  DocumentRangeFormattingRequest,
  type TextEdit,
} from "vscode-languageserver-protocol/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import { assertEquals } from "../../support/assert.ts";
import { LspClient } from "../support/lsp_client.ts";
import { Workspace } from "../support/tri_process.ts";

const TEXT = `__global__ void f(float*X,int n){
  int r[16]=0 ... 16;
  // kept
  *?(r<n) (X+r)=1;
}
`;
const OPTIONS = { tabSize: 2, insertSpaces: true };

function applied(text: string, edits: TextEdit[] | null): string {
  return TextDocument.applyEdits(
    TextDocument.create("file:///a.tc", "triton-c", 0, text),
    edits ?? [],
  );
}

async function withServer(
  text: string,
  ask: (client: LspClient) => Promise<TextEdit[] | null>,
): Promise<string> {
  using workspace = new Workspace();
  const client = await LspClient.start(workspace.path);
  await client.open("a.tc", text);
  const edits = await ask(client);
  await client.stop();
  assertEquals(client.logged, []);
  return applied(text, edits);
}

Deno.test("the server formats a document by edits of the lines that change", async () => {
  const formatted = await withServer(TEXT, async (client) => {
    const textDocument = { uri: client.uri("a.tc") };
    const edits = await client.connection.sendRequest(DocumentFormattingRequest.type, {
      textDocument,
      options: OPTIONS,
    });
    assertEquals(edits?.map(({ range: { start, end } }) => [start.line, end.line]), [[0, 2], [
      3,
      4,
    ]]);
    return edits;
  });
  assertEquals(
    formatted,
    `__global__ void f(float *X, int n) {
  int r[16] = 0 ... 16;
  // kept
  *?(r < n) (X + r) = 1;
}
`,
  );
});

Deno.test("the server formats the lines of a range", async () => {
  const formatted = await withServer(
    TEXT,
    (client) =>
      client.connection.sendRequest(DocumentRangeFormattingRequest.type, {
        textDocument: { uri: client.uri("a.tc") },
        range: client.rangeOf("a.tc", "X+r"),
        options: OPTIONS,
      }),
  );
  assertEquals(formatted, TEXT.replace("*?(r<n) (X+r)=1;", "*?(r < n) (X + r) = 1;"));
});

Deno.test("the server leaves a document with a syntax error as it is", async () => {
  for (const broken of ["void f( int n) { n = 1 }\n", "void f( int n {\n", ""]) {
    const formatted = await withServer(
      broken,
      (client) =>
        client.connection.sendRequest(DocumentFormattingRequest.type, {
          textDocument: { uri: client.uri("a.tc") },
          options: OPTIONS,
        }),
    );
    assertEquals(formatted, broken);
  }
});
