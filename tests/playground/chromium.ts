/**
 * Chromium, driven by its own protocol over a WebSocket: enough to open a page, run scripts in it, press keys and take
 * pictures. Debian's package `chromium` has the program; without it tests are skipped.
 */

/** Where Debian, others and a variable have it. */
const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The program; undefined where there is none. */
export function findChromium(): string | undefined {
  return PLACES.find((file) => {
    try {
      return Deno.statSync(file).isFile;
    } catch {
      return false;
    }
  });
}

interface Reply {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

interface Waiting {
  readonly resolve: (result: Readonly<Record<string, unknown>>) => void;
  readonly reject: (error: Error) => void;
  readonly limit: ReturnType<typeof setTimeout>;
}

/** How long a command may take: one that the browser never answers fails its test instead of keeping the suite. */
const MOST_SECONDS = 120;

/** A page in a browser of its own. */
export class BrowserPage {
  readonly #socket: WebSocket;
  readonly #process: Deno.ChildProcess;
  readonly #folder: string;
  readonly #waiting = new Map<number, Waiting>();
  #next = 1;
  /** Addresses that the page or its workers have asked for. */
  readonly requests: string[] = [];
  /** What it has written to its console, and errors. */
  readonly console: string[] = [];

  private constructor(socket: WebSocket, process: Deno.ChildProcess, folder: string) {
    this.#socket = socket;
    this.#process = process;
    this.#folder = folder;
    socket.addEventListener("message", ({ data }) => this.#take(JSON.parse(String(data))));
  }

  /** Starts a browser with an empty page. */
  static async open(program: string, width = 1280, height = 800): Promise<BrowserPage> {
    const folder = await Deno.makeTempDir({ prefix: "tri-chromium-" });
    const process = new Deno.Command(program, {
      args: [
        ...["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"],
        ...["--remote-debugging-port=0", `--user-data-dir=${folder}`],
        ...["--no-first-run", "--disable-background-networking", "--disable-extensions"],
        ...["--disable-component-update", "--disable-sync", `--window-size=${width},${height}`],
        "about:blank",
      ],
      stdout: "null",
      stderr: "null",
      stdin: "null",
    }).spawn();
    const port = await portIn(`${folder}/DevToolsActivePort`);
    const response = await fetch(`http://127.0.0.1:${port}/json`);
    const targets: readonly { readonly type: string; readonly webSocketDebuggerUrl: string }[] =
      await response.json();
    const url = targets.find(({ type }) => type === "page")?.webSocketDebuggerUrl ?? "";
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve);
      socket.addEventListener("error", reject);
    });
    const page = new BrowserPage(socket, process, folder);
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
  send(
    method: string,
    params: Readonly<Record<string, unknown>> = {},
  ): Promise<Readonly<Record<string, unknown>>> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => {
        this.#waiting.delete(id);
        reject(
          new Error(`${method} has no answer for ${MOST_SECONDS} s: ${JSON.stringify(params)}`),
        );
      }, 1000 * MOST_SECONDS);
      this.#waiting.set(id, { resolve, reject, limit });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
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
    this.#waiting.forEach(({ limit }) => clearTimeout(limit));
    this.#socket.close();
    this.#process.kill("SIGKILL");
    await this.#process.status;
    await Deno.remove(this.#folder, { recursive: true }).catch(() => {});
  }

  #take({ id, method, params, result, error }: Reply): void {
    if (method === "Network.requestWillBeSent") {
      const { request } = params ?? {};
      if (typeof request === "object" && request !== null && "url" in request) {
        this.requests.push(String(request.url));
      }
    }
    if (method === "Runtime.exceptionThrown" || method === "Runtime.consoleAPICalled") {
      this.console.push(JSON.stringify(params));
    }
    const waiting = this.#waiting.get(id ?? 0);
    if (waiting === undefined) return;
    this.#waiting.delete(id ?? 0);
    clearTimeout(waiting.limit);
    if (error === undefined) waiting.resolve(result ?? {});
    else waiting.reject(new Error(error.message));
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
