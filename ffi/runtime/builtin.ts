/**
 * Modules that Deno, Node and Bun all have from Node, with the parts that the run time uses. They are asked for when
 * they are needed: a static import of one costs Deno 9 ms, and bundlers for browsers refuse it.
 */
interface Builtins {
  "node:fs": {
    readFileSync(file: URL): Uint8Array;
    writeFileSync(file: URL, text: string, options: { readonly flag: "wx" }): void;
    unlinkSync(file: URL): void;
    renameSync(from: URL, to: URL): void;
  };
  "node:module": { createRequire(from: string): Require };
  "node:os": { availableParallelism(): number };
  "node:worker_threads": {
    readonly Worker: new (file: URL) => WorkerThread;
    readonly parentPort: MessagePortOf | null;
  };
}

/** Loads a package or module; throws if there is none. The caller states its type. */
export type Require = <Module>(name: string) => Module;

/** A thread, as its owner sees it. */
export interface WorkerThread {
  postMessage(message: unknown): void;
  on(event: "error", handler: () => void): void;
  unref(): void;
  terminate(): Promise<unknown>;
}

/** The owner, as a thread sees it. */
export interface MessagePortOf {
  on<Message>(event: "message", handler: (message: Message) => void): void;
}

/** What of `process` is used. */
export interface HostProcess {
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  getBuiltinModule<Name extends keyof Builtins>(name: Name): Builtins[Name];
}

/** The process; undefined in browsers. */
export function hostProcess(): HostProcess | undefined {
  const host: { readonly process?: HostProcess } = globalThis;
  return host.process;
}

/** The process, on the runtimes that are known to have it. */
export function theProcess(): HostProcess {
  const process = hostProcess();
  if (process === undefined) throw new Error("This runtime has no `process`");
  return process;
}
