import {
  PrepareRenameRequest,
  ReferencesRequest,
  RenameRequest,
} from "vscode-languageserver-protocol/node";
import { analyse, spotAt } from "../../../cli/lsp/analysis.ts";
import { entityAt } from "../../../cli/lsp/entity.ts";
import { renameAt } from "../../../cli/lsp/rename.ts";
import { BUILTINS } from "../../../compiler/check/builtins/builtins.ts";
import { assert, assertEquals, assertRejects } from "../../support/assert.ts";
import { LspClient } from "../support/lsp_client.ts";
import { preparedText, withEdits } from "../support/lsp_text.ts";
import { Workspace } from "../support/tri_process.ts";
import { compileFile } from "../../support/compile.ts";
import { sampled } from "../../support/sampled.ts";
import { shipped, withPragmas } from "../../support/shipped.ts";

const TEXT = `#include "size.h"
/* 😀 é */ #define TWICE(value) ((value) + (value))
#define MASKED(p) (*?(mask) (p))
#define BLOCK 64
#pragma tri variants TYPE in {float, half}
#pragma tri grid(cdiv(N, BLOCK))
float half_of(float x);
float half_of(float x) { return x / 2; }
// N is not a word of the program here.
__global__ void f(TYPE *X, int N) {
  int i[BLOCK] = get_program_id(0) * BLOCK + 0 ... BLOCK;
  bool mask[BLOCK] = i < N;
  for (int k = 0; k < N; k++) {
    int i[BLOCK] = 0 ... BLOCK;
    int unused[BLOCK] = i + k; /* 𝕏 */ unused = unused + SIZE;
  }
  *?(i < N) (X + i) = TWICE(MASKED(X + i));
}
`;

async function open(workspace: Workspace, text = TEXT): Promise<LspClient> {
  const client = await LspClient.start(workspace.path);
  await client.open("a.tc", text);
  return client;
}

/** Lines, counted from 0, and columns of the references of the word at a location. */
async function references(
  client: LspClient,
  at: string,
  includeDeclaration = true,
): Promise<string[]> {
  const found = await client.connection.sendRequest(ReferencesRequest.type, {
    ...client.at("a.tc", at),
    context: { includeDeclaration },
  });
  return (found ?? []).map(({ uri, range: { start } }) =>
    `${uri.replace(/.*\//, "")} ${start.line}:${start.character}`
  );
}

async function rename(
  client: LspClient,
  at: string,
  newName: string,
  text = TEXT,
): Promise<string> {
  const edit = await client.connection.sendRequest(RenameRequest.type, {
    ...client.at("a.tc", at),
    newName,
  });
  return withEdits(text, edit?.changes?.[client.uri("a.tc")] ?? []);
}

Deno.test("tri lsp finds the references of variables by scope, also after characters of two UTF-16 units", async () => {
  using workspace = new Workspace({ "size.h": "#define SIZE 8\n" });
  const client = await open(workspace);
  // The inner i hides the outer one.
  assertEquals(
    await references(client, "i[BLOCK] = get"),
    [
      ..."10:6 11:21 16:5 16:17 16:39".split(" "),
    ].map((location) => `a.tc ${location}`),
  );
  assertEquals(await references(client, "i + k"), ["a.tc 13:8", "a.tc 14:24"]);
  assertEquals(await references(client, "unused = unused", false), ["a.tc 14:40", "a.tc 14:49"]);
  // In pragmas, and not in comments.
  const n = ["5:22", "9:31", "11:25", "12:22", "16:9"].map((location) => `a.tc ${location}`);
  assertEquals(await references(client, "N) {"), n);
  assertEquals(await references(client, "N, BLOCK"), n);
  assertEquals(await references(client, "TYPE *X"), ["a.tc 4:21", "a.tc 9:18"]);
  assertEquals(await references(client, "half_of(float x) {"), ["a.tc 6:6", "a.tc 7:6"]);
  assertEquals(await references(client, "value) + "), ["a.tc 1:25", "a.tc 1:34", "a.tc 1:44"]);
  assertEquals(await references(client, "SIZE"), ["a.tc 14:58", "size.h 0:8"]);
  assertEquals(await references(client, "return"), []);
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp renames what means the same and nothing else", async () => {
  using workspace = new Workspace({ "size.h": "#define SIZE 8\n" });
  const client = await open(workspace);
  const inner = await rename(client, "i + k", "lane");
  assertEquals(
    inner,
    TEXT.replace("    int i[BLOCK]", "    int lane[BLOCK]").replace("i + k", "lane + k"),
  );
  assertEquals(
    await rename(client, "N, BLOCK", "length"),
    TEXT.replace("cdiv(N", "cdiv(length").replace("int N)", "int length)")
      .replaceAll("i < N", "i < length").replace("k < N", "k < length"),
  );
  assertEquals(await rename(client, "BLOCK 64", "TILE"), TEXT.replaceAll("BLOCK", "TILE"));
  assertEquals(await rename(client, "TYPE in", "T"), TEXT.replaceAll("TYPE", "T"));
  assertEquals(await rename(client, "half_of", "halve"), TEXT.replaceAll("half_of", "halve"));
  const prepared = await client.connection.sendRequest(
    PrepareRenameRequest.type,
    client.at("a.tc", "unused = unused"),
  );
  assertEquals(prepared, {
    range: client.rangeOf("a.tc", "unused", 2),
    placeholder: "unused",
  });
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp says why a word cannot be renamed, and why a name cannot be taken", async () => {
  using workspace = new Workspace({
    "size.h": "#define SIZE 8\n#define CLEAR() (unused = 0)\n",
  });
  const client = await open(workspace);
  const refused: readonly (readonly [at: string, message: string])[] = [
    ["bool mask", "`bool` is a keyword"],
    ["get_program_id", "`get_program_id` is a built-in function"],
    ["SIZE", "`SIZE` is declared in size.h"],
    ["mask[", "The macro `MASKED` names `mask`"],
    ["unused = unused", "The macro `CLEAR` names `unused`"],
    ["64\n", "There is no name here"],
    ["variants TYPE", "`variants` is not declared here"],
  ];
  for (const [at, message] of refused) {
    const location = client.at("a.tc", at);
    await assertRejects(
      () => client.connection.sendRequest(PrepareRenameRequest.type, location),
      Error,
      message,
    );
    await assertRejects(() => rename(client, at, "fresh"), Error, message);
  }
  const taken: readonly (readonly [newName: string, message: string])[] = [
    ["k", "`k` is used in line 13 already"],
    ["BLOCK", "`BLOCK` is a macro"],
    ["int", "`int` is a keyword"],
    ["exp", "`exp` is a built-in function"],
    ["2x", "`2x` is not a name"],
    ["mask", "The macro `MASKED` names `mask`"],
  ];
  for (const [newName, message] of taken) {
    await assertRejects(() => rename(client, "N) {", newName), Error, message);
  }
  assertEquals(client.logged, []);
  assertEquals(await client.stop(), 0);
});

const SHARED = `#pragma tri kernel f, g
#pragma tri require(N > 0)
#pragma tri include "tiles.h"
#pragma tri kernel g
#pragma tri grid(M)
__global__ void f(float *X, int N, int M, int K, int L) { *(X + TM) = N + M + K + L; }
__global__ void g(float *X, int N, int M) { *(X + TM + M) = N; }
`;

Deno.test("tri lsp renames no name that pragmas of other kernels or other files say too", async () => {
  using workspace = new Workspace({
    "tiles.h": "#pragma tri config TM=16\n#pragma tri kernel f\n#pragma tri require(K > 0)\n",
  });
  const client = await open(workspace, SHARED);
  const refused: readonly (readonly [at: string, newName: string, message: string])[] = [
    ["N, int M, int K", "fresh", "A pragma that names `N` is also for `g`"],
    ["K, int L", "fresh", "`K` also occurs in tiles.h, which other files may use"],
    ["L)", "TM", "`TM` is a macro"],
    ["TM) = N", "fresh", "`TM` is declared in tiles.h, which other files may use"],
  ];
  for (const [at, newName, message] of refused) {
    await assertRejects(() => rename(client, at, newName), Error, message);
  }
  // The pragma in front of f is for g.
  assertEquals(
    await rename(client, "M, int K", "rows", SHARED),
    SHARED.replace("int M, int K", "int rows, int K").replace("N + M + K", "N + rows + K"),
  );
  assertEquals(
    await rename(client, "M) { *(X", "rows", SHARED),
    SHARED.replace("grid(M)", "grid(rows)")
      .replace("int M) { *(X + TM + M)", "int rows) { *(X + TM + rows)"),
  );
  assertEquals(client.logged, []);
  assertEquals(await client.stop(), 0);
});

const FRESH = "renamed_here";

Deno.test("every name of a kernel can be renamed: the program means the same, and renaming back restores it", () => {
  for (const name of sampled(["transpose.tc", "matmul_plain.tc"], 1)) {
    const text = withPragmas(shipped(name).text)
      .replace(/variants TYPE in \{.*\}/, "variants TYPE in {float}")
      .replace(/^#pragma tri variant (?!float32).*$/gm, "");
    const wanted = instructions(text);
    const analysis = analyse(preparedText(text), []);
    const declared = new Map(
      analysis.tokens.flatMap(({ kind, span }) => {
        const entity = kind === "identifier" ? entityAt(spotAt(analysis, span.start)) : undefined;
        return entity?.declaration.start === span.start ? [[span.start, entity.name]] : [];
      }),
    );
    assert(declared.size > 5, name);
    for (const [at, old] of declared) {
      const renamed = rewritten(text, at, FRESH);
      assertEquals(instructions(renamed).replaceAll(FRESH, old), wanted, `${name}: ${old}`);
      // A variable may hide a built-in function, but nothing is renamed to be one.
      if (BUILTINS.has(old)) continue;
      assertEquals(rewritten(renamed, renamed.indexOf(FRESH), old), text);
    }
  }
});

function rewritten(text: string, at: number, newName: string): string {
  const prepared = preparedText(text);
  const analysis = analyse(prepared, []);
  const { changes } = renameAt(analysis, spotAt(analysis, at), newName);
  return withEdits(text, changes?.[prepared.uriOf(prepared.file) ?? ""] ?? []);
}

/** The code of the kernels of a text, without what says where it came from. */
function instructions(text: string): string {
  const { file, options } = preparedText(text);
  const { kernels, diagnostics } = compileFile(file, options);
  assertEquals(diagnostics.filter(({ severity }) => severity === "error"), []);
  return kernels.flatMap(({ modules }) => modules.map(({ ptx }) => ptx)).join("\n")
    .replace(/^\s*\.loc.*$|\/\/.*$/gm, "");
}
