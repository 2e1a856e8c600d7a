/** The panel of VS Code in Chromium: the extension's own module, a debug adapter in a process, an editor that is a stub. */
import { must } from "../../compiler/support/bug.ts";
import { writePanel } from "../../scripts/vscode_panel.ts";
import { Workspace } from "../cli/support/tri_process.ts";
import { type BrowserPage, Chromium, findChromium } from "../playground/chromium.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { type LiveAdapter, startAdapter } from "./live_adapter.ts";
import { openPanelEditor, type PanelEditor } from "./panel_editor.ts";

const chromium = findChromium();
const why = chromium === undefined ? " [skipped: no Chromium]" : "";
const TRANSPOSE = new URL("../../playground/gallery/learn/transpose.tc", import.meta.url);

/** What an editor gives a page; what the page sends is fetched from `sent`. */
const STUB = `
globalThis.sent = [];
globalThis.kept = { view: "layouts" };
globalThis.refused = [];
addEventListener("securitypolicyviolation", ({ blockedURI }) => refused.push(blockedURI));
globalThis.acquireVsCodeApi = () => ({
  postMessage: (message) => sent.push(message),
  getState: () => kept,
  setState: (state) => kept = state,
});`;

const TYPES: Readonly<Record<string, string>> = { js: "text/javascript", css: "text/css" };

function respond(folder: string, url: string, html: string): Response {
  const { pathname } = new URL(url);
  const [, extension = ""] = /\.(\w+)$/.exec(pathname) ?? [];
  const type = TYPES[extension];
  if (type === undefined) return new Response(html, { headers: { "content-type": "text/html" } });
  return new Response(Deno.readTextFileSync(folder + pathname), {
    headers: { "content-type": type },
  });
}

/** Carries messages between page and extension until a condition holds in the page. */
async function until(page: BrowserPage, editor: PanelEditor, condition: string): Promise<void> {
  const end = performance.now() + 60_000;
  for (;;) {
    const sent = await page.evaluate("sent.splice(0)");
    for (const message of Array.isArray(sent) ? sent : []) editor.take(message);
    for (const message of editor.sent()) {
      await page.evaluate(`postMessage(${JSON.stringify(message)})`);
    }
    if (await page.evaluate(condition) === true) return;
    assert(performance.now() < end, `never true: ${condition} ${page.console.join("\n")}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

Deno.test({
  name: `the VS Code panel shows the views of a launch, follows it and moves it${why}`,
  ignore: chromium === undefined,
  fn: async () => {
    using files = new Workspace({ "deno.json": "{}", "a.tc": Deno.readTextFileSync(TRANSPOSE) });
    await writePanel(`${files.path}/dist`);
    const browser = await Chromium.start(must(chromium, "Chromium"));
    const page = await browser.open(900, 700);
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      ({ url }) => respond(files.path, url, editor.html()),
    );
    const base = `http://127.0.0.1:${server.addr.port}`;
    const ask = (command: string, args: unknown): Promise<unknown> =>
      adapter.request(command, args);
    const editor = openPanelEditor(base, ask, `${files.path}/a.tc`);
    let stops = 0;
    const adapter: LiveAdapter = startAdapter(files.path, [
      "a.tc",
      "--size",
      "M=64",
      "--size",
      "N=40",
    ], (message) => {
      if (message.event === "stopped") stops++;
      editor.told(message);
    });
    try {
      await ask("launch", { stopOnEntry: true });
      await ask("configurationDone", {});
      await ask("threads", {});
      assert(editor.html().includes("default-src 'none'"), "a stop opens the panel");
      await page.send("Page.addScriptToEvaluateOnNewDocument", { source: STUB });
      await page.goto(base, "document.querySelectorAll('[role=tab]').length === 6");
      await showsEachView(page, editor);
      // A step of the editor is one of the panel, and the other way round.
      const step = "Number(/(\\d+) of/.exec(document.querySelector('#view .bar').textContent)[1])";
      await ask("next", { threadId: 1 });
      await until(page, editor, `${step} > 0`);
      const before = stops;
      await page.evaluate("document.querySelector('[aria-label=\"last step\"]').click()");
      await until(page, editor, `${step} > 250`);
      assert(stops > before, "the editor is told where the launch is");
      await page.evaluate("document.querySelector('[data-view=faults]').click()");
      await until(page, editor, "document.body.textContent.includes('nothing found')");
      assert(editor.marked.includes(15), `lines are marked in the editor: ${editor.marked}`);
      await ask("disconnect", {});
      editor.end();
      await until(
        page,
        editor,
        "document.querySelector('#status').textContent.includes('has ended')",
      );
      const others = page.requests.filter((url) => !url.startsWith(base) && url !== "about:blank");
      assertEquals([others, page.console, await page.evaluate("refused")], [[], [], []]);
    } finally {
      await page.close();
      await browser.end();
      await server.shutdown();
      await adapter.close();
    }
  },
  // Sockets of the browser end with it.
  sanitizeOps: false,
  sanitizeResources: false,
});

async function showsEachView(page: BrowserPage, editor: PanelEditor): Promise<void> {
  // The view that was shown last is there again, and its tab is kept.
  await until(page, editor, "document.querySelectorAll('#view figure').length > 0");
  const shown = "document.querySelector('[aria-selected=true]').dataset.view";
  assertEquals(await page.evaluate(shown), "layouts");
  for (const view of ["memory", "timeline", "report", "values"]) {
    await page.evaluate(`document.querySelector("[data-view=${view}]").click()`);
    const drawn = view === "values" ? ".next" : "table";
    await until(page, editor, `document.querySelector("#view ${drawn}") !== null`);
    assertEquals(await page.evaluate("kept.view"), view);
  }
  await page.evaluate(
    "document.documentElement.style.setProperty('--vscode-editor-foreground', 'rgb(1, 2, 3)')",
  );
  assertEquals(await page.evaluate("getComputedStyle(document.body).color"), "rgb(1, 2, 3)");
}
