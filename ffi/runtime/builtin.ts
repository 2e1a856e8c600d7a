/**
 * Modules that Deno, Node and Bun all have from Node, with the parts that the run time uses. They are asked for when
 * they are needed: a static import of one costs Deno 9 ms, and bundlers for browsers refuse it.
 */
interface Builtins {
  "node:fs": FileFunctions & {
    readFileSync(file: URL | string): Uint8Array;
    writeFileSync(file: URL, text: string, options: { readonly flag: "wx" }): void;
    unlinkSync(file: URL): void;
    renameSync(from: URL, to: URL): void;
  };
  "node:net": Net;
  "node:module": { createRequire(from: string): Require };
  "node:os": { availableParallelism(): number };
  "node:zlib": Zlib;
  "node:worker_threads": {
    readonly Worker: new (file: URL) => WorkerThread;
    readonly parentPort: MessagePortOf | null;
  };
}

/** What reads and writes parts of files. */
export interface FileFunctions {
  openSync(file: string | URL, flags: "r" | "wx"): number;
  closeSync(file: number): void;
  fstatSync(file: number): { readonly size: number; isFile(): boolean };
  fsyncSync(file: number): void;
  readSync(
    file: number,
    into: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): number;
  writeSync(
    file: number,
    from: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): number;
  renameSync(from: string | URL, to: string | URL): void;
  unlinkSync(file: string | URL): void;
}

/** Connections of TCP. */
export interface Net {
  createServer(accept: (socket: Socket) => void): NetServer;
  connect(port: number, host: string): Socket;
}

/** One end of a connection. */
export interface Socket {
  setEncoding(encoding: "utf8"): void;
  on(event: "data", handler: (text: string) => void): void;
  on(event: "error", handler: (error: Error) => void): void;
  on(event: "connect" | "close", handler: () => void): void;
  write(text: string): void;
  end(text?: string): void;
  destroy(): void;
}

/** What accepts connections. */
export interface NetServer {
  on(event: "error", handler: (error: Error) => void): void;
  listen(port: number, host: string): void;
  close(): void;
}

/** What compresses and decompresses; `crc32` continues a checksum. */
export interface Zlib {
  brotliDecompressSync(bytes: Uint8Array): Uint8Array<ArrayBuffer>;
  readonly constants: { readonly Z_SYNC_FLUSH: number };
  inflateRawSync(
    bytes: Uint8Array,
    options: { readonly maxOutputLength: number; readonly finishFlush?: number },
  ): Uint8Array<ArrayBuffer>;
  deflateRawSync(bytes: Uint8Array): Uint8Array<ArrayBuffer>;
  crc32(bytes: Uint8Array, start?: number): number;
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
  /** Such as "x64" or "arm64". */
  readonly arch: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The program and its arguments; the second is the path of the program's first module. */
  readonly argv: readonly string[];
  cwd(): string;
  getBuiltinModule<Name extends keyof Builtins>(name: Name): Builtins[Name];
}

/** The second member is there on every runtime: types of optional members alone take nothing else. */
interface Globals {
  readonly process?: HostProcess;
  readonly performance: unknown;
}

/** The process; undefined in browsers. */
export function hostProcess(): HostProcess | undefined {
  const host: Globals = globalThis;
  return host.process;
}

/** The process, on the runtimes that are known to have it. */
export function theProcess(): HostProcess {
  const process = hostProcess();
  if (process === undefined) throw new Error("This runtime has no `process`");
  return process;
}

/**
 * Loads packages as the module at `url` would. Bundles in CommonJS have no URL (esbuild makes it undefined): there they
 * are looked for from the program's first module.
 */
export function requireFrom(url: string | undefined): Require {
  const { argv, cwd, getBuiltinModule } = theProcess();
  const from = url ?? argv[1] ?? `${cwd()}/`;
  return getBuiltinModule("node:module").createRequire(from);
}
