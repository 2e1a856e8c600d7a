/**
 * The extension in VS Code itself, as `code-server` of npm has it: it is installed, debugs a kernel, and its panel follows.
 * VS Code's own harness, `@vscode/test-electron`, downloads an editor from Microsoft; code-server is an npm package. It is
 * large, so the test asks for one that is there: TRI_CODE_SERVER is its `out/node/entry.js`, TRI_NODE a Node that it
 * supports. editors/vscode/README.md has the commands.
 */
import manifest from "../../editors/vscode/package.json" with { type: "json" };
import { copyTree } from "../../scripts/npm/tarball.ts";
import { writePanel } from "../../scripts/vscode_panel.ts";
import { must } from "../../compiler/support/bug.ts";
import { REAL_MAIN, Workspace } from "../cli/support/tri_process.ts";
import { type BrowserPage, Chromium, findChromium } from "../playground/chromium.ts";
import { assert } from "../support/assert.ts";
import { install } from "../support/tools/npm.ts";

const server = Deno.env.get("TRI_CODE_SERVER");
const node = Deno.env.get("TRI_NODE") ?? "node";
const chromium = findChromium();
const TRANSPOSE = new URL("../../playground/gallery/learn/transpose.tc", import.meta.url);
const EXTENSION = new URL("../../editors/vscode", import.meta.url).pathname;
const why = server === undefined
  ? " [skipped: no TRI_CODE_SERVER]"
  : chromium === undefined
  ? " [skipped: no Chromium]"
  : "";

/** What a new workbench would ask or show first. */
const SETTINGS = {
  "security.workspace.trust.enabled": false,
  "workbench.startupEditor": "none",
  "chat.disableAIFeatures": true,
  "triton-c.server": [Deno.execPath(), "run", "-A", "--no-check", REAL_MAIN, "lsp"],
};

const LAUNCH = {
  version: "0.2.0",
  configurations: [
    { type: "triton-c", request: "launch", name: "Kernel", program: "${file}", stopOnEntry: true },
  ],
};

/** Where an element is, to be clicked; the first one that a selector finds. */
async function click(page: BrowserPage, selector: string): Promise<void> {
  await page.until(`document.querySelector(${JSON.stringify(selector)})?.offsetWidth > 0`);
  const [x, y] = await page.evaluate(`(() => {
    const { x, y, width, height } = document.querySelector(${JSON.stringify(selector)})
      .getBoundingClientRect();
    return [x + width / 2, y + height / 2];
  })()`) as [number, number];
  for (const type of ["mousePressed", "mouseReleased"]) {
    await page.send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
  }
}

/** What the panel says: it is a frame in a frame of the workbench. */
const PANEL = `document.querySelector("iframe.webview.ready")?.contentDocument
  ?.querySelector("#active-frame")?.contentDocument?.body?.textContent ?? ""`;

Deno.test({
  name: `the VS Code extension debugs a kernel in code-server, with pictures beside it${why}`,
  ignore: why !== "",
  fn: async () => {
    using files = new Workspace({
      "project/deno.json": "{}",
      "project/a.tc": Deno.readTextFileSync(TRANSPOSE),
      "project/.vscode/launch.json": JSON.stringify(LAUNCH),
      "data/User/settings.json": JSON.stringify(SETTINGS),
    });
    const { path } = files;
    const extension =
      `${path}/extensions/${manifest.publisher}.${manifest.name}-${manifest.version}`;
    await copyTree(EXTENSION, extension);
    await writePanel(`${extension}/dist`);
    await install(extension);
    const socket = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = socket.addr;
    socket.close();
    const editor = new Deno.Command(node, {
      args: [
        ...[must(server, "code-server"), "--auth", "none", "--bind-addr", `127.0.0.1:${port}`],
        ...["--user-data-dir", `${path}/data`, "--extensions-dir", `${path}/extensions`],
        ...["--disable-telemetry", "--disable-update-check"],
      ],
      env: { HOME: path },
      stdout: "null",
      stderr: "null",
    }).spawn();
    const browser = await Chromium.start(must(chromium, "Chromium"));
    const page = await browser.open(1400, 900);
    try {
      const file = `vscode-remote://127.0.0.1:${port}${path}/project/a.tc`;
      const payload = encodeURIComponent(JSON.stringify([["openFile", file]]));
      const address = `http://127.0.0.1:${port}/?folder=${path}/project&payload=${payload}`;
      await isServing(port, editor);
      await page.goto(address, "document.querySelector('.view-lines .mtk1') !== null");
      // The activity bar has the view of the debugger, and that the button that starts it.
      await click(page, ".action-label.codicon-run-view-icon");
      await click(page, ".codicon-debug-start");
      await page.until(`(${PANEL}).includes("0 of 295")`);
      await click(page, ".debug-toolbar .codicon-debug-step-over");
      await page.until(`/[1-9]\\d* of 295/.test(${PANEL})`);
      const said = String(await page.evaluate(PANEL));
      assert(said.includes("rm: int[32], held in a register"), said);
    } finally {
      await page.close();
      await browser.end();
      await end(editor);
    }
  },
  // Sockets of the browser end with it.
  sanitizeOps: false,
  sanitizeResources: false,
});

async function isServing(port: number, editor: Deno.ChildProcess): Promise<void> {
  let hasEnded = false;
  void editor.status.then(() => hasEnded = true);
  for (let attempt = 0; attempt < 600 && !hasEnded; attempt++) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/healthz`);
      await response.body?.cancel();
      if (response.ok) return;
    } catch {
      // Not yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`code-server ${hasEnded ? "ended" : "does not answer"}: ${node} ${server}`);
}

async function end(editor: Deno.ChildProcess): Promise<void> {
  try {
    editor.kill("SIGTERM");
  } catch {
    // It has ended by itself.
  }
  await editor.status;
}
