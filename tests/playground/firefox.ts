/**
 * Firefox, driven by WebDriver BiDi over a WebSocket: enough to open a page and to run scripts in it. Debian's package
 * `firefox-esr` has the program, or TRI_FIREFOX names it; without it tests are skipped.
 */

const PLACES = [
  Deno.env.get("TRI_FIREFOX") ?? "",
  ...["/usr/bin/firefox-esr", "/usr/bin/firefox"],
];

/** The program; undefined where there is none. */
export function findFirefox(): string | undefined {
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
  readonly type: string;
  readonly message?: string;
  readonly result?: Readonly<Record<string, unknown>>;
}

/** A page in a browser of its own. */
export interface FirefoxPage {
  goto(url: string): Promise<void>;
  /** The text that an expression in the page gives; a promise is waited for. */
  evaluate(expression: string): Promise<string>;
  close(): Promise<void>;
}

/** Starts a browser with an empty page. */
export async function openFirefox(program: string): Promise<FirefoxPage> {
  const folder = await Deno.makeTempDir({ prefix: "tri-firefox-" });
  const process = new Deno.Command(program, {
    args: ["--headless", "--no-remote", "--remote-debugging-port=0", "--profile", folder],
    env: { HOME: folder },
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const socket = new WebSocket(`${await addressIn(process.stderr)}/session`);
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  const waiting = new Map<number, (reply: Reply) => void>();
  socket.addEventListener("message", ({ data }) => {
    const reply: Reply = JSON.parse(String(data));
    waiting.get(reply.id ?? 0)?.(reply);
  });
  let next = 1;
  const send = async (
    method: string,
    params: unknown,
  ): Promise<Readonly<Record<string, unknown>>> => {
    const id = next++;
    const answer = new Promise<Reply>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const { message, result } = await answer;
    if (result === undefined) throw new Error(`${method}: ${message}`);
    return result;
  };
  await send("session.new", { capabilities: {} });
  const { contexts } = await send("browsingContext.getTree", {});
  const [{ context }] = contexts as readonly [{ readonly context: string }];
  return {
    async goto(url): Promise<void> {
      await send("browsingContext.navigate", { context, url, wait: "complete" });
    },
    async evaluate(expression): Promise<string> {
      const { result } = await send("script.evaluate", {
        expression: `Promise.resolve(${expression}).then(String)`,
        target: { context },
        awaitPromise: true,
      });
      const { value } = Object(result);
      if (typeof value !== "string") throw new Error(`${expression} fails`);
      return value;
    },
    async close(): Promise<void> {
      socket.close();
      process.kill("SIGKILL");
      await process.status;
      await Deno.remove(folder, { recursive: true }).catch(() => {});
    },
  };
}

/** Firefox says where it listens. */
async function addressIn(stream: ReadableStream<Uint8Array>): Promise<string> {
  let said = "";
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`Firefox does not start: ${said}`);
    said += value;
    const [address] = /ws:\/\/127\.0\.0\.1:\d+/.exec(said) ?? [];
    if (address !== undefined) return address;
  }
}
