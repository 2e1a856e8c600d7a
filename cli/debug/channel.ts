/** Messages of the Debug Adapter Protocol on stdin and stdout, read and written without returning to the event loop. */
import { isRecord } from "../json.ts";
import process from "node:process";
import { codeOf } from "../host/errors.ts";
import { standardStreams } from "../host/streams.ts";

/** What an editor asks. */
export interface Request {
  readonly seq: number;
  readonly command: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What is sent to an editor, without its number. */
export type Message =
  | {
    readonly type: "response";
    readonly request_seq: number;
    readonly command: string;
    readonly success: boolean;
    readonly message?: string;
    readonly body?: Readonly<Record<string, unknown>>;
  }
  | {
    readonly type: "event";
    readonly event: string;
    readonly body?: Readonly<Record<string, unknown>>;
  };

/** Both directions of a connection. */
export interface Channel {
  /** Waits for the next request; undefined: the editor has disconnected. */
  read(): Request | undefined;
  write(message: Message): void;
}

/** Bytes of a connection. */
export interface Bytes {
  /** Waits for bytes; 0: there are no more. */
  read(into: Uint8Array): number;
  write(bytes: Uint8Array): void;
}

/** Frames messages: a header with the length in bytes, an empty line, JSON. */
export function channelOver({ read, write }: Bytes): Channel {
  let held = new Uint8Array(0);
  let sent = 0;
  const more = (): boolean => {
    const piece = new Uint8Array(65536);
    const count = read(piece);
    const joined = new Uint8Array(held.length + count);
    joined.set(held);
    joined.set(piece.subarray(0, count), held.length);
    held = joined;
    return count > 0;
  };
  const message = (): string | undefined => {
    for (;;) {
      // Headers are ASCII, so that characters are bytes.
      const head = String.fromCharCode(...held.subarray(0, 1024));
      const found = /^(?:[^\r\n]+\r\n)*?content-length: *(\d+)\r\n(?:[^\r\n]+\r\n)*\r\n/i.exec(
        head,
      );
      const [header = "", length = "0"] = found ?? [];
      const end = header.length + Number(length);
      if (found !== null && held.length >= end) {
        const text = new TextDecoder().decode(held.subarray(header.length, end));
        held = held.slice(end);
        return text;
      }
      if (!more()) return undefined;
    }
  };
  return {
    read(): Request | undefined {
      const text = message();
      if (text === undefined) return undefined;
      const value: unknown = JSON.parse(text);
      const fields = isRecord(value) ? value : {};
      return {
        seq: Number(fields["seq"]),
        command: String(fields["command"]),
        arguments: isRecord(fields["arguments"]) ? fields["arguments"] : {},
      };
    },
    write(message): void {
      const body = new TextEncoder().encode(JSON.stringify({ seq: ++sent, ...message }));
      write(new TextEncoder().encode(`Content-Length: ${body.length}\r\n\r\n`));
      write(body);
    },
  };
}

/** How long to wait for an editor before trying again. */
const RETRY_MS = 5;

/** The streams of this process. */
export function standardBytes(): Bytes {
  const { readSync } = process.getBuiltinModule("node:fs");
  const { stdout } = standardStreams();
  return {
    read(into): number {
      for (;;) {
        try {
          return readSync(0, into);
        } catch (error) {
          const code = codeOf(error);
          if (code === "EOF") return 0;
          // Pipes that another process made non-blocking may be empty.
          if (code !== "EAGAIN") throw error;
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
        }
      }
    },
    write(bytes): void {
      for (let at = 0; at < bytes.length;) at += stdout.writeSync(bytes.subarray(at));
    },
  };
}
