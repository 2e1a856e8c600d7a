import {
  CodeActionRequest,
  CompletionRequest,
  DefinitionRequest,
  DocumentSymbolRequest,
  HoverRequest,
  SignatureHelpRequest,
} from "vscode-languageserver-protocol/node";
import { EXPLANATIONS, sectionText } from "../../../cli/explain/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "../../support/assert.ts";
import { LspClient } from "../support/lsp_client.ts";
import { Workspace } from "../support/tri_process.ts";

const ROOT = new URL("../../..", import.meta.url).pathname.replace(/\/$/, "");
const MATMUL = "kernels/matmul.tc";

/** A server for this repository, with matrix multiplication open and checked. */
async function openMatmul(): Promise<LspClient> {
  const client = await LspClient.start(ROOT);
  await client.open(MATMUL, Deno.readTextFileSync(`${ROOT}/${MATMUL}`));
  assertEquals(await client.diagnostics(MATMUL), []);
  return client;
}

/** A server with one document, `a.tc`. */
async function openText(workspace: Workspace, text: string): Promise<LspClient> {
  const client = await LspClient.start(workspace.path);
  await client.open("a.tc", text);
  await client.diagnostics("a.tc");
  return client;
}

async function hover(client: LspClient, name: string, at: string, count = 1): Promise<string> {
  const found = await client.connection.sendRequest(HoverRequest.type, client.at(name, at, count));
  const contents = found?.contents;
  return typeof contents === "object" && "value" in contents ? contents.value : "";
}

/** The line where the word at a location is defined, counted from 0, and the text there. */
async function definition(
  client: LspClient,
  name: string,
  at: string,
  count = 1,
): Promise<string | undefined> {
  const found = await client.connection.sendRequest(
    DefinitionRequest.type,
    client.at(name, at, count),
  );
  if (found === null || Array.isArray(found)) return undefined;
  return `${found.range.start.line} ${client.textIn(name, found.range)}`;
}

async function labels(client: LspClient, name: string, at: string, count = 1): Promise<string[]> {
  const found = await client.connection.sendRequest(
    CompletionRequest.type,
    client.at(name, at, count),
  );
  const items = Array.isArray(found) ? found : found?.items ?? [];
  return items.map(({ label }) => label);
}

Deno.test("tri lsp shows types with shapes, of all instances, when one hovers over a name", async () => {
  const client = await openMatmul();
  const pa = await hover(client, MATMUL, "pa[MB");
  assertStringIncludes(pa, "half*[64, 32] pa");
  assertStringIncludes(pa, "- `half*[128, 32]` for float16, MB=128, NB=128, KB=32");
  assertStringIncludes(await hover(client, MATMUL, "@ b;"), "float[64, 64]");
  assertStringIncludes(await hover(client, MATMUL, "*?(rm"), "half[64, 32]");
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp shows what the contract says of a parameter, in the program and in pragmas", async () => {
  const client = await openMatmul();
  const pointer = await hover(client, MATMUL, "A __readonly");
  assertStringIncludes(pointer, "access: in, noalias");
  assertStringIncludes(pointer, "`half[M, K]` strides `[stride_a_0, stride_a_1]`");
  for (const at of ["M, K] strides", "M, int N"]) {
    const extent = await hover(client, MATMUL, at);
    assertStringIncludes(extent, "extent 0 of A");
    assertStringIncludes(extent, "required: `(M - 1) * stride_a_0 <= 2147483647");
  }
  const kernel = await hover(client, MATMUL, "matmul(TYPE");
  assertStringIncludes(kernel, "Multiplies two matrices");
  assertStringIncludes(kernel, "cdiv(M, MB) * cdiv(N, NB)");
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp shows macros with what they become, built-in functions and words with their meaning", async () => {
  const client = await openMatmul();
  const step = await hover(client, MATMUL, "STEP * stride_a_1;");
  assertStringIncludes(step, "#define STEP KB");
  assertStringIncludes(step, "Expands to `32`");
  assertStringIncludes(await hover(client, MATMUL, "MB] = pidm"), "In the instances: `64`, `128`");
  const id = await hover(client, MATMUL, "get_program_id");
  assertStringIncludes(id, "index of the program in the grid");
  assertStringIncludes(id, "Here: `int`");
  assertStringIncludes(await hover(client, MATMUL, "tensor A"), "what a pointer points to");
  assertStringIncludes(await hover(client, MATMUL, "__noalias"), "reached through no other one");
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp finds the definitions of variables, macros, parameters of pragmas and of kernels", async () => {
  const client = await openMatmul();
  const lines = Deno.readTextFileSync(`${ROOT}/${MATMUL}`).split("\n");
  const lineOf = (text: string): number => lines.findIndex((line) => line.includes(text));
  const expected = [
    ["pa += STEP", `${lineOf("*pa[MB, STEP]")} pa`],
    ["GROUP * tilesn", `${lineOf("#define GROUP")} GROUP`],
    ["TYPE a[", `${lineOf("variants TYPE in")} TYPE`],
    ["M, K] strides", `${lineOf("int M, int N")} M`],
    ["K; k >", `${lineOf("int M, int N")} K`],
  ] as const;
  for (const [at, location] of expected) {
    assertEquals(await definition(client, MATMUL, at), location, at);
  }
  assertEquals(await definition(client, MATMUL, "Each program"), undefined);
  assertEquals(await client.stop(), 0);
});

const HELPERS = `#include "size.h"
float[64] twice(float[64] x);
typedef int index;
const int HALF = SIZE / 2;
// Doubles.
float[64] twice(float[64] x) { return x + x; }
__global__ void f(float *X) {
  index i[64] = 0 ... 64;
  *(X + i) = twice(*(X + i)) * HALF;
}
`;

Deno.test("tri lsp finds the file whose pragmas another one includes", async () => {
  using workspace = new Workspace({ "tiles.h": "#pragma tri config T=16\n" });
  const text = '#pragma tri include "tiles.h"\n__global__ void f(float *X) { *X = T; }\n';
  const client = await openText(workspace, text);
  for (const at of ["tiles.h", "T; }"]) {
    const location = client.at("a.tc", at);
    const found = await client.connection.sendRequest(DefinitionRequest.type, location);
    assertEquals(
      found === null || Array.isArray(found) ? undefined : found.uri,
      client.uri("tiles.h"),
    );
  }
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp shows constant buffers and their sizes", async () => {
  using workspace = new Workspace({});
  const text = "#define N 64\nfloat __constant__ *TABLE = calloc(4 * N);\n" +
    "__global__ void f(float *X, int n) { *X = TABLE[n]; }\n";
  const client = await openText(workspace, text);
  const table = await hover(client, "a.tc", "TABLE[n");
  assertStringIncludes(table, "float __constant__*");
  assertStringIncludes(table, "256 bytes of constant memory");
  assertEquals(await definition(client, "a.tc", "TABLE[n"), "1 TABLE");
  assertEquals((await labels(client, "a.tc", "TABLE[n")).includes("TABLE"), true);
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp shows helpers, types, constants and headers", async () => {
  using workspace = new Workspace({ "size.h": "#define SIZE 8\n" });
  const client = await openText(workspace, HELPERS);
  assertEquals(await definition(client, "a.tc", "twice(*"), "5 twice");
  assertEquals(await definition(client, "a.tc", "index i"), "2 index");
  assertEquals(await definition(client, "a.tc", "HALF;"), "3 HALF");
  const uris = await Promise.all(["size.h", "SIZE / 2"].map(async (at) => {
    const location = client.at("a.tc", at);
    const found = await client.connection.sendRequest(DefinitionRequest.type, location);
    return found === null || Array.isArray(found) ? undefined : found.uri;
  }));
  assertEquals(uris, [client.uri("size.h"), client.uri("size.h")]);
  const twice = await hover(client, "a.tc", "twice(*");
  assertStringIncludes(twice, "float[64] twice(float[64] x)");
  assertStringIncludes(twice, "Doubles.");
  assertStringIncludes(await hover(client, "a.tc", "HALF;"), "Value: `4`");
  const help = await client.connection.sendRequest(
    SignatureHelpRequest.type,
    client.at("a.tc", "*(X + i)) * HALF"),
  );
  assertEquals(help?.signatures.map(({ label }) => label), ["float[64] twice(float[64] x)"]);
  const symbols = await client.connection.sendRequest(DocumentSymbolRequest.type, {
    textDocument: { uri: client.uri("a.tc") },
  });
  assertEquals(symbols?.map(({ name }) => name), ["index", "HALF", "twice", "f"]);
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp completes what is in scope, built-in functions and words", async () => {
  using workspace = new Workspace({ "size.h": "#define SIZE 8\n" });
  const client = await openText(workspace, HELPERS);
  const inside = await labels(client, "a.tc", "*(X + i) = ");
  for (const name of ["i", "X", "f", "twice", "HALF", "SIZE", "index", "exp", "float", "newaxis"]) {
    assert(inside.includes(name), name);
  }
  assert(!inside.includes("x"), "the parameter of another function");
  const before = await labels(client, "a.tc", "index i[64]");
  assert(!before.includes("i"), "a variable that is declared later");
  assertEquals(await labels(client, "a.tc", "oubles."), []);
  await client.replace("a.tc", "*(X + i) = ", "float y = expf(X, ); *(X + i) = ");
  assert((await labels(client, "a.tc", "); *(X")).includes("X"), "in a broken statement");
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp completes directives, pragmas and the names that these may use", async () => {
  using workspace = new Workspace();
  const client = await openText(
    workspace,
    `#\n#pragma tri \n#pragma tri tensor X : \n#pragma tri config T=64; \n${
      HELPERS.slice(HELPERS.indexOf("\n") + 1)
    }`,
  );
  const after = async (text: string): Promise<string[]> => {
    const { textDocument } = client.at("a.tc", text);
    const { end: position } = client.rangeOf("a.tc", text);
    const found = await client.connection.sendRequest(CompletionRequest.type, {
      textDocument,
      position,
    });
    return (Array.isArray(found) ? found : found?.items ?? []).map(({ label }) => label);
  };
  assert((await after("#")).includes("ifdef"));
  assert((await after("#pragma ")).includes("tri"));
  assert((await after("#pragma tri ")).includes("configs"));
  const tensor = await after("tensor X : ");
  for (const word of ["inout", "strides", "X", "cdiv"]) assert(tensor.includes(word), word);
  assert((await after("config T=64; ")).includes("num_warps"));
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp explains a diagnostic and offers the change that fixes it", async () => {
  using workspace = new Workspace();
  const client = await openText(
    workspace,
    HELPERS.replace('#include "size.h"', "#define SIZE 2").replace("HALF;", "HALV;"),
  );
  const diagnostics = [...await client.diagnostics("a.tc")];
  const explained = `${EXPLANATIONS.E2001.text} ${sectionText("E2001")}`;
  assertStringIncludes(await hover(client, "a.tc", "HALV"), explained);
  const [action] = await client.connection.sendRequest(CodeActionRequest.type, {
    textDocument: { uri: client.uri("a.tc") },
    range: must(diagnostics[0], "a diagnostic").range,
    context: { diagnostics },
  }) ?? [];
  assertEquals(action?.title, "Replace HALV with HALF");
  assertEquals(action && "edit" in action ? action.edit : undefined, {
    changes: {
      [client.uri("a.tc")]: [{ range: client.rangeOf("a.tc", "HALV"), newText: "HALF" }],
    },
  });
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp answers questions about documents that are not open with an error", async () => {
  using workspace = new Workspace();
  const client = await LspClient.start(workspace.path);
  const nowhere = {
    textDocument: { uri: client.uri("none.tc") },
    position: { line: 0, character: 0 },
  };
  await assertRejects(
    () => client.connection.sendRequest(HoverRequest.type, nowhere),
    Error,
    "not open",
  );
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp shows the parts of a text that only some instances take, and parameters of macros", async () => {
  using workspace = new Workspace();
  const client = await openText(
    workspace,
    `#pragma tri variants TYPE in {float, half}
#define TWICE(value) ((value) + value)
__global__ void f(TYPE *X) {
#if __type_is(TYPE, half)
  half narrow = *X;
  *X = TWICE(narrow);
#endif
}
`,
  );
  assertStringIncludes(await hover(client, "a.tc", "narrow);"), "half narrow");
  assertEquals(await definition(client, "a.tc", "narrow);"), "4 narrow");
  assertStringIncludes(await hover(client, "a.tc", "value)", 2), "parameter of the macro `TWICE`");
  assertEquals(await definition(client, "a.tc", "value)", 3), "1 value");
  assertStringIncludes(await hover(client, "a.tc", "TWICE(n"), "Expands to `((narrow) + narrow)`");
  assertEquals(await client.stop(), 0);
});
