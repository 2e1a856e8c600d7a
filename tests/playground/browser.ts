/** What Chromium and Firefox have in common when they are driven: where the program is, commands over a WebSocket, the end. */

/** The first of some paths that is a file. */
export function findProgram(places: readonly string[]): string | undefined {
  return places.find((file) => {
    try {
      return Deno.statSync(file).isFile;
    } catch {
      return false;
    }
  });
}

/** What a command gives, and what an event is about. */
export type Facts = Readonly<Record<string, unknown>>;

interface Reply {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Facts;
  readonly result?: Facts;
  /** Chromium's; Firefox has a code here, and the message beside it. */
  readonly error?: { readonly message?: string } | string;
  readonly message?: string;
}

interface Waiting {
  readonly resolve: (result: Facts) => void;
  readonly reject: (error: Error) => void;
  readonly limit: ReturnType<typeof setTimeout>;
}

/** Commands to a browser. */
export interface Connection {
  send(method: string, params?: Facts): Promise<Facts>;
  close(): void;
}

/** How long a command may take: one that the browser never answers fails its test instead of keeping the suite. */
const MOST_SECONDS = 120;

/** Connects to a browser; `told` is called with each event that it sends. */
export async function connect(
  url: string,
  told: (method: string, params: Facts) => void = () => {},
): Promise<Connection> {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  const waiting = new Map<number, Waiting>();
  socket.addEventListener("message", ({ data }) => {
    const { id = 0, method, params = {}, result, error, message }: Reply = JSON.parse(String(data));
    if (method !== undefined) told(method, params);
    const command = waiting.get(id);
    if (command === undefined) return;
    waiting.delete(id);
    clearTimeout(command.limit);
    if (error === undefined) command.resolve(result ?? {});
    else command.reject(new Error(typeof error === "string" ? message : error.message));
  });
  let next = 1;
  return {
    send(method, params = {}): Promise<Facts> {
      const id = next++;
      return new Promise((resolve, reject) => {
        const limit = setTimeout(() => {
          waiting.delete(id);
          const what = `${method} has no answer for ${MOST_SECONDS} s: ${JSON.stringify(params)}`;
          reject(new Error(what));
        }, 1000 * MOST_SECONDS);
        waiting.set(id, { resolve, reject, limit });
        socket.send(JSON.stringify({ id, method, params }));
      });
    },
    close(): void {
      waiting.forEach(({ limit }) => clearTimeout(limit));
      socket.close();
    },
  };
}

/** A browser that runs, with a folder of its own. */
export interface Running {
  readonly folder: string;
  readonly process: Deno.ChildProcess;
  /** Ends it and removes its folder. */
  end(): Promise<void>;
}

/** Starts a browser. */
export async function start(
  program: string,
  options: (folder: string) => Omit<Deno.CommandOptions, "stdout" | "stdin">,
): Promise<Running> {
  const folder = await Deno.makeTempDir({ prefix: "tri-browser-" });
  const process = new Deno.Command(program, { ...options(folder), stdout: "null", stdin: "null" })
    .spawn();
  return {
    folder,
    process,
    async end(): Promise<void> {
      process.kill("SIGKILL");
      await process.status;
      await Deno.remove(folder, { recursive: true }).catch(() => {});
    },
  };
}
