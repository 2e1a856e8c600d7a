import { assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { LspClient } from "../support/lsp_client.ts";
import { Workspace } from "../support/tri_process.ts";

const GOOD = `__global__ void copy(float *X, float *Y, int N) {
  int i[64] = get_program_id(0) * 64 + 0 ... 64;
  *?(i < N) (Y + i) = *?(i < N) (X + i);
}
`;

const isEmpty = (list: readonly unknown[]): boolean => list.length === 0;
const isFull = (list: readonly unknown[]): boolean => list.length > 0;

Deno.test("tri lsp shows errors as they are typed, and takes them away when they are fixed", async () => {
  using workspace = new Workspace();
  const client = await LspClient.start(workspace.path);
  await client.open("copy.tc", GOOD.replace("i < N", "i < M"));
  const [first, ...more] = await client.diagnostics("copy.tc");
  assertEquals(more, []);
  assertEquals(first?.code, "E2001");
  assertEquals(first?.severity, 1);
  assertEquals(first?.source, "tri");
  assertEquals(first && client.textIn("copy.tc", first.range), "M");
  assertStringIncludes(`${first?.message}`, "`M` is not declared");

  await client.replace("copy.tc", "i < M", "i < N");
  assertEquals(await client.diagnostics("copy.tc", isEmpty), []);
  await client.replace("copy.tc", "int i[64]", "int i[63]");
  const again = await client.diagnostics("copy.tc", isFull);
  assertEquals(again[0]?.code, "E3021");
  assertEquals(client.logged, []);
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp counts columns in UTF-16 units", async () => {
  using workspace = new Workspace();
  const client = await LspClient.start(workspace.path);
  await client.open("copy.tc", GOOD.replace("*?(i < N)", "/* 𝕏ü */ *?(i < M)"));
  const [first] = await client.diagnostics("copy.tc");
  assertEquals(first?.range, client.rangeOf("copy.tc", "M"));
  await client.replace("copy.tc", "𝕏ü */ *?(i < M)", "😀 */ *?(i < N)");
  assertEquals(await client.diagnostics("copy.tc", isEmpty), []);
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp follows deno.json and includes, also those that are open in the editor", async () => {
  using workspace = new Workspace({
    "deno.json": `{ "tri": { "files": { "kernels/copy.tc": { "defines": { "TM": 64 } } } } }`,
    "kernels/size.h": "#define LIMIT N\n",
  });
  const client = await LspClient.start(workspace.path);
  const text = `#include "size.h"\n${GOOD.replaceAll("64", "TM").replaceAll("< N", "< LIMIT")}`;
  await client.open("kernels/copy.tc", text);
  assertEquals(await client.diagnostics("kernels/copy.tc"), []);
  await client.open("kernels/size.h", "#define LIMIT Q\n");
  await client.replace("kernels/copy.tc", "int N", "int  N");
  const [first] = await client.diagnostics("kernels/copy.tc", isFull);
  assertStringIncludes(`${first?.message}`, "`Q` is not declared");
  assertEquals(first && client.textIn("kernels/copy.tc", first.range), "LIMIT");
  assertEquals(first?.relatedInformation?.[0]?.location.uri, client.uri("kernels/size.h"));
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp shows what is wrong with deno.json in deno.json", async () => {
  using workspace = new Workspace({
    "copy.tc": GOOD,
    "deno.json": `{ "tri": { "files": { "copy.tc": { "defnes": {} } } } }`,
  });
  const client = await LspClient.start(workspace.path);
  await client.open("copy.tc", GOOD);
  const [first] = await client.diagnostics("deno.json", isFull);
  assertStringIncludes(`${first?.message}`, "defnes");
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp says once what all instances of a kernel have, and else names the instance", async () => {
  using workspace = new Workspace();
  const client = await LspClient.start(workspace.path);
  const variants = "#pragma tri variants TYPE in {float, half}\n";
  const typed = GOOD.replaceAll("float", "TYPE");
  await client.open("copy.tc", variants + typed.replace("i < N", "i < M"));
  const all = await client.diagnostics("copy.tc");
  assertEquals(all.map(({ code }) => code), ["E2001"]);
  assertEquals(all[0]?.relatedInformation, []);
  await client.open("one.tc", `${variants}#if __type_is(TYPE, half)\nint x\n#endif\n${typed}`);
  const some = await client.diagnostics("one.tc");
  assertStringIncludes(
    some.flatMap(({ relatedInformation = [] }) => relatedInformation.map((i) => i.message)).join(),
    "in the instance TYPE=half",
  );
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp shows once what two documents say about a header, until both are closed", async () => {
  using workspace = new Workspace({ "broken.h": "#error no\n" });
  const client = await LspClient.start(workspace.path);
  const text = `#include "broken.h"\n${GOOD}`;
  await client.open("a.tc", text);
  const said = await client.diagnostics("broken.h", isFull);
  assertEquals(said.map(({ code }) => code), ["E1040"]);
  await client.open("b.tc", text);
  await client.diagnostics("b.tc");
  await client.close("a.tc");
  await client.diagnostics("a.tc", isEmpty);
  assertEquals((await client.diagnostics("broken.h")).length, 1);
  await client.close("b.tc");
  assertEquals(await client.diagnostics("broken.h", isEmpty), []);
  assertEquals(await client.stop(), 0);
});

Deno.test("tri lsp takes the options of tri check", async () => {
  using workspace = new Workspace({ "headers/size.h": "#define LIMIT N\n" });
  const options = ["-I", "headers", "-D", "TM=64", "--werror"];
  const client = await LspClient.startProcess(workspace.path, options);
  const text = GOOD.replaceAll("64", "TM").replaceAll("< N", "< LIMIT");
  await client.open("copy.tc", `#include <size.h>\n${text}`);
  assertEquals(await client.diagnostics("copy.tc"), []);
  await client.replace("copy.tc", "float *X", "float *X __huge");
  const [first] = await client.diagnostics("copy.tc", isFull);
  assertEquals(first?.severity, 1);
  assertEquals(await client.stop(), 0);
});
