/** Runs a program with bytes on its standard input and collects what it writes. */

export interface ProcessResult {
  readonly code: number;
  readonly stdout: Uint8Array<ArrayBuffer>;
  readonly stderr: string;
}

/** `env` is added to the environment. Never throws for a program that cannot be started: that is code 127 with the reason in `stderr`. */
export async function runProcess(
  path: string,
  args: readonly string[],
  input: string | Uint8Array = "",
  env: Readonly<Record<string, string>> = {},
): Promise<ProcessResult> {
  const environment = loaderFreeEnvironment();
  try {
    const child = new Deno.Command(path, {
      args: [...args],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      ...environment,
      env: { ...environment.env, ...env },
    }).spawn();
    // Reading starts before writing, so that neither side waits for the other with a full pipe.
    const output = child.output();
    await feed(child.stdin, typeof input === "string" ? new TextEncoder().encode(input) : input);
    const { code, stdout, stderr } = await output;
    return { code, stdout, stderr: new TextDecoder().decode(stderr) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { code: 127, stdout: new Uint8Array(), stderr: reason };
  }
}

/**
 * The environment without what steers the dynamic loader: Deno lets a program with limited permissions start no
 * process with `LD_LIBRARY_PATH` or its like, which machines with CUDA usually set. Assemblers do not need them.
 */
function loaderFreeEnvironment(): { clearEnv?: true; env?: Record<string, string> } {
  if (Deno.permissions.querySync({ name: "env" }).state !== "granted") return {};
  const kept = Object.entries(Deno.env.toObject()).filter(([name]) => !/^(LD|DYLD)_/.test(name));
  return { clearEnv: true, env: Object.fromEntries(kept) };
}

/** What another Deno needs to find the driver as this one did: everything, where this one may hand it on. */
export function childEnvironment(): { clearEnv?: true; env?: Record<string, string> } {
  return Deno.permissions.querySync({ name: "run" }).state === "granted"
    ? {}
    : loaderFreeEnvironment();
}

async function feed(stdin: WritableStream<Uint8Array>, bytes: Uint8Array): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(bytes);
    await writer.close();
  } catch (error) {
    // The program ended without reading everything; its exit code says why.
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

/** Does `work` for every item, at most `limit` at a time, and keeps the order of the results. */
export async function mapPool<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
