/**
 * Firefox, driven by WebDriver BiDi over a WebSocket: enough to open a page and to run scripts in it. Debian's package
 * `firefox-esr` has the program, or TRI_FIREFOX names it; without it tests are skipped.
 */
import { connect, findProgram, start } from "./browser.ts";

/** The program; undefined where there is none. */
export function findFirefox(): string | undefined {
  const named = Deno.env.get("TRI_FIREFOX") ?? "";
  return findProgram([named, "/usr/bin/firefox-esr", "/usr/bin/firefox"]);
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
  const browser = await start(program, (folder) => ({
    args: ["--headless", "--no-remote", "--remote-debugging-port=0", "--profile", folder],
    env: { HOME: folder },
    stderr: "piped",
  }));
  const { send, close } = await connect(`${await addressIn(browser.process.stderr)}/session`);
  await send("session.new", { capabilities: {} });
  const { contexts } = await send("browsingContext.getTree");
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
      close();
      await browser.end();
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
