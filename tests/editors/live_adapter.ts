/** `tri debug` in a process, asked one request after the other, as an editor does. */
import { framed } from "../cli/debug/support.ts";
import { REAL_MAIN } from "../cli/support/tri_process.ts";

/** What the adapter sends. */
export interface AdapterMessage {
  readonly type: string;
  readonly event?: string;
  readonly request_seq?: number;
  readonly success?: boolean;
  readonly message?: string;
  readonly body?: unknown;
}

/** A debug session. */
export interface LiveAdapter {
  /** The body of the answer; fails where the request is refused. */
  request(command: string, args?: unknown): Promise<unknown>;
  close(): Promise<void>;
}

/** Starts an adapter; all that it sends goes to `told` as well. */
export function startAdapter(
  folder: string,
  args: readonly string[],
  told: (message: AdapterMessage) => void,
): LiveAdapter {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", REAL_MAIN, "debug", ...args],
    cwd: folder,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  const waiting = new Map<number, (message: AdapterMessage) => void>();
  let next = 1;
  const listening = readMessages(child.stdout, (message) => {
    told(message);
    waiting.get(message.request_seq ?? 0)?.(message);
  });
  return {
    async request(command, args = {}): Promise<unknown> {
      const seq = next++;
      const answer = new Promise<AdapterMessage>((resolve) => waiting.set(seq, resolve));
      await writer.write(framed(seq, command, args));
      const { success, message = "", body } = await answer;
      if (success !== true) throw new Error(message);
      return body;
    },
    async close(): Promise<void> {
      await writer.close();
      await listening;
      await child.status;
    },
  };
}

async function readMessages(
  stream: ReadableStream<Uint8Array>,
  take: (message: AdapterMessage) => void,
): Promise<void> {
  let held = "";
  // Messages are ASCII but for names of files, which these tests choose.
  for await (const piece of stream.pipeThrough(new TextDecoderStream("latin1"))) {
    held += piece;
    for (;;) {
      const [head = "", length = "0"] = /^Content-Length: (\d+)\r\n\r\n/.exec(held) ?? [];
      const end = head.length + Number(length);
      if (head === "" || held.length < end) break;
      take(JSON.parse(held.slice(head.length, end)));
      held = held.slice(end);
    }
  }
}
