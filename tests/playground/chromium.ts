/**
 * Chromium, driven by its own protocol over a WebSocket: enough to open a page, run scripts in it, press keys and take
 * pictures. Debian's package `chromium` has the program; without it tests are skipped.
 */

import {
  connect,
  type Connection,
  type Facts,
  findProgram,
  type Running,
  start,
} from "./browser.ts";

/** The program; undefined where there is none. */
export function findChromium(): string | undefined {
  return findProgram([
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
  ]);
}

/** A page in a browser of its own. */
export class BrowserPage {
  readonly #browser: Running;
  readonly #connection: Promise<Connection>;
  /** Addresses that the page or its workers have asked for. */
  readonly requests: string[] = [];
  /** What it has written to its console, and errors. */
  readonly console: string[] = [];

  private constructor(browser: Running, address: string) {
    this.#browser = browser;
    this.#connection = connect(address, (method, params) => this.#take(method, params));
  }

  /** Starts a browser with an empty page. */
  static async open(program: string, width = 1280, height = 800): Promise<BrowserPage> {
    const browser = await start(program, (folder) => ({
      args: [
        ...["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"],
        ...["--remote-debugging-port=0", `--user-data-dir=${folder}`],
        ...["--no-first-run", "--disable-background-networking", "--disable-extensions"],
        ...["--disable-component-update", "--disable-sync", `--window-size=${width},${height}`],
        "about:blank",
      ],
      stderr: "null",
    }));
    const port = await portIn(`${browser.folder}/DevToolsActivePort`);
    const response = await fetch(`http://127.0.0.1:${port}/json`);
    const targets: readonly { readonly type: string; readonly webSocketDebuggerUrl: string }[] =
      await response.json();
    const url = targets.find(({ type }) => type === "page")?.webSocketDebuggerUrl ?? "";
    const page = new BrowserPage(browser, url);
    await page.send("Page.enable");
    await page.send("Runtime.enable");
    await page.send("Network.enable");
    await page.send("Emulation.setDeviceMetricsOverride", {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: false,
    });
    return page;
  }

  /** A command of the protocol. */
  async send(method: string, params: Facts = {}): Promise<Facts> {
    return await (await this.#connection).send(method, params);
  }

  /** Goes to an address and waits until a condition holds there. */
  async goto(url: string, condition = "document.readyState === 'complete'"): Promise<void> {
    await this.send("Page.navigate", { url: "about:blank" });
    await this.send("Page.navigate", { url });
    await this.until(condition);
  }

  /** The value of an expression in the page; a promise is waited for. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return typeof result === "object" && result !== null && "value" in result
      ? result.value
      : undefined;
  }

  /** Waits until an expression is true. */
  async until(condition: string, seconds = 60): Promise<void> {
    const end = performance.now() + 1000 * seconds;
    for (;;) {
      const holds = await this.evaluate(condition).catch(() => false);
      if (holds === true) return;
      if (performance.now() > end) {
        throw new Error(`never true: ${condition}\n${this.console.join("\n")}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Presses a key, such as `Tab`. */
  async press(key: string, modifiers = 0): Promise<void> {
    const code = CODES[key] ?? 0;
    const event = { key, code: key, windowsVirtualKeyCode: code, modifiers };
    await this.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...event });
    if (key === "Enter") await this.send("Input.dispatchKeyEvent", { type: "char", text: "\r" });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
  }

  /** Types text where the focus is. */
  async type(text: string): Promise<void> {
    await this.send("Input.insertText", { text });
  }

  /** The page as a PNG file. */
  async screenshot(): Promise<Uint8Array> {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    return Uint8Array.from(atob(String(data)), (char) => char.charCodeAt(0));
  }

  /** Ends the browser. */
  async close(): Promise<void> {
    (await this.#connection).close();
    await this.#browser.end();
  }

  #take(method: string, params: Facts): void {
    if (method === "Network.requestWillBeSent") {
      const { request } = params;
      if (typeof request === "object" && request !== null && "url" in request) {
        this.requests.push(String(request.url));
      }
    }
    if (method === "Runtime.exceptionThrown" || method === "Runtime.consoleAPICalled") {
      this.console.push(JSON.stringify(params));
    }
  }
}

/** Virtual key codes: of keys that have no letter, and of letters in shortcuts. */
const CODES: Readonly<Record<string, number>> = {
  Tab: 9,
  Enter: 13,
  Escape: 27,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
  M: 77,
  " ": 32,
};

/** Chromium writes the port that it chose into a file. */
async function portIn(file: string): Promise<number> {
  for (let attempt = 0; attempt < 400; attempt++) {
    try {
      const port = Number((await Deno.readTextFile(file)).split("\n")[0]);
      if (port > 0) return port;
    } catch {
      // Not yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("Chromium does not start");
}
