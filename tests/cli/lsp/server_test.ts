import { once } from "node:events";
import { must } from "../../../compiler/support/bug.ts";
import { assertEquals, assertMatch, assertRejects } from "../../support/assert.ts";
import { testsInTurn } from "../../support/sampled.ts";
import { LspClient, spawnServer } from "../support/lsp_client.ts";
import { REAL_MAIN, Workspace } from "../support/tri_process.ts";

const test = testsInTurn(2);

test("tri lsp ends with 0 after shutdown and exit, else with 1", async () => {
  using workspace = new Workspace();
  const [polite, abrupt, gone] = await Promise.all(
    [1, 2, 3].map(() => LspClient.startProcess(workspace.path)),
  );
  const codes = await Promise.all([polite?.stop(), abrupt?.exit(), gone?.vanish()]);
  assertEquals(codes, [0, 1, 1]);
});

Deno.test("tri lsp answers a second initialize and unknown requests with errors, and continues", async () => {
  using workspace = new Workspace();
  const client = await LspClient.start(workspace.path);
  await assertRejects(() => client.initialize(), Error, "twice");
  await assertRejects(() => client.connection.sendRequest("tri/none", {}), Error);
  assertEquals(await client.stop(), 0);
});

test("tri lsp survives a message that is no JSON", async () => {
  using workspace = new Workspace();
  const child = spawnServer(workspace.path);
  const stdin = must(child.stdin, "a pipe");
  const stdout = must(child.stdout, "a pipe");
  const send = (body: string): void => {
    stdin.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
  };
  let said = "";
  stdout.on("data", (chunk) => said += chunk);
  send("{ no json");
  send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`);
  send(`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`);
  send(`{"jsonrpc":"2.0","method":"exit"}`);
  const [code] = await once(child, "exit");
  assertMatch(said, /"name":"tri"/);
  assertEquals(code, 0);
});

Deno.test("tri lsp refuses a wrong option before it says anything", async () => {
  using workspace = new Workspace();
  for (const option of ["--no-warn=W1", "--arch=sm_1", "--stdin"]) {
    const { code, stdout } = await workspace.tri(["lsp", option], { main: REAL_MAIN });
    assertEquals([code, stdout], [2, ""]);
  }
});
