/** A process that runs on: waits for what it prints, then ends it by a signal. */
import { AssertionError } from "../../support/assert.ts";

/** More than any machine needs; only a failing test waits this long. */
const PATIENCE_MS = 60_000;

/** A running `tri … --watch`. */
export class Watching implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #said: Promise<void>;
  #text = "";
  #read = 0;
  #printed: () => void = () => {};

  constructor(command: Deno.Command) {
    this.#child = command.spawn();
    this.#said = this.#listen();
  }

  async #listen(): Promise<void> {
    for await (const part of this.#child.stderr.pipeThrough(new TextDecoderStream())) {
      this.#text += part;
      this.#printed();
    }
  }

  /** The line that holds `part`, among those not returned yet. */
  async line(part: string): Promise<string> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const at = this.#text.indexOf(part, this.#read);
      const newline = at < 0 ? -1 : this.#text.indexOf("\n", at);
      if (newline >= 0) {
        const start = this.#text.lastIndexOf("\n", at) + 1;
        this.#read = newline + 1;
        return this.#text.slice(start, newline);
      }
      if (performance.now() > end) {
        throw new AssertionError(`"${part}" was not said in: ${this.#text}`);
      }
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#printed = resolve;
    const timer = setTimeout(resolve, 1000);
    await promise;
    clearTimeout(timer);
  }

  /** Ends it; the exit code. */
  async end(signal: Deno.Signal = "SIGINT"): Promise<number> {
    this.#child.kill(signal);
    const { code } = await this.#child.status;
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
    await Promise.all([this.#child.status, this.#said, this.#child.stdout.cancel()]);
  }
}
