/**
 * The only module that writes to standard output and standard error. Results go to stdout, everything about the work
 * (progress, diagnostics, notes) to stderr, so that `--json` and `inspect` can be piped.
 */
import { bold, dim, green, red, yellow } from "@std/fmt/colors";
import { readEnv } from "./host/environment.ts";
import { deno, type Stream } from "./host/deno.ts";
import { codeOf } from "./host/errors.ts";
import { standardStreams, type Streams, terminalColumns } from "./host/streams.ts";

const encoder = new TextEncoder();

const STYLES = { bold, dim, green, red, yellow };

export type Style = keyof typeof STYLES;

/** Where a command writes. */
export class Terminal {
  readonly #streams: Streams;
  /** Whether stderr is a terminal that lines can be replaced on. */
  readonly #live: boolean;
  readonly color: boolean;
  /** Neither progress nor remarks are shown. */
  isQuiet = false;
  #progressShown = false;
  readonly #lost = new Set<Stream>();

  constructor(streams = standardStreams()) {
    this.#streams = streams;
    this.#live = streams.stderr.isTerminal() && readEnv("TERM") !== "dumb";
    // Deno reads `NO_COLOR` itself, without needing a permission.
    const unwanted = deno?.noColor ?? readEnv("NO_COLOR") !== undefined;
    this.color = !unwanted && (this.#live || colorForced());
  }

  /** A result: text for stdout, as it is. */
  print(text: string): void {
    this.#clearProgress();
    this.#write(this.#streams.stdout, text);
  }

  /** A line about the work, for stderr. */
  say(line: string): void {
    this.#clearProgress();
    this.#write(this.#streams.stderr, `${line}\n`);
  }

  /** A line for stderr that says that all is well; none with `--quiet`. */
  remark(line: string): void {
    if (!this.isQuiet) this.say(line);
  }

  /** Whether a reader has closed its end; `--watch` then ends. */
  get isLeft(): boolean {
    return this.#lost.size > 0;
  }

  /** Replaces the progress line; nothing on a stream that is not a terminal. */
  progress(line: string): void {
    if (!this.#live || this.isQuiet) return;
    const width = terminalColumns() ?? 80;
    this.#clearProgress();
    this.#write(this.#streams.stderr, line.slice(0, width - 1));
    this.#progressShown = true;
  }

  /** Ends the progress line. */
  endProgress(): void {
    this.#clearProgress();
  }

  style(style: Style, text: string): string {
    return this.color ? STYLES[style](text) : text;
  }

  #clearProgress(): void {
    if (!this.#progressShown) return;
    this.#write(this.#streams.stderr, "\r\x1b[2K");
    this.#progressShown = false;
  }

  /**
   * A reader that left, such as `head`, ends neither the work nor its exit code: a build is finished, and what has errors
   * does not look like success. Where stderr cannot be written, nothing can say so.
   */
  #write(stream: Stream, text: string): void {
    if (this.#lost.has(stream)) return;
    try {
      writeAll(stream, text);
    } catch (error) {
      this.#lost.add(stream);
      if (stream === this.#streams.stdout && codeOf(error) !== "EPIPE") {
        throw error;
      }
    }
  }
}

/** As on bixense.com/clicolors and force-color.org: anything but 0 enables colours also without a terminal. */
function colorForced(): boolean {
  return ["FORCE_COLOR", "CLICOLOR_FORCE"].some((name) => (readEnv(name) ?? "0") !== "0");
}

function writeAll(stream: Stream, text: string): void {
  let bytes = encoder.encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
}
