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

/** A browser: pages share nothing but the time that it takes to start. */
export class Chromium {
  private constructor(
    private readonly running: Running,
    private readonly port: number,
    private readonly connection: Connection,
  ) {}

  static async start(program: string): Promise<Chromium> {
    const running = await start(program, (folder) => ({
      args: [
        ...["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"],
        ...["--remote-debugging-port=0", `--user-data-dir=${folder}`],
        ...["--no-first-run", "--disable-background-networking", "--disable-extensions"],
        ...["--disable-component-update", "--disable-sync", "about:blank"],
      ],
      stderr: "null",
    }));
    const port = await portIn(`${running.folder}/DevToolsActivePort`);
    const response = await fetch(`http://127.0.0.1:${port}/json/version`);
    const { webSocketDebuggerUrl }: { webSocketDebuggerUrl: string } = await response.json();
    return new Chromium(running, port, await connect(webSocketDebuggerUrl));
  }

  /** An empty page, with caches and workers of its own. */
  async open(width = 1280, height = 800): Promise<BrowserPage> {
    const { browserContextId } = await this.connection.send("Target.createBrowserContext");
    const { targetId } = await this.connection.send("Target.createTarget", {
      url: "about:blank",
      browserContextId,
      newWindow: true,
      width,
      height,
    });
    const address = `ws://127.0.0.1:${this.port}/devtools/page/${targetId}`;
    return await BrowserPage.at(address, width, height, async () => {
      await this.connection.send("Target.disposeBrowserContext", { browserContextId });
    });
  }

  async end(): Promise<void> {
    this.connection.close();
    await this.running.end();
  }
}

/** A page, and what happens in it. */
export class BrowserPage {
  readonly #end: () => Promise<void>;
  readonly #connection: Promise<Connection>;
  /** Addresses that the page or its workers have asked for. */
  readonly requests: string[] = [];
  /** What it has written to its console, and errors. */
  readonly console: string[] = [];

  private constructor(address: string, end: () => Promise<void>) {
    this.#end = end;
    this.#connection = connect(address, (method, params) => this.#take(method, params));
  }

  /** The page that the browser has at an address. */
  static async at(
    address: string,
    width: number,
    height: number,
    end: () => Promise<void>,
  ): Promise<BrowserPage> {
    const page = new BrowserPage(address, end);
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

  /** Ends the page. */
  async close(): Promise<void> {
    (await this.#connection).close();
    await this.#end();
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
